// Matches the words of a result with the nodes of the reference's tree.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "metrics/ngrams.hpp"

namespace karat {

struct TreeView {
    const int32_t* words;
    const int32_t* heads;  // from 1; 0 is the root's
    int64_t size;
};

// Ties as many nodes as possible to equal words of the result: `place[p]` is the result's position
// for node p, or -1.
//
// A word that occurs once in both texts is tied directly. The expected position of any other word
// keeps its distance from its nearest directly tied ancestor (without one, its position in the
// reference). Of all ways to tie the nodes and positions of one word, the one with the smallest sum
// of |place - expected| is chosen. On a line such a sum is smallest without crossings, so dynamic
// programming over nodes by expected position and over positions finds it; ties are broken by the
// earliest positions (with more nodes than positions, by the nodes expected first). `choices` lists
// the alternatives.
class Tying {
  public:
    // The nodes of one word, the position of each (or -1), and then the unused positions.
    struct Choice {
        std::vector<int32_t> nodes;
        std::vector<int64_t> places;
    };
    std::vector<int64_t> place;
    std::vector<Choice> choices;
    int64_t tied = 0;

    void tie(const TreeView& tree, const int32_t* result, int64_t n) {
        group(tree, result, n);
        place.assign(tree.size, -1);
        anchor_.assign(tree.size, unknown);
        tied = 0;
        choices.clear();
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
        const int32_t nearest = at == none ? none : anchor_[at];
        for (at = node; at != none && anchor_[at] == unknown; at = tree.heads[at] - 1)
            anchor_[at] = nearest;
        return nearest == none ? node : place[nearest] + node - nearest;
    }

    void tie_word(const TreeView& tree, size_t w, int64_t a, int64_t b) {
        expected_places_.clear();
        for (int64_t k = 0; k < a; ++k) {
            const int32_t node = nodes_[node_starts_[w] + k];
            expected_places_.push_back({expected(tree, node), node});
        }
        std::sort(expected_places_.begin(), expected_places_.end());
        const int32_t* const at = &places_[place_starts_[w]];
        const auto distance = [&](int64_t k, int64_t l) {
            return std::abs(expected_places_[k].first - at[l]);
        };
        const auto pair = [&](int64_t k, int64_t l) { place[expected_places_[k].second] = at[l]; };
        if (a <= b)
            choose(a, b, distance, pair);
        else
            choose(b, a, [&](int64_t l, int64_t k) { return distance(k, l); },
                   [&](int64_t l, int64_t k) { pair(k, l); });
        tied += std::min(a, b);
        list_choice(w, a, b);
    }

    void list_choice(size_t w, int64_t a, int64_t b) {
        choices.emplace_back();
        Choice& choice = choices.back();
        free_.assign(&places_[place_starts_[w]], &places_[place_starts_[w]] + b);
        for (int64_t k = 0; k < a; ++k) {
            choice.nodes.push_back(nodes_[node_starts_[w] + k]);
            choice.places.push_back(place[choice.nodes.back()]);
        }
        used_places_.assign(choice.places.begin(), choice.places.end());
        std::sort(used_places_.begin(), used_places_.end());
        for (const int32_t q : free_)
            if (!std::binary_search(used_places_.begin(), used_places_.end(), q))
                choice.places.push_back(q);
    }

    // Pairs all elements of the shorter list, in order, with some of the longer.
    template <class Distance, class Pair>
    void choose(int64_t n_paired, int64_t many, const Distance& distance, const Pair& pair) {
        if (n_paired == many) {
            for (int64_t k = 0; k < n_paired; ++k) pair(k, k);
            return;
        }
        const int64_t spare = many - n_paired;  // the k-th of the few is paired with k .. k + spare
        least_.assign(spare + 1, 0);
        takes_.assign(static_cast<size_t>(n_paired) * (spare + 1), false);
        for (int64_t k = 0; k < n_paired; ++k)
            for (int64_t s = 0; s <= spare; ++s) {
                const int64_t with = least_[s] + distance(k, k + s);
                takes_[k * (spare + 1) + s] = !s || with < least_[s - 1];
                least_[s] = takes_[k * (spare + 1) + s] ? with : least_[s - 1];
            }
        for (int64_t k = n_paired - 1, s = spare; k >= 0; --k) {
            while (!takes_[k * (spare + 1) + s]) --s;
            pair(k, k + s);
        }
    }

    Numbering numbering_;
    std::vector<int32_t> number_, nodes_, places_, anchor_, free_;
    std::vector<int64_t> node_starts_, place_starts_, next_, least_, used_places_;
    std::vector<std::pair<int64_t, int32_t>> expected_places_;
    std::vector<bool> takes_;
};

}  // namespace karat
