// The Tree Chooser: finds the jointly most probable supertags of a tree's nodes.
//
// Exact dynamic programming, bottom-up. For every label that a node may have, it finds the best
// frame and the best supertags of its daughters, where each slot of the frame takes exactly one
// daughter of its relation (the attachment constraint) and all other daughters adjoin. k-best
// throughout: every cell keeps its k best derivations, which is enough for the k best of the whole.
#pragma once
#include <algorithm>
#include <map>

#include "core/elementary_functions.hpp"
#include "realize/fergus/tree_model.hpp"

namespace karat::fergus {

struct Supertagged {
    double score = 0;
    std::vector<int32_t> labels, frames, slots;  // slot that each node fills, or -1
};

class TreeChooser {
  public:
    TreeChooser(const TreeModel& model, std::vector<int32_t> open, int k)
        : m_(model), g_(model.grammar()), open_(std::move(open)), k_(k) {}

    std::vector<Supertagged> choose(const TreeNodes& tree) {
        t_ = tree;
        daughters_ = tree.daughters();
        labels_.assign(tree.size, {});
        inside_.assign(tree.size, {});
        alone_.assign(tree.size, {});
        for (int32_t i = tree.size; i-- > 0;) {
            labels_[i] = candidates(i);
            by_tag_.clear();
            for (const int32_t label : labels_[i])
                alone_[i].push_back({m_.degree(label, degree(i)),
                                     m_.word_alone(t_.words[i], t_.suffixes + 3 * i, label)});
            for (const int32_t label : labels_[i]) inside_[i].push_back(derive(i, label));
        }
        return unpack();
    }

    static constexpr int32_t any = -2;      // a mother without information
    static constexpr int most_labels = 24;  // limit for words with many labels
    static constexpr int open_labels = 12;  // for unknown and rare words
    static constexpr int rare = 5;          // words with fewer seen labels are open
    static constexpr double free_penalty = -9.0;  // log: only where no frame fits

  private:
    struct Pick {  // a daughter's label, derivation and slot
        double score;
        int32_t label, rank, slot;
    };
    struct Derivation {
        double score;
        int32_t frame;
        std::vector<Pick> picks;
    };
    using Picks = std::vector<Pick>;
    struct Partial {  // the daughters up to one, as indices in the pool
        double score;
        Pick pick;
        int32_t before = -1, at = -1;
    };
    struct Filled {
        double score;
        Picks picks;
    };
    struct Way {  // a derivation and the location of its picks
        double score;
        int32_t frame;
        const Picks* picks;
    };
    struct Alone {  // cost of a label independent of the mother
        double degree, word;
    };

    int32_t degree(int32_t i) const { return static_cast<int32_t>(daughters_[i].size()); }

    template <class T>
    void keep_best(std::vector<T>& items) const {
        const auto more = [](const T& a, const T& b) { return a.score > b.score; };
        if (k_ == 1 && items.size() > 1) {
            auto best = std::max_element(items.begin(), items.end(),
                                         [](const T& a, const T& b) { return a.score < b.score; });
            std::iter_swap(items.begin(), best);
        } else if (items.size() > 2 * static_cast<size_t>(k_)) {
            items = sorted_best(items);
        } else {
            std::stable_sort(items.begin(), items.end(), more);
        }
        if (items.size() > static_cast<size_t>(k_)) items.resize(k_);
    }

    // The k best in order, ties by position: the same result as a stable sort, but faster.
    template <class T>
    std::vector<T> sorted_best(const std::vector<T>& items) const {
        std::vector<int32_t> rank(items.size());
        for (size_t i = 0; i < rank.size(); ++i) rank[i] = static_cast<int32_t>(i);
        const auto better = [&](int32_t a, int32_t b) {
            return items[a].score != items[b].score ? items[a].score > items[b].score : a < b;
        };
        std::partial_sort(rank.begin(), rank.begin() + k_, rank.end(), better);
        std::vector<T> best;
        for (int i = 0; i < k_; ++i) best.push_back(items[rank[i]]);
        return best;
    }

    // The possible labels of a node: the given one, or the labels seen with the word, plus the most
    // probable ones by suffix for a rare word.
    std::vector<int32_t> candidates(int32_t i) const {
        if (t_.labels[i] >= 0) return {t_.labels[i]};
        std::vector<int32_t> chosen;
        const int32_t w = t_.words[i];
        if (w >= 0)
            for (auto l = g_.labels.begin(w); l != g_.labels.end(w) && chosen.size() < most_labels;
                 ++l)
                add(i, *l, chosen);
        if (w < 0 || g_.labels.size(w) < rare || chosen.empty())
            for (const int32_t l : likely(i)) add(i, l, chosen);
        if (chosen.empty()) chosen.push_back(g_.label(g_.tags - 1, i ? g_.relations - 1 : g_.root));
        return chosen;
    }

    // A root gets a root label even if its word was never seen as one, and no other node does.
    void add(int32_t i, int32_t label, std::vector<int32_t>& labels) const {
        const bool is_root = g_.relation(label) == g_.root;
        if (!i) label = g_.label(g_.tag(label), g_.root);
        if ((i && is_root) || std::find(labels.begin(), labels.end(), label) != labels.end())
            return;
        labels.push_back(label);
    }

    std::vector<int32_t> likely(int32_t i) const {
        const int32_t* suffixes = t_.suffixes + 3 * i;
        std::vector<double> by_tag(g_.tags);
        for (int32_t c = 0; c < g_.tags; ++c)
            by_tag[c] = quick_log_of(m_.category(suffixes, c) / m_.prior(c));
        std::vector<std::pair<double, int32_t>> scored;
        const int32_t n = degree(i);
        for (const int32_t l : open_)
            if (!i || g_.relation(l) != g_.root)
                scored.emplace_back(-m_.adjunct(l, any, any) - m_.degree(l, n) - by_tag[g_.tag(l)],
                                    l);
        const size_t most = std::min<size_t>(open_labels, scored.size());
        std::partial_sort(scored.begin(), scored.begin() + most, scored.end());
        std::vector<int32_t> labels;
        for (size_t j = 0; j < most; ++j) labels.push_back(scored[j].second);
        return labels;
    }

    std::vector<Derivation> derive(int32_t i, int32_t label) {
        const int32_t n = degree(i);
        std::vector<Way> options;
        if (!n) return {{m_.frame(0, t_.words[i], label, 0), 0, {}}};
        offer(i, label);
        std::vector<Filled> free;
        std::map<std::vector<int32_t>, std::vector<Filled>> by_slots;
        const int32_t c = g_.tag(label);
        for (auto f = g_.frames.begin(c); f != g_.frames.end(c); ++f) {
            if (g_.slots.size(*f) > n || !fillable(*f)) continue;
            const std::vector<int32_t> slots = relations(*f);
            auto at = by_slots.find(slots);
            if (at == by_slots.end()) at = by_slots.emplace(slots, fill(slots)).first;
            if (at->second.empty()) continue;
            const double p = m_.frame(*f, t_.words[i], label, n);
            for (const Filled& filled : at->second)
                options.push_back({filled.score + p, *f, &filled.picks});
        }
        if (options.empty()) {
            free = free_of_slots(i, label);
            for (const Filled& filled : free)
                options.push_back({filled.score, free_frame, &filled.picks});
        }
        keep_best(options);
        std::vector<Derivation> derived;
        for (const Way& option : options)
            derived.push_back({option.score, option.frame, *option.picks});
        return derived;
    }

    // Collects the picks of each complete way, and clears the pool.
    std::vector<Filled> unrolled(const std::vector<Partial>& ends) {
        std::vector<Filled> result;
        for (const Partial& end : ends) result.push_back({end.score, trail(end.at)});
        pool_.clear();
        return result;
    }

    Picks trail(int32_t last) const {
        Picks picks;
        for (int32_t at = last; at >= 0; at = pool_[at].before) picks.push_back(pool_[at].pick);
        std::reverse(picks.begin(), picks.end());
        return picks;
    }

    // Moves the best of a cell to the pool, where longer ones can point to them.
    void settle(std::vector<Partial>& cell) {
        keep_best(cell);
        for (Partial& partial : cell) {
            partial.at = static_cast<int32_t>(pool_.size());
            pool_.push_back(partial);
        }
    }

    // The possible roles of each daughter: an adjunct, or an argument of some relation.
    void offer(int32_t i, int32_t label) {
        const auto& all = daughters_[i];
        const auto& words = words_below(i, g_.tag(label));
        adjuncts_.assign(all.size(), {});
        arguments_.assign(all.size(), {});
        offered_.assign(g_.relations, 0);
        for (size_t j = 0; j < all.size(); ++j) {
            const int32_t d = all[j];
            for (size_t a = 0; a < labels_[d].size(); ++a) {
                const int32_t l = labels_[d][a];
                const bool argument = g_.is_argument(l);
                const double role = argument ? m_.argument(l, label, t_.words[i])
                                             : m_.adjunct(l, label, t_.words[i]);
                if (argument) offered_[g_.relation(l)] = 1;
                pick(d, a, words[j][a] + role, argument ? arguments_[j][g_.relation(l)]
                                                        : adjuncts_[j]);
            }
            keep_best(adjuncts_[j]);
            for (auto& picks : arguments_[j]) keep_best(picks.second);
        }
    }

    void pick(int32_t d, size_t a, double score, Picks& to) const {
        for (size_t rank = 0; rank < inside_[d][a].size(); ++rank)
            to.push_back({score + inside_[d][a][rank].score, static_cast<int32_t>(a),
                          static_cast<int32_t>(rank), -1});
    }

    // For every daughter and label, the cost of its word and degree, which depends only on the
    // mother's word and tag.
    const std::vector<std::vector<double>>& words_below(int32_t i, int32_t tag) {
        const auto [at, fresh] = by_tag_.emplace(tag, std::vector<std::vector<double>>{});
        if (fresh)
            for (const int32_t d : daughters_[i]) {
                at->second.emplace_back();
                for (size_t a = 0; a < labels_[d].size(); ++a)
                    at->second.back().push_back(
                        alone_[d][a].degree + m_.word(alone_[d][a].word, t_.words[d], labels_[d][a],
                                                      tag, t_.words[i]));
            }
        return at->second;
    }

    bool fillable(int32_t f) const {
        for (auto s = g_.slots.begin(f); s != g_.slots.end(f); ++s)
            if (!offered_[*s / 2]) return false;
        return true;
    }

    std::vector<int32_t> relations(int32_t f) const {
        std::vector<int32_t> result;
        for (auto s = g_.slots.begin(f); s != g_.slots.end(f); ++s) result.push_back(*s / 2);
        return result;
    }

    // The best ways to give every slot a daughter, by subsets of filled slots; slots of one
    // relation are filled in their order, so that no way is found twice.
    std::vector<Filled> fill(const std::vector<int32_t>& slots) {
        const size_t sets = size_t{1} << slots.size();
        std::vector<std::vector<Partial>> now(sets), next(sets);
        now[0].push_back({0, {}});
        for (size_t j = 0; j < adjuncts_.size(); ++j) {
            for (auto& cell : next) cell.clear();
            for (size_t set = 0; set < sets; ++set) {
                if (now[set].empty()) continue;
                extend(now[set], adjuncts_[j], -1, next[set]);
                for (size_t s = 0; s < slots.size(); ++s)
                    if (is_next(slots, set, s))
                        extend(now[set], argument(j, slots[s]), static_cast<int32_t>(s),
                               next[set | (size_t{1} << s)]);
            }
            for (auto& cell : next) settle(cell);
            std::swap(now, next);
        }
        return unrolled(now[sets - 1]);
    }

    const Picks& argument(size_t j, int32_t relation) const {
        static const Picks none;
        const auto at = arguments_[j].find(relation);
        return at == arguments_[j].end() ? none : at->second;
    }

    static bool is_next(const std::vector<int32_t>& slots, size_t set, size_t s) {
        if (set >> s & 1) return false;
        for (size_t earlier = 0; earlier < s; ++earlier)
            if (slots[earlier] == slots[s] && !(set >> earlier & 1)) return false;
        return true;
    }

    // Both lists are sorted: an entry preceded by k entries that are no worse is never among the k
    // best.
    void extend(const std::vector<Partial>& from, const Picks& picks, int32_t slot,
                std::vector<Partial>& to) const {
        for (size_t i = 0; i < from.size(); ++i)
            for (size_t j = 0; j < picks.size() && (i + 1) * (j + 1) <= static_cast<size_t>(k_);
                 ++j) {
                Pick pick = picks[j];
                pick.slot = slot;
                to.push_back({from[i].score + pick.score, pick, from[i].at});
            }
    }

    std::vector<Filled> free_of_slots(int32_t i, int32_t label) {
        const auto& words = words_below(i, g_.tag(label));
        std::vector<Partial> now{{free_penalty, {}}}, next;
        for (size_t j = 0; j < words.size(); ++j) {
            const int32_t d = daughters_[i][j];
            Picks picks;
            for (size_t a = 0; a < labels_[d].size(); ++a)
                pick(d, a, words[j][a] + m_.free(labels_[d][a], label, t_.words[i]), picks);
            keep_best(picks);
            next.clear();
            extend(now, picks, -1, next);
            settle(next);
            std::swap(now, next);
        }
        return unrolled(now);
    }

    std::vector<Supertagged> unpack() const {
        std::vector<Pick> roots;
        for (size_t a = 0; a < labels_[0].size(); ++a) {
            const int32_t l = labels_[0][a];
            const double p = m_.adjunct(l, -1, -1) + alone_[0][a].degree +
                             m_.word(alone_[0][a].word, t_.words[0], l, -1, -1);
            for (size_t rank = 0; rank < inside_[0][a].size(); ++rank)
                roots.push_back({p + inside_[0][a][rank].score, static_cast<int32_t>(a),
                                 static_cast<int32_t>(rank), -1});
        }
        keep_best(roots);
        std::vector<Supertagged> trees;
        for (const Pick& root : roots) trees.push_back(unpack(root));
        return trees;
    }

    Supertagged unpack(const Pick& root) const {
        Supertagged out;
        out.score = root.score;
        out.labels.assign(t_.size, 0);
        out.frames.assign(t_.size, free_frame);
        out.slots.assign(t_.size, -1);
        std::vector<Pick> picked(t_.size);
        picked[0] = root;
        for (int32_t i = 0; i < t_.size; ++i) {
            const Pick& pick = picked[i];
            const Derivation& derivation = inside_[i][pick.label][pick.rank];
            out.labels[i] = labels_[i][pick.label];
            out.slots[i] = pick.slot;
            out.frames[i] = derivation.frame;
            for (size_t j = 0; j < daughters_[i].size(); ++j)
                picked[daughters_[i][j]] = derivation.picks[j];
        }
        return out;
    }

    const TreeModel& m_;
    const Grammar& g_;
    std::vector<int32_t> open_;
    int k_;
    TreeNodes t_{};
    std::vector<std::vector<int32_t>> daughters_, labels_;
    std::vector<std::vector<std::vector<Derivation>>> inside_;
    std::vector<std::vector<Alone>> alone_;
    std::map<int32_t, std::vector<std::vector<double>>> by_tag_;
    std::vector<Picks> adjuncts_;
    std::vector<std::map<int32_t, Picks>> arguments_;
    std::vector<int32_t> offered_;
    std::vector<Partial> pool_;  // of the current treelet and slots
};

}  // namespace karat::fergus
