// The labeller of unordered trees: one softmax classifier a kind of label (tags, relations), over
// hashed features of a node, its head, daughters and sisters. A second pass sees what the first
// found for all of them.
//
//     P(label | node) = exp(Σ w[f, label]) / Σ over all labels
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ordering_training.hpp"
#include "weight_mean.hpp"

namespace karat {

// What the words alone tell of a node.
template <class Emit>
void word_features(const TreeNodes& t, int i, Emit& emit) {
    Templates<Emit> on(11, emit);
    const int h = t.head(i), g = h < 0 ? -1 : t.head(h);
    const auto word = [&](int k) { return k < 0 ? edge_symbol : t.word(k); };
    const auto ending = [&](int k) { return k < 0 ? edge_symbol : t.ending(k); };
    const auto shape = [&](int k) { return k < 0 ? edge_symbol : t.shape(k); };
    const auto n = static_cast<Symbol>(std::min<size_t>(t.daughters(i).size(), 4));
    const auto m = h < 0 ? 0 : static_cast<Symbol>(std::min<size_t>(t.daughters(h).size(), 6));
    on(0);
    on(word(i));
    on(ending(i));
    on(shape(i));
    on(word(i), n);
    on(ending(i), n);
    on(shape(i), n, Symbol(h < 0));
    on(word(h));
    on(ending(h));
    on(shape(h), shape(i), n);
    on(word(i), word(h));
    on(word(i), ending(h));
    on(ending(i), word(h));
    on(ending(i), ending(h));
    on(ending(i), n, m);
    on(word(h), n);
    on(word(g));
    on(word(i), word(g));
    on(word(h), word(g), ending(i));
    on(ending(i), ending(h), ending(g));
    for (const int d : t.daughters(i)) {
        Templates<Emit> with(12, emit);
        with(word(d));
        with(ending(d));
        with(word(d), word(i));
        with(word(d), ending(i));
        with(word(d), word(h));
        with(word(d), ending(h));
        with(ending(d), ending(i));
        with(word(d), n);
        with(shape(d), Symbol(t.daughters(d).empty()));
    }
    if (h < 0) return;
    for (const int s : t.daughters(h)) {
        if (s == i) continue;
        Templates<Emit> with(13, emit);
        with(word(s));
        with(word(s), word(i));
        with(word(s), ending(i));
        with(ending(s), ending(i));
        with(word(s), word(h));
        with(word(s), ending(h), n);
    }
}

// What the labels of an earlier pass add.
template <class Emit>
void label_features(const TreeNodes& t, int i, Emit& emit) {
    Templates<Emit> on(14, emit);
    const int h = t.head(i), g = h < 0 ? -1 : t.head(h);
    const auto tag = [&](int k) { return k < 0 ? edge_symbol : t.tag(k); };
    const auto relation = [&](int k) { return k < 0 ? edge_symbol : t.relation(k); };
    const auto word = [&](int k) { return k < 0 ? edge_symbol : t.word(k); };
    const auto fine = [&](int k) { return k < 0 ? edge_symbol : t.fine(k); };
    on(tag(i), relation(i));
    on(fine(i));
    on(tag(h));
    on(fine(h), fine(i));
    on(relation(h));
    on(tag(i), tag(h));
    on(tag(i), relation(h));
    on(tag(i), relation(i), tag(h), relation(h));
    on(word(i), tag(h));
    on(word(i), tag(h), relation(h));
    on(word(i), fine(h));
    on(tag(i), word(h));
    on(relation(i), word(h));
    on(fine(i), fine(h), fine(g));
    on(tag(i), tag(h), tag(g));
    on(relation(i), relation(h), relation(g));
    uint64_t all = 0, sisters = 0;
    for (const int d : t.daughters(i)) {
        Templates<Emit> with(15, emit);
        all += mix(5, relation(d));
        with(relation(d));
        with(fine(d));
        with(relation(d), word(d));
        with(relation(d), tag(d), tag(i));
        with(relation(d), word(i));
        with(relation(d), relation(i));
        with(relation(d), relation(i), tag(h));
        with(fine(d), fine(i), fine(h));
    }
    on(all >> 7);
    on(all >> 7, tag(i), relation(i));
    on(all >> 7, tag(h));
    if (h < 0) return;
    for (const int s : t.daughters(h)) {
        if (s == i) continue;
        Templates<Emit> with(16, emit);
        sisters += mix(5, relation(s));
        with(relation(s));
        with(relation(s), relation(i));
        with(relation(s), tag(s), relation(i), tag(h));
        with(relation(s), word(i));
        with(relation(s), word(h), relation(i));
        with(tag(s), tag(i), tag(h));
        with(word(s), relation(i));
    }
    on(sisters >> 7);
    on(sisters >> 7, relation(i), tag(i));
    on(sisters >> 7, word(i));
    on(sisters >> 7, tag(h), relation(i));
}

// Which row of the table of weights a feature has: `rows[hash]`, or -1 if it is too rare for one.
struct FeatureRows {
    const int32_t* rows;
    int bits;
};

template <class Emit>
void node_features(const TreeNodes& t, int i, bool second, Emit& emit) {
    word_features(t, i, emit);
    if (second) label_features(t, i, emit);
}

// The rows of a node's features.
inline void label_rows(const TreeNodes& t, int i, bool second, const FeatureRows& known,
                       std::vector<int32_t>& rows) {
    rows.clear();
    auto add = [&](uint64_t h) {
        const int32_t row = known.rows[h >> (64 - known.bits)];
        if (row >= 0) rows.push_back(row);
    };
    node_features(t, i, second, add);
}

// How often each feature occurs in a tree, added to `counts`, up to 255.
inline void count_features(const TreeNodes& t, bool second, int bits, uint8_t* counts) {
    auto add = [&](uint64_t h) {
        uint8_t& count = counts[h >> (64 - bits)];
        count = static_cast<uint8_t>(count + (count < 255));
    };
    for (int i = 0; i < t.size(); ++i) node_features(t, i, second, add);
}

// Scores of all labels: the sum of the rows, then softmax in place.
inline void label_chances(const float* weights, int labels, const std::vector<int32_t>& rows,
                          std::vector<float>& p) {
    p.assign(labels, 0);
    for (const int32_t r : rows) {
        const float* w = weights + static_cast<size_t>(r) * labels;
        for (int k = 0; k < labels; ++k) p[k] += w[k];
    }
    const float top = *std::max_element(p.begin(), p.end());
    float sum = 0;
    for (float& x : p) sum += x = std::exp(x - top);
    for (float& x : p) x /= sum;
}

struct LabelSettings {
    int labels = 0, rows = 0;
    bool second = false;
    float rate = 0.1f, dropout = 0.2f, damping = 1;
};

class LabelTrainer {
  public:
    explicit LabelTrainer(const LabelSettings& s)
        : settings_(s), weights_(static_cast<size_t>(s.rows) * s.labels), mean_(weights_.size()),
          squares_(s.rows) {}

    int labels() const { return settings_.labels; }
    int rows() const { return settings_.rows; }

    // One tree, node by node; the loss.
    double see(const TreeColumns& columns, const FeatureRows& known, const int32_t* gold, int64_t t,
               uint64_t seed) {
        const TreeNodes tree(columns, t);
        Dice dice{seed};
        double loss = 0;
        for (int i = 0; i < tree.size(); ++i) {
            label_rows(tree, i, settings_.second, known, rows_);
            drop(dice);
            loss += learn(gold[columns.offsets[t] + i]);
        }
        return loss;
    }

    void remember() { mean_.remember(weights_); }
    std::vector<float> mean() const { return mean_.mean(weights_); }

  private:
    void drop(Dice& dice) {
        const auto chance = static_cast<uint32_t>(settings_.dropout * 65536.0f);
        size_t kept = 0;
        for (const int32_t r : rows_)
            if ((dice.next() & 0xFFFF) >= chance) rows_[kept++] = r;
        rows_.resize(kept);
    }

    // AdaGrad with one rate a row: the labels of a row share their squares. Damping keeps the first
    // steps of a rare row as short as its slopes are.
    double learn(int gold) {
        const int n = settings_.labels;
        label_chances(weights_.data(), n, rows_, p_);
        const double loss = -std::log(std::max(p_[gold], 1e-30f));
        p_[gold] -= 1;
        float square = 0;
        for (const float x : p_) square += x * x;
        if (square < 1e-6f) return loss;
        for (const int32_t r : rows_) {
            squares_[r] += square;
            const float rate = settings_.rate / std::sqrt(squares_[r] + settings_.damping);
            float* w = &weights_[static_cast<size_t>(r) * n];
            for (int k = 0; k < n; ++k) w[k] -= rate * p_[k];
        }
        return loss;
    }

    LabelSettings settings_;
    std::vector<float> weights_;
    WeightMean mean_;
    std::vector<float> squares_, p_;
    std::vector<int32_t> rows_;
};

}  // namespace karat
