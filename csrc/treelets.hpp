// Tree accuracy (Bangalore, Rambow and Whittaker 2000): the errors of a result, treelet by treelet.
//
// A treelet is a head with all its daughters in the reference's dependency tree. Its words in the
// order of the reference are aligned with the same words in the order of the result; one level
// up, the head stands for the treelet. Words that the result lacks are deletions, words that it has
// besides are insertions; each counts once, and treelets are compared without them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "edit.hpp"

namespace karat {

struct TreeView {
    const int32_t* words;
    const int32_t* heads;  // from 1; 0 is the root's
    int64_t size;
};

// Ties nodes to words of the result, equal ones only, as many as there can be: `place[p]` is the
// result's position for node p, or -1.
//
// A word that stands once in both texts is tied outright. Each of the others is expected where it
// would stand had it kept its distance from its nearest ancestor of that kind (without one: where
// it stands in the reference); of all ways to tie the nodes and places of one word, that with
// the least sum of |place - expected| is taken. On a line such a sum is least if nothing crosses,
// so a table over nodes by expected place and over places finds it; of equal ones it takes the
// earliest places (with more nodes than places: the nodes that are expected first).
class Tying {
  public:
    std::vector<int64_t> place;
    int64_t tied = 0;

    void tie(const TreeView& tree, const int32_t* result, int64_t n) {
        group(tree, result, n);
        place.assign(tree.size, -1);
        anchor_.assign(tree.size, unknown);
        tied = 0;
        for (size_t w = 0; w + 1 < node_starts_.size(); ++w)
            if (count(node_starts_, w) == 1 && count(place_starts_, w) == 1) {
                const int32_t node = nodes_[node_starts_[w]];
                place[node] = places_[place_starts_[w]];
                anchor_[node] = node;
                ++tied;
            }
        for (size_t w = 0; w + 1 < node_starts_.size(); ++w) {
            const int64_t a = count(node_starts_, w), b = count(place_starts_, w);
            if (b && a * b > 1) tie_word(tree, w, a, b);
        }
    }

  private:
    static constexpr int32_t unknown = -2, none = -1;

    static int64_t count(const std::vector<int64_t>& starts, size_t w) {
        return starts[w + 1] - starts[w];
    }

    // Nodes and places by word, each in the order of its text.
    void group(const TreeView& tree, const int32_t* result, int64_t n) {
        numbering_.reset(static_cast<size_t>(tree.size));
        number_.resize(tree.size + n);
        for (int64_t p = 0; p < tree.size; ++p)
            number_[p] = numbering_.add(static_cast<uint32_t>(tree.words[p])) - 1;
        for (int64_t q = 0; q < n; ++q)
            number_[tree.size + q] = numbering_.find(static_cast<uint32_t>(result[q])) - 1;
        sort_by_word(0, tree.size, node_starts_, nodes_);
        sort_by_word(tree.size, n, place_starts_, places_);
    }

    void sort_by_word(int64_t from, int64_t n, std::vector<int64_t>& starts,
                      std::vector<int32_t>& sorted) {
        starts.assign(numbering_.count() + 1, 0);
        for (int64_t i = 0; i < n; ++i)
            if (number_[from + i] >= 0) ++starts[number_[from + i] + 1];
        for (size_t w = 1; w < starts.size(); ++w) starts[w] += starts[w - 1];
        next_.assign(starts.begin(), starts.end() - 1);
        sorted.resize(starts.back());
        for (int64_t i = 0; i < n; ++i)
            if (number_[from + i] >= 0)
                sorted[next_[number_[from + i]]++] = static_cast<int32_t>(i);
    }

    int64_t expected(const TreeView& tree, int32_t node) {
        int32_t at = node;
        while (at != none && anchor_[at] == unknown) at = tree.heads[at] - 1;
        const int32_t found = at == none ? none : anchor_[at];
        for (at = node; at != none && anchor_[at] == unknown; at = tree.heads[at] - 1)
            anchor_[at] = found;
        return found == none ? node : place[found] + node - found;
    }

    void tie_word(const TreeView& tree, size_t w, int64_t a, int64_t b) {
        wanted_.clear();
        for (int64_t k = 0; k < a; ++k) {
            const int32_t node = nodes_[node_starts_[w] + k];
            wanted_.push_back({expected(tree, node), node});
        }
        std::sort(wanted_.begin(), wanted_.end());
        const int32_t* const at = &places_[place_starts_[w]];
        const auto distance = [&](int64_t k, int64_t l) { return std::abs(wanted_[k].first - at[l]); };
        const auto pair = [&](int64_t k, int64_t l) { place[wanted_[k].second] = at[l]; };
        if (a <= b)
            choose(a, b, distance, pair);
        else
            choose(b, a, [&](int64_t l, int64_t k) { return distance(k, l); },
                   [&](int64_t l, int64_t k) { pair(k, l); });
        tied += std::min(a, b);
    }

    // Pairs all of the few, in order, with some of the many.
    template <class Distance, class Pair>
    void choose(int64_t few, int64_t many, const Distance& distance, const Pair& pair) {
        if (few == many) {
            for (int64_t k = 0; k < few; ++k) pair(k, k);
            return;
        }
        const int64_t spare = many - few;  // the k-th of the few is paired with k .. k + spare
        least_.assign(spare + 1, 0);
        takes_.assign(static_cast<size_t>(few) * (spare + 1), false);
        for (int64_t k = 0; k < few; ++k)
            for (int64_t s = 0; s <= spare; ++s) {
                const int64_t with = least_[s] + distance(k, k + s);
                takes_[k * (spare + 1) + s] = !s || with < least_[s - 1];
                least_[s] = takes_[k * (spare + 1) + s] ? with : least_[s - 1];
            }
        for (int64_t k = few - 1, s = spare; k >= 0; --k) {
            while (!takes_[k * (spare + 1) + s]) --s;
            pair(k, k + s);
        }
    }

    Numbering numbering_;
    std::vector<int32_t> number_, nodes_, places_, anchor_;
    std::vector<int64_t> node_starts_, place_starts_, next_, least_;
    std::vector<std::pair<int64_t, int32_t>> wanted_;
    std::vector<bool> takes_;
};

class Treelets {
  public:
    template <class Poll>
    EditCounts count(const int32_t* result, int64_t n, const TreeView& tree, Poll& poll) {
        tying_.tie(tree, result, n);
        EditCounts total;
        total.deletions = tree.size - tying_.tied;
        total.insertions = n - tying_.tied;
        gather(tree);
        for (int64_t p = 0; p < tree.size; ++p)
            if (starts_[p + 1] > starts_[p]) total += treelet(tree, p, poll);
        return total;
    }
    const std::vector<int64_t>& places() const { return tying_.place; }

  private:
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

    Tying tying_;
    EditCounter<AccuracyCosts> counter_;
    std::vector<int64_t> starts_, next_;
    std::vector<int32_t> members_, ordered_, reference_, result_;
};

}  // namespace karat
