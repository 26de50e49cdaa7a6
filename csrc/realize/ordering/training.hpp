// Training of the ordering model.
//
// The treebank's order is added to the k best orders of the model for a treelet, and AdaGrad
// follows the gradient of log P(order | treelet) among them, with dropout of the features of cells
// and random hiding of rare words. The result is the mean of several snapshots of the weights.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/elementary_functions.hpp"
#include "core/large_pages.hpp"
#include "realize/ordering/search.hpp"
#include "realize/ordering/trees.hpp"
#include "realize/ordering/weight_mean.hpp"

namespace karat::ordering {

// A portable random number generator (SplitMix64).
struct Dice {
    uint64_t state;
    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    uint32_t bits() { return static_cast<uint32_t>(next() >> 32); }
};

struct OrderingSettings {
    int bits = 22, beam = 32, alternatives = 3;
    float rate = 0.1f, dropout = 0.2f;
    float damping = 1;  // see move()
};

class OrderingTrainer {
  public:
    explicit OrderingTrainer(const OrderingSettings& settings)
        : settings_(settings), weights_(size_t{1} << settings.bits),
          mean_(size_t{1} << settings.bits) {}

    size_t size() const { return weights_.size(); }

    // Trains on one tree, every treelet bottom-up; the first phrase of a node is the treebank's,
    // followed by the best others. `chances` are the probabilities of hiding each node's word;
    // null: no word is hidden. Returns the loss.
    double see(const TreeColumns& columns, const int32_t* places, const float* chances, int64_t t,
               uint64_t seed) {
        dice_.state = seed;
        TreeNodes tree(columns, t);
        if (chances) hide(chances + columns.offsets[t], tree);
        const int32_t* gold_places = places + columns.offsets[t];
        Phrases phrases(tree.size());
        double loss = 0;
        for (int node = tree.size() - 1; node >= 0; --node) {
            const std::vector<int> gold = treebank_order(tree, node, gold_places, phrases);
            if (gold.size() == 1) {
                phrases[node].push_back({nodes_of(tree, node, gold, phrases)});
                continue;
            }
            const Treelet treelet = treelet_of(tree, node, phrases);
            const std::vector<ScoredOrder> orders = learn(treelet, gold, loss);
            keep(tree, node, orders, gold, phrases);
        }
        return loss;
    }

    // Adds the current weights to the mean.
    void remember() { mean_.remember(values()); }
    std::vector<float> mean() const { return mean_.mean(values()); }

    // The loss of one tree with given weights and its gradient, without a step or dropout.
    double slopes(const TreeColumns& columns, const int32_t* places, int64_t t,
                  const std::vector<float>& weights, std::vector<double>& sums) {
        const OrderingSettings settings = settings_;
        settings_.dropout = 0;
        for (size_t i = 0; i < weights.size(); ++i) weights_[i].value = weights[i];
        slope_sums_ = &sums;
        const double loss = see(columns, places, nullptr, t, 0);
        slope_sums_ = nullptr;
        settings_ = settings;
        return loss;
    }

  private:
    static constexpr float negligible = 1e-6f;
    static constexpr uint32_t most_features = 4096;  // generous limit per cell

    struct List {  // the features of a cell, or of an order as a whole
        uint32_t begin, end;
    };
    struct Weight {  // stored together: a step needs both
        float value = 0, squares = 0;
    };

    // Computes the gradient of one treelet and makes a step. Adds -log P of its order to the loss;
    // returns the orders considered.
    std::vector<ScoredOrder> learn(const Treelet& treelet, const std::vector<int>& gold,
                                   double& loss) {
        begin(treelet);
        auto orders = search_.best(
            treelet, settings_.beam, settings_.beam, [this](int64_t cell) { return score(cell); },
            [this](const int* o, int n) { return score_order(o, n); });
        const size_t at_gold = place_of(gold, orders);
        const std::vector<double> p = softmax(orders);
        for (size_t i = 0; i < orders.size(); ++i) {
            const auto slope = static_cast<float>(p[i] - (i == at_gold));
            if (std::abs(slope) < negligible) continue;
            cells_of_order(at_, orders[i].order.data(), treelet.length(), [&](int64_t cell) {
                if (slopes_[cell] == 0) touched_.push_back(cell);
                slopes_[cell] += slope;
            });
            follow(wholes_[orders[i].beam_index], slope);
        }
        step();
        loss -= log_of(std::max(p[at_gold], 1e-300));
        return orders;
    }

    // Hides each word with its probability; a hidden word is treated as unseen.
    void hide(const float* chances, TreeNodes& tree) {
        std::vector<char> hidden(tree.size());
        for (int i = 0; i < tree.size(); ++i) hidden[i] = dice_.bits() * 0x1p-32 < chances[i];
        tree.hide(std::move(hidden));
    }

    void begin(const Treelet& treelet) {
        treelet_ = &treelet;
        dropout_seed_ = dice_.next();
        at_ = CellPlaces(treelet.count());
        scores_.assign(at_.size(), std::numeric_limits<float>::quiet_NaN());
        slopes_.assign(at_.size(), 0);
        lists_.resize(at_.size());
        used_ = 0;
        touched_.clear();
        wholes_.clear();
    }

    // One draw per feature of a treelet, shared by all orders that have it.
    float score_order(const int* order, int n) {
        wholes_.push_back(listed(
            [&](uint64_t h) { return static_cast<uint32_t>(mix(h, dropout_seed_) & 0xFFFF); },
            [&](auto& add) { order_features(treelet_->frame, treelet_->items, order, n, add); }));
        return sum_of(wholes_.back());
    }

    float score(int64_t cell) {
        if (!std::isnan(scores_[cell])) return scores_[cell];
        uint64_t dice = dice_.next();
        int left = 4;
        const auto draw = [&](uint64_t) {
            if (!left) dice = dice_.next(), left = 4;
            const auto random_bits = static_cast<uint32_t>(dice & 0xFFFF);
            dice >>= 16, --left;
            return random_bits;
        };
        lists_[cell] =
            listed(draw, [&](auto& add) { cell_features(*treelet_, at_, cell, add); });
        return scores_[cell] = sum_of(lists_[cell]);
    }

    // The features passed by `see` and not dropped by `draw`. The loop is branch-free, because
    // draws are unpredictable.
    template <class Draw, class See>
    List listed(Draw&& draw, See&& see) {
        const uint32_t begin = used_;
        if (features_.size() < begin + most_features) features_.resize(2 * (begin + most_features));
        const int shift = 64 - settings_.bits;
        const auto drop = static_cast<uint32_t>(settings_.dropout * 65536.0f);
        uint32_t* const used_features = features_.data();
        uint32_t used = begin;
        auto add = [&](uint64_t h) {
            used_features[used] = static_cast<uint32_t>(h >> shift);
            used += draw(h) >= drop;
        };
        see(add);
        used_ = used;
        return {begin, used};
    }

    float sum_of(const List& list) const {
        float sum = 0;
        for (uint32_t i = list.begin; i < list.end; ++i) sum += weights_[features_[i]].value;
        return sum;
    }

    // The index of the treebank's order among the best; it is added if it is missing.
    size_t place_of(const std::vector<int>& gold, std::vector<ScoredOrder>& orders) {
        for (size_t i = 0; i < orders.size(); ++i)
            if (orders[i].order == gold) return i;
        double sum = 0;
        for (const int i : gold) sum += i == at_.head() ? 0 : treelet_->priors[i];
        cells_of_order(at_, gold.data(), static_cast<int>(gold.size()),
                       [&](int64_t cell) { sum += score(cell); });
        sum += score_order(gold.data(), static_cast<int>(gold.size()));
        orders.push_back({sum, gold, static_cast<uint32_t>(wholes_.size()) - 1});
        return orders.size() - 1;
    }

    static std::vector<double> softmax(const std::vector<ScoredOrder>& orders) {
        double top = orders[0].score, sum = 0;
        for (const ScoredOrder& o : orders) top = std::max(top, o.score);
        std::vector<double> p;
        for (const ScoredOrder& o : orders) p.push_back(exp_of(o.score - top));
        for (const double x : p) sum += x;
        for (double& x : p) x /= sum;
        return p;
    }

    void keep(const TreeNodes& tree, int node, const std::vector<ScoredOrder>& orders,
              const std::vector<int>& gold, Phrases& phrases) const {
        std::vector<Phrase> best(1);
        for (const ScoredOrder& o : orders) {
            if (o.order == gold)
                best[0] = {nodes_of(tree, node, gold, phrases), o.score, 0};
            else if (static_cast<int>(best.size()) < settings_.alternatives)
                best.push_back({nodes_of(tree, node, o.order, phrases), o.score, 0});
        }
        phrases[node] = std::move(best);
    }

    void step() {
        for (const int64_t cell : touched_) {
            const float slope = slopes_[cell];
            slopes_[cell] = 0;
            if (std::abs(slope) < negligible) continue;
            follow(lists_[cell], slope);
        }
    }

    void follow(const List& list, float slope) {
        for (uint32_t i = list.begin; i < list.end; ++i) {
            if (slope_sums_)
                (*slope_sums_)[features_[i]] += slope;
            else
                move(features_[i], slope);
        }
    }

    // Without damping, the first step of a feature would be as long as the learning rate, however
    // small its gradient. Most features occur once, and their noise would dominate.
    void move(uint32_t f, float slope) {
        Weight& w = weights_[f];
        w.squares += slope * slope;
        w.value -= settings_.rate * slope / std::sqrt(w.squares + settings_.damping);
    }

    std::vector<float> values() const {
        std::vector<float> values_of_weights;
        values_of_weights.reserve(weights_.size());
        for (const Weight& w : weights_) values_of_weights.push_back(w.value);
        return values_of_weights;
    }

    OrderingSettings settings_;
    LargeTable<Weight> weights_;
    WeightMean mean_;
    Dice dice_{0};
    OrderSearch search_;
    const Treelet* treelet_ = nullptr;
    CellPlaces at_;
    std::vector<float> scores_, slopes_;
    std::vector<List> lists_;   // of cells
    std::vector<List> wholes_;  // of orders, in order of discovery
    uint64_t dropout_seed_ = 0;  // seed of the dropout for whole orders
    std::vector<uint32_t> features_;
    uint32_t used_ = 0;  // of them
    std::vector<int64_t> touched_;
    std::vector<double>* slope_sums_ = nullptr;  // destination of gradients, instead of a step
};

}  // namespace karat::ordering
