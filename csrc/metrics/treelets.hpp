// Tree accuracy (Bangalore, Rambow and Whittaker 2000): the errors of a result, treelet by treelet.
//
// A treelet is a head with all its daughters in the reference's dependency tree. Its words in the
// order of the reference are aligned with the same words in the order of the result; one level up,
// the head represents the treelet. Words missing from the result are deletions, additional words
// are insertions; each counts once, and treelets are compared without them.
//
// Of all ways to tie repeated words to nodes, the one with the fewest errors is chosen (then the
// one with the most moves). Up to `most_assignments`, all ways are tried. Beyond that, pairs of
// nodes of a word swap positions as long as that lowers the errors. Both searches start with the
// tying by distance (tying.hpp), which is kept unless another one is better.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "metrics/edit_alignment.hpp"
#include "metrics/tying.hpp"

namespace karat {

class Treelets {
  public:
    template <class Poll>
    EditCounts count(const int32_t* result, int64_t n, const TreeView& tree, Poll& poll) {
        tying_.tie(tree, result, n);
        gather(tree);
        treelet_edits_.assign(tree.size, EditCounts{});
        for (int64_t p = 0; p < tree.size; ++p)
            if (is_head(p)) treelet_edits_[p] = treelet(tree, p, poll);
        retie(tree, poll);
        EditCounts total;
        for (const EditCounts& counts : treelet_edits_) total += counts;
        total.deletions += tree.size - tying_.tied;
        total.insertions += n - tying_.tied;
        return total;
    }

    // The result's position for each node of the last tree, or -1.
    const std::vector<int64_t>& places() const { return tying_.place; }

  private:
    static constexpr double most_assignments = 1000;
    static constexpr int64_t most_exchanges = 100000;

    bool is_head(int64_t p) const { return starts_[p + 1] > starts_[p]; }

    // The tied members of every treelet, in the order of the reference.
    void gather(const TreeView& tree) {
        starts_.assign(tree.size + 1, 0);
        for (int64_t p = 0; p < tree.size; ++p)
            if (tree.heads[p]) ++starts_[tree.heads[p]];
        for (int64_t p = 0; p < tree.size; ++p)
            starts_[p + 1] += starts_[p] + (starts_[p + 1] > 0);
        next_.assign(starts_.begin(), starts_.end() - 1);
        members_.resize(starts_.back());
        for (int64_t p = 0; p < tree.size; ++p) {
            if (tree.heads[p]) members_[next_[tree.heads[p] - 1]++] = static_cast<int32_t>(p);
            if (starts_[p + 1] > starts_[p]) members_[next_[p]++] = static_cast<int32_t>(p);
        }
    }

    template <class Poll>
    EditCounts treelet(const TreeView& tree, int64_t head, Poll& poll) {
        const auto& place = tying_.place;
        ordered_.clear();
        for (int64_t k = starts_[head]; k < starts_[head + 1]; ++k)
            if (place[members_[k]] >= 0) ordered_.push_back(members_[k]);
        const auto by_place = [&](int32_t a, int32_t b) { return place[a] < place[b]; };
        if (std::is_sorted(ordered_.begin(), ordered_.end(), by_place)) return {};
        reference_.clear();
        result_.clear();
        for (const int32_t p : ordered_) reference_.push_back(tree.words[p]);
        std::sort(ordered_.begin(), ordered_.end(), by_place);
        for (const int32_t p : ordered_) result_.push_back(tree.words[p]);
        const auto size = static_cast<int64_t>(ordered_.size());
        return counter_.count(result_.data(), size, reference_.data(), size, poll);
    }

    // The cost: fewer errors are better, then more moves; never negative.
    static int64_t badness(const EditCounts& c) {
        return ((c.substitutions + c.insertions + c.deletions) << 32) - c.moves;
    }

    template <class Poll>
    void retie(const TreeView& tree, Poll& poll) {
        collect_affected(tree);
        const int64_t before = known_badness();
        if (!before) return;
        if (n_assignments() <= most_assignments) {
            best_ = tying_.place;
            least_ = before;
            try_all(tree, 0, poll);
            tying_.place = best_;
        } else {
            exchange(tree, poll);
        }
        for (const int64_t head : affected_) treelet_edits_[head] = treelet(tree, head, poll);
    }

    // The treelets that contain a word with a choice.
    void collect_affected(const TreeView& tree) {
        affected_.clear();
        for (const Tying::Choice& choice : tying_.choices)
            for (const int32_t p : choice.nodes) {
                if (is_head(p)) affected_.push_back(p);
                if (tree.heads[p]) affected_.push_back(tree.heads[p] - 1);
            }
        std::sort(affected_.begin(), affected_.end());
        affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
    }

    int64_t known_badness() const {
        int64_t sum = 0;
        for (const int64_t head : affected_) sum += badness(treelet_edits_[head]);
        return sum;
    }

    // The number of ways, if not more than most_assignments.
    double n_assignments() const {
        double product = 1;
        for (const Tying::Choice& choice : tying_.choices) {
            const auto all = static_cast<int64_t>(choice.places.size());
            const auto nodes = static_cast<int64_t>(choice.nodes.size());
            const auto lacking =
                std::count(choice.places.begin(), choice.places.end(), int64_t{-1});
            for (int64_t k = 0; k < nodes - lacking && product <= most_assignments; ++k)
                product *= static_cast<double>(all - k);
        }
        return product;
    }

    // Tries all ways for the choices from the `at`-th on: arrangements of their positions, in
    // order.
    template <class Poll>
    void try_all(const TreeView& tree, size_t at, Poll& poll) {
        if (at == tying_.choices.size()) {
            int64_t sum = 0;
            for (size_t k = 0; k < affected_.size() && sum < least_; ++k)
                sum += badness(treelet(tree, affected_[k], poll));
            if (sum < least_) least_ = sum, best_ = tying_.place;
            return;
        }
        const Tying::Choice& choice = tying_.choices[at];
        std::vector<int64_t> order = choice.places;
        std::sort(order.begin(), order.end());
        const auto end = order.begin() + static_cast<int64_t>(choice.nodes.size());
        do {
            for (size_t k = 0; k < choice.nodes.size(); ++k)
                tying_.place[choice.nodes[k]] = order[k];
            try_all(tree, at + 1, poll);
            std::reverse(end, order.end());  // the order of unused positions is irrelevant
        } while (std::next_permutation(order.begin(), order.end()));
    }

    template <class Poll>
    void exchange(const TreeView& tree, Poll& poll) {
        int64_t tries = 0;
        for (bool better = true; better;) {
            better = false;
            for (Tying::Choice& choice : tying_.choices)
                for (size_t i = 0; i < choice.nodes.size(); ++i)
                    for (size_t j = i + 1; j < choice.places.size(); ++j) {
                        if (++tries > most_exchanges) return;
                        better |= lowers(tree, choice, i, j, poll);
                    }
        }
    }

    // Swaps two positions of a word if that lowers the errors.
    template <class Poll>
    bool lowers(const TreeView& tree, Tying::Choice& choice, size_t i, size_t j, Poll& poll) {
        touched_.clear();
        for (const size_t k : {i, j}) {
            if (k >= choice.nodes.size()) continue;
            const int32_t p = choice.nodes[k];
            if (is_head(p)) touched_.push_back(p);
            if (tree.heads[p]) touched_.push_back(tree.heads[p] - 1);
        }
        std::sort(touched_.begin(), touched_.end());
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        int64_t change = 0;
        for (const int64_t head : touched_) change -= badness(treelet_edits_[head]);
        if (!change) return false;
        put(choice, i, j);
        for (const int64_t head : touched_) change += badness(treelet(tree, head, poll));
        if (change < 0)
            for (const int64_t head : touched_) treelet_edits_[head] = treelet(tree, head, poll);
        else
            put(choice, i, j);
        return change < 0;
    }

    void put(Tying::Choice& choice, size_t i, size_t j) {
        std::swap(choice.places[i], choice.places[j]);
        for (const size_t k : {i, j})
            if (k < choice.nodes.size()) tying_.place[choice.nodes[k]] = choice.places[k];
    }

    Tying tying_;
    EditCounter<AccuracyCosts> counter_;
    std::vector<EditCounts> treelet_edits_;
    std::vector<int64_t> starts_, next_, affected_, touched_, best_;
    std::vector<int32_t> members_, ordered_, reference_, result_;
    int64_t least_ = 0;
};

}  // namespace karat
