// The ordering model: a log-linear model of the order of a treelet's items, applied bottom-up, so
// that the first and last words of an item's ordered subtree are known.
//
//     P(order | treelet) = exp(w · f(order)) / Σ exp(w · f(other)),  over the k best orders
//
// For every subtree, a few of the best orders are kept as candidates for the treelet above. The
// weighted log-probability of a language model is added to the score of each.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lm/model.hpp"
#include "realize/ordering/search.hpp"
#include "realize/ordering/trees.hpp"

namespace karat::ordering {

// Up to this many items, all orders are tried; beyond, beam search is used.
constexpr int most_exact = 5;

inline int beam_for(int items, int beam) {
    int all = 1;
    for (int i = 2; i <= std::min(items, most_exact); ++i) all *= i;
    return items <= most_exact ? std::max(all, beam) : beam;
}

// Scores cells with fixed weights, each at most once.
class CellScores {
  public:
    CellScores(const float* weights, int bits) : weights_(weights), shift_(64 - bits) {}

    void begin(const Treelet& treelet) {
        treelet_ = &treelet;
        at_ = CellPlaces(treelet.count());
        cached_.assign(at_.size(), std::numeric_limits<float>::quiet_NaN());
    }

    float operator()(int64_t cell) {
        if (!std::isnan(cached_[cell])) return cached_[cell];
        float sum = 0;
        auto add = [&](uint64_t h) { sum += weights_[h >> shift_]; };
        cell_features(*treelet_, at_, cell, add);
        return cached_[cell] = sum;
    }

    // The score of whole-order features.
    float score_order(const int* order, int n) const {
        float sum = 0;
        auto add = [&](uint64_t h) { sum += weights_[h >> shift_]; };
        order_features(treelet_->frame, treelet_->items, order, n, add);
        return sum;
    }

  private:
    const float* weights_;
    int shift_;
    const Treelet* treelet_ = nullptr;
    CellPlaces at_;
    std::vector<float> cached_;
};

// The settings of the search: the width of the beam, the number of orders kept per subtree, and the
// optional language model with its weight.
struct DecodeSettings {
    int beam = 32, alternatives = 3;
    const lm::Model* model = nullptr;
    double weight = 0;
};

class OrderDecoder {
  public:
    OrderDecoder(const float* weights, int bits, const DecodeSettings& settings)
        : settings_(settings), scores_(weights, bits) {}

    // The k best orders found for a tree; `words` are the language model's ids of its nodes' words.
    std::vector<Phrase> best(const TreeNodes& tree, const int32_t* words, int k) {
        Phrases phrases(tree.size());
        for (int node = tree.size() - 1; node >= 0; --node) {
            phrases[node] = orders_of(tree, node, phrases, words, k);
            for (const int d : tree.daughters(node)) phrases[d] = {};
            for (const int d : tree.beyond(node)) phrases[d] = {};
        }
        return phrases[0];
    }

  private:
    // Large treelets use fewer orders of each daughter, because the tables grow cubically.
    static constexpr size_t most_items = 64;

    static void bound(const std::vector<int>& daughters, Phrases& phrases) {
        const auto items = [&](size_t n_alternatives) {
            size_t sum = 0;
            for (const int d : daughters) sum += std::min(n_alternatives, phrases[d].size());
            return sum;
        };
        size_t n_alternatives = most_items;
        while (n_alternatives > 1 && items(n_alternatives) > most_items) --n_alternatives;
        for (const int d : daughters)
            if (phrases[d].size() > n_alternatives) phrases[d].resize(n_alternatives);
    }

    std::vector<Phrase> orders_of(const TreeNodes& tree, int node, Phrases& phrases,
                                  const int32_t* words, int k) {
        bound(tree.daughters(node), phrases);
        const Treelet treelet = treelet_of(tree, node, phrases);
        scores_.begin(treelet);
        const int keep = std::max(settings_.alternatives, node == 0 ? k : 1);
        const int look = settings_.model ? std::max(keep, looked_at) : keep;
        std::vector<Phrase> orders;
        for (const ScoredOrder& o : search_.best(
                 treelet, beam_for(treelet.length(), std::max(settings_.beam, keep)), look, scores_,
                 [this](const int* order, int n) { return scores_.score_order(order, n); })) {
            orders.push_back({nodes_of(tree, node, o.order, phrases), o.score, 0});
            if (settings_.model) add_fluency(tree, node, o.order, phrases, words, orders.back());
        }
        std::stable_sort(orders.begin(), orders.end(),
                         [](const Phrase& a, const Phrase& b) { return a.score > b.score; });
        if (static_cast<int>(orders.size()) > keep) orders.resize(keep);
        return orders;
    }

    // The language model's score of the whole replaces its scores of the parts.
    void add_fluency(const TreeNodes& tree, int node, const std::vector<int>& order,
                     const Phrases& phrases, const int32_t* words, Phrase& phrase) const {
        double parts = 0;
        int item = 0;
        for (const int d : tree.daughters(node))
            for (const Phrase& p : phrases[d]) {
                if (std::find(order.begin(), order.end(), item) != order.end()) parts += p.fluency;
                ++item;
            }
        phrase.fluency = fluency(phrase.nodes, words, node == 0);
        phrase.score += phrase.fluency - parts;
    }

    // weight · ln Pr; a subtree starts without a state, a sentence has begin and end symbols.
    double fluency(const std::vector<int>& nodes, const int32_t* words, bool is_sentence) const {
        const lm::Model& model = *settings_.model;
        lm::State state = is_sentence ? model.begin() : model.empty();
        double sum = 0;
        for (const int i : nodes) sum += model.score(state, words[i], state);
        if (is_sentence) sum += model.score(state, model.eos(), state);
        return settings_.weight * sum * 2.302585092994046;
    }

    static constexpr int looked_at = 12;

    DecodeSettings settings_;
    CellScores scores_;
    OrderSearch search_;
};

// The contributions of each kind of cell, and of the whole, to the order that a tree has: one row
// per treelet, in the order of `heads`.
struct OrderParts {
    std::vector<int32_t> heads;
    std::vector<double> parts;  // part_kinds for each
};

inline OrderParts order_parts(const float* weights, int bits, const TreeNodes& tree,
                              const int32_t* places) {
    OrderParts result;
    CellScores scores(weights, bits);
    const auto see = [&](int node, const Treelet& treelet, const std::vector<int>& order) {
        scores.begin(treelet);
        const CellPlaces at(treelet.count());
        double parts[part_kinds] = {};
        cells_of_order(at, order.data(), static_cast<int>(order.size()), [&](int64_t cell) {
            parts[static_cast<int>(at.kind(cell))] += scores(cell);
        });
        parts[cell_kinds] = scores.score_order(order.data(), static_cast<int>(order.size()));
        result.heads.push_back(node);
        result.parts.insert(result.parts.end(), parts, parts + part_kinds);
    };
    each_treelet(tree, places, see);
    return result;
}

}  // namespace karat::ordering
