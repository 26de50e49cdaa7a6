// Scales of the ordering model's features, learned from trees outside its training data.
//
// Trained weights overfit: some templates get too much weight, and so do some frequency classes of
// features. So each weight is multiplied by a factor,
//
//     1 + a(template) + b(how often the treebank's orders have the feature),
//
// and the language model has its own factor. The factors are the weights of a log-linear model over
// the k best orders of whole sentences, trained to prefer the treebank's order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/elementary_functions.hpp"
#include "realize/ordering/model.hpp"
#include "realize/ordering/training.hpp"

namespace karat::ordering {

// A class is the number of a template times `frequencies`, plus the frequency class of the feature:
// never (with unknown template 0), once, 2-3, 4-10, 11-50 times, more often.
using FeatureClass = uint16_t;
constexpr int templates_of_family = 64, most_templates = 44 * templates_of_family;
constexpr int frequencies = 6;
constexpr int scale_count = most_templates + frequencies + 1;  // the last: the language model's

inline int frequency_of(int times) {
    constexpr int most[] = {0, 1, 3, 10, 50};
    return static_cast<int>(std::lower_bound(most, most + 5, times) - most);
}

// The class of every weight; its template is the template of the first feature that uses it.
class FeatureClasses {
  public:
    explicit FeatureClasses(int bits)
        : shift_(64 - bits), templates_(size_t{1} << bits), times_(size_t{1} << bits) {}

    void see(const TreeNodes& tree, const int32_t* places) {
        auto emit = [&](uint64_t h, uint64_t number) {
            const uint64_t f = h >> shift_;
            if (!times_[f])
                templates_[f] = static_cast<FeatureClass>((number >> 16) * templates_of_family +
                                                          (number & (templates_of_family - 1)));
            times_[f] = static_cast<uint8_t>(std::min(times_[f] + 1, 255));
        };
        each_treelet(tree, places, [&](int, const Treelet& treelet, const std::vector<int>& order) {
            features_of_order(treelet, order, emit);
        });
    }

    std::vector<FeatureClass> classes() const {
        std::vector<FeatureClass> classes_of_features(templates_.size());
        for (size_t f = 0; f < classes_of_features.size(); ++f)
            classes_of_features[f] =
                static_cast<FeatureClass>(templates_[f] * frequencies + frequency_of(times_[f]));
        return classes_of_features;
    }

  private:
    int shift_;
    std::vector<FeatureClass> templates_;
    std::vector<uint8_t> times_;
};

struct ScaleSettings {
    int epochs = 6;
    float rate = 0.1f, damping = 10, decay = 0.001f;
};

class ScaleTrainer {
  public:
    struct Part {  // value that a scale multiplies, minus that in the best order
        uint32_t scale;
        float sum;
    };
    struct Sentence {
        std::vector<double> scores;            // scores of its orders, minus the best score
        std::vector<std::vector<Part>> parts;  // of each
        size_t right;                          // index of the treebank's order
    };

    // Both arrays have 2^bits entries and outlive this.
    ScaleTrainer(const float* weights, const FeatureClass* classes, int bits)
        : weights_(weights), classes_(classes), shift_(64 - bits) {}

    // The orders found for a tree, best first. Nothing can be learned if the treebank's order is
    // not among them.
    void see(const TreeNodes& tree, const int32_t* places, const std::vector<Phrase>& orders) {
        const size_t right = place_of(tree, places, orders);
        if (orders.size() < 2 || right == orders.size()) return;
        Sentence sentence{{}, {}, right};
        for (const Phrase& order : orders) {
            sentence.scores.push_back(order.score - orders[0].score);
            sentence.parts.push_back(difference(tree, order, orders[0]));
        }
        sentences_.push_back(std::move(sentence));
    }

    const std::vector<Sentence>& sentences() const { return sentences_; }

    // The values added to 1: their mean over all epochs but the first.
    std::vector<float> fit(const ScaleSettings& settings, uint64_t seed) {
        scales_.assign(scale_count, 0);
        squares_.assign(scale_count, 0);
        slopes_.assign(scale_count, 0);
        WeightMean mean(scale_count);
        Dice dice{seed};
        std::vector<size_t> turn(sentences_.size());
        for (size_t i = 0; i < turn.size(); ++i) turn[i] = i;
        for (int epoch = 0; epoch < settings.epochs; ++epoch) {
            for (size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[dice.next() % i]);
            for (const size_t i : turn) learn(sentences_[i], settings);
            if (epoch) mean.remember(scales_);
        }
        return mean.mean(scales_);
    }

  private:
    static constexpr double negligible = 1e-6;

    // The index of the first order with the treebank's words; the number of orders if there is
    // none.
    static size_t place_of(const TreeNodes& tree, const int32_t* places,
                           const std::vector<Phrase>& orders) {
        std::vector<Symbol> words(tree.size());
        for (int i = 0; i < tree.size(); ++i) words[places[i]] = tree.word(i);
        const auto is_gold = [&](const Phrase& order) {
            return std::equal(words.begin(), words.end(), order.nodes.begin(), order.nodes.end(),
                              [&](Symbol word, int node) { return word == tree.word(node); });
        };
        return static_cast<size_t>(std::find_if(orders.begin(), orders.end(), is_gold) -
                                   orders.begin());
    }

    // The values that each scale multiplies in an order, minus those in another order; the language
    // model's value is the part that no feature explains. Treelets within subtrees common to both
    // are skipped.
    std::vector<Part> difference(const TreeNodes& tree, const Phrase& order,
                                 const Phrase& other) const {
        const std::vector<char> differ = differing(tree, order.nodes, other.nodes);
        std::vector<double> sums(scale_count);
        const double all = add(tree, order, differ, 1, sums) + add(tree, other, differ, -1, sums);
        sums.back() = order.score - other.score - all;
        std::vector<Part> parts;
        for (uint32_t i = 0; i < sums.size(); ++i)
            if (std::abs(sums[i]) > negligible) parts.push_back({i, static_cast<float>(sums[i])});
        return parts;
    }

    // Flags the nodes whose subtrees have different word orders.
    static std::vector<char> differing(const TreeNodes& tree, const std::vector<int>& a,
                                       const std::vector<int>& b) {
        const int n = tree.size();
        const std::vector<int32_t> at_a = places_of(a), at_b = places_of(b);
        std::vector<int32_t> first_a(at_a), first_b(at_b), size(n, 1);
        std::vector<char> differs(n);
        for (int i = n - 1; i >= 0; --i) {  // subtrees are contiguous in both
            differs[i] = !std::equal(&a[first_a[i]], &a[first_a[i]] + size[i], &b[first_b[i]]);
            if (!i) break;
            const int head = tree.head(i);
            first_a[head] = std::min(first_a[head], first_a[i]);
            first_b[head] = std::min(first_b[head], first_b[i]);
            size[head] += size[i];
        }
        return differs;
    }

    static std::vector<int32_t> places_of(const std::vector<int>& nodes) {
        std::vector<int32_t> places(nodes.size());
        for (size_t i = 0; i < nodes.size(); ++i) places[nodes[i]] = static_cast<int32_t>(i);
        return places;
    }

    // Adds the weights of some treelets' features to the values of their scales; returns their sum.
    double add(const TreeNodes& tree, const Phrase& order, const std::vector<char>& selected,
               double sign, std::vector<double>& sums) const {
        double all = 0;
        auto emit = [&](uint64_t h) {
            const double weight = sign * weights_[h >> shift_];
            const FeatureClass of = classes_[h >> shift_];
            sums[of / frequencies] += weight;
            sums[most_templates + of % frequencies] += weight;
            all += weight;
        };
        const std::vector<int32_t> places = places_of(order.nodes);
        const auto see = [&](int, const Treelet& treelet, const std::vector<int>& in) {
            features_of_order(treelet, in, emit);
        };
        each_treelet(tree, places.data(), see, [&](int node) { return selected[node]; });
        return all;
    }

    void learn(const Sentence& s, const ScaleSettings& settings) {
        std::vector<double> p(s.scores);
        for (size_t k = 0; k < p.size(); ++k)
            for (const Part& part : s.parts[k]) p[k] += scales_[part.scale] * part.sum;
        const double top = *std::max_element(p.begin(), p.end());
        double all = 0;
        for (double& x : p) all += x = exp_of(x - top);
        touched_.clear();
        for (size_t k = 0; k < p.size(); ++k) {
            const auto slope = static_cast<float>(p[k] / all - (k == s.right));
            for (const Part& part : s.parts[k]) {
                if (slopes_[part.scale] == 0) touched_.push_back(part.scale);
                slopes_[part.scale] += slope * part.sum;
            }
        }
        for (const uint32_t i : touched_) step(i, settings);
    }

    // AdaGrad with regularisation towards 0.
    void step(uint32_t i, const ScaleSettings& settings) {
        if (slopes_[i] == 0) return;
        const float slope = slopes_[i] + settings.decay * scales_[i];
        slopes_[i] = 0;
        squares_[i] += slope * slope;
        scales_[i] -= settings.rate * slope / std::sqrt(squares_[i] + settings.damping);
    }

    const float* weights_;
    const FeatureClass* classes_;
    int shift_;
    std::vector<Sentence> sentences_;
    std::vector<float> scales_, squares_, slopes_;
    std::vector<uint32_t> touched_;
};

}  // namespace karat::ordering
