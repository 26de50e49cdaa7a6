// Training of the ordering model.
//
// The order of the treebank is added to the k best orders that the model finds for a treelet, and
// the gradient of log P(order | treelet) among them is followed by AdaGrad, each feature being left
// out of a cell with some chance. The result is the mean of the weights at several moments.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ordering_search.hpp"
#include "ordering_trees.hpp"
#include "weight_mean.hpp"

namespace karat {

// A generator of random numbers that is the same everywhere (SplitMix64).
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
          squares_(size_t{1} << settings.bits), mean_(size_t{1} << settings.bits) {}

    size_t size() const { return weights_.size(); }

    // One tree, every treelet bottom-up; the first phrase of a node is the treebank's, those that
    // follow are the best others that were found. The loss.
    double see(const TreeColumns& columns, const int32_t* places, int64_t t, uint64_t seed) {
        const TreeNodes tree(columns, t);
        const int32_t* here = places + columns.offsets[t];
        dice_.state = seed;
        Phrases phrases(tree.size());
        double loss = 0;
        for (int node = tree.size() - 1; node >= 0; --node) {
            const std::vector<int> gold = treebank_order(tree, node, here, phrases);
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

    // Adds the present weights to those whose mean is the result.
    void remember() { mean_.remember(weights_); }
    std::vector<float> mean() const { return mean_.mean(weights_); }

    // The loss of one tree with given weights and its slopes, without a step and with all features.
    double slopes(const TreeColumns& columns, const int32_t* places, int64_t t,
                  const std::vector<float>& weights, std::vector<double>& found) {
        const OrderingSettings settings = settings_;
        settings_.dropout = 0;
        weights_ = weights;
        slope_sums_ = &found;
        const double loss = see(columns, places, t, 0);
        slope_sums_ = nullptr;
        settings_ = settings;
        return loss;
    }

  private:
    static constexpr float negligible = 1e-6f;

    struct List {  // the features of a cell
        uint32_t begin, end;
    };

    // One treelet: the slopes of its cells, and a step. Adds -log P of its order to the loss; the
    // orders that were looked at.
    std::vector<ScoredOrder> learn(const Treelet& treelet, const std::vector<int>& gold,
                                   double& loss) {
        begin(treelet);
        auto orders = search_.best(treelet, settings_.beam, settings_.beam,
                                   [this](int64_t cell) { return score(cell); });
        const size_t at_gold = place_of(gold, orders);
        const std::vector<double> p = softmax(orders);
        for (size_t i = 0; i < orders.size(); ++i) {
            const auto slope = static_cast<float>(p[i] - (i == at_gold));
            if (std::abs(slope) < negligible) continue;
            cells_of_order(at_, orders[i].order.data(), treelet.length(), [&](int64_t cell) {
                if (slopes_[cell] == 0) touched_.push_back(cell);
                slopes_[cell] += slope;
            });
        }
        step();
        loss -= std::log(std::max(p[at_gold], 1e-300));
        return orders;
    }

    void begin(const Treelet& treelet) {
        treelet_ = &treelet;
        at_ = CellPlaces(treelet.count());
        scores_.assign(at_.size(), std::numeric_limits<float>::quiet_NaN());
        slopes_.assign(at_.size(), 0);
        lists_.resize(at_.size());
        features_.clear();
        touched_.clear();
    }

    float score(int64_t cell) {
        if (!std::isnan(scores_[cell])) return scores_[cell];
        const auto begin = static_cast<uint32_t>(features_.size());
        const int shift = 64 - settings_.bits;
        const auto drop = static_cast<uint32_t>(settings_.dropout * 65536.0f);
        float sum = 0;
        uint64_t dice = dice_.next();
        int left = 4;
        auto add = [&](uint64_t h) {
            if (!left) dice = dice_.next(), left = 4;
            const bool dropped = (dice & 0xFFFF) < drop;
            dice >>= 16, --left;
            if (dropped) return;
            const auto f = static_cast<uint32_t>(h >> shift);
            features_.push_back(f);
            sum += weights_[f];
        };
        cell_features(*treelet_, at_, cell, add);
        lists_[cell] = {begin, static_cast<uint32_t>(features_.size())};
        return scores_[cell] = sum;
    }

    // Where the treebank's order is among the best; it is added if it is not.
    size_t place_of(const std::vector<int>& gold, std::vector<ScoredOrder>& orders) {
        for (size_t i = 0; i < orders.size(); ++i)
            if (orders[i].order == gold) return i;
        double sum = 0;
        for (const int i : gold) sum += i == at_.head() ? 0 : treelet_->priors[i];
        cells_of_order(at_, gold.data(), static_cast<int>(gold.size()),
                       [&](int64_t cell) { sum += score(cell); });
        orders.push_back({sum, gold});
        return orders.size() - 1;
    }

    static std::vector<double> softmax(const std::vector<ScoredOrder>& orders) {
        double top = orders[0].score, sum = 0;
        for (const ScoredOrder& o : orders) top = std::max(top, o.score);
        std::vector<double> p;
        for (const ScoredOrder& o : orders) p.push_back(std::exp(o.score - top));
        for (const double x : p) sum += x;
        for (double& x : p) x /= sum;
        return p;
    }

    void keep(const TreeNodes& tree, int node, const std::vector<ScoredOrder>& orders,
              const std::vector<int>& gold, Phrases& phrases) const {
        std::vector<Phrase> kept(1);
        for (const ScoredOrder& o : orders) {
            if (o.order == gold)
                kept[0] = {nodes_of(tree, node, gold, phrases), o.score, 0};
            else if (static_cast<int>(kept.size()) < settings_.alternatives)
                kept.push_back({nodes_of(tree, node, o.order, phrases), o.score, 0});
        }
        phrases[node] = std::move(kept);
    }

    void step() {
        for (const int64_t cell : touched_) {
            const float slope = slopes_[cell];
            slopes_[cell] = 0;
            if (std::abs(slope) < negligible) continue;
            for (uint32_t i = lists_[cell].begin; i < lists_[cell].end; ++i) {
                if (slope_sums_)
                    (*slope_sums_)[features_[i]] += slope;
                else
                    move(features_[i], slope);
            }
        }
    }

    // Without damping the first step of a feature would have the length of the rate however small
    // its slope, and most features are seen once: their noise would drown the others.
    void move(uint32_t f, float slope) {
        squares_[f] += slope * slope;
        weights_[f] -= settings_.rate * slope / std::sqrt(squares_[f] + settings_.damping);
    }

    OrderingSettings settings_;
    std::vector<float> weights_, squares_;
    WeightMean mean_;
    Dice dice_{0};
    OrderSearch search_;
    const Treelet* treelet_ = nullptr;
    CellPlaces at_;
    std::vector<float> scores_, slopes_;
    std::vector<List> lists_;
    std::vector<uint32_t> features_;
    std::vector<int64_t> touched_;
    std::vector<double>* slope_sums_ = nullptr;  // where slopes go instead of the weights
};

}  // namespace karat
