// The labeller of unordered trees: one softmax classifier per kind of label (tags, relations), over
// hashed features of a node, its head, daughters and sisters. A second pass uses the labels from
// the first pass for all of them. All kinds are trained together, because they share their
// features.
//
//     P(label | node) = exp(Σ w[f, label]) / Σ over all labels
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/elementary_functions.hpp"
#include "realize/ordering/training.hpp"
#include "realize/ordering/weight_mean.hpp"

namespace karat::ordering {

// The prefixes and suffixes of a tree's words.
struct Affixes {
    static constexpr int columns = 5;
    const Symbol* first;  // row of the tree's root; one row per node

    Symbol front3(int i) const { return at(i, 0); }
    Symbol front4(int i) const { return at(i, 1); }
    Symbol front5(int i) const { return at(i, 2); }
    Symbol back2(int i) const { return at(i, 3); }
    Symbol back4(int i) const { return at(i, 4); }

  private:
    Symbol at(int i, int column) const { return i < 0 ? edge_symbol : first[i * columns + column]; }
};

// The inputs for labelling a tree.
struct LabelledTree {
    TreeNodes nodes;
    Affixes affixes;

    LabelledTree(const TreeColumns& columns, const Symbol* affixes_of_all, int64_t t)
        : nodes(columns, t), affixes{affixes_of_all + columns.offsets[t] * Affixes::columns} {}
};

// Features of a node from words alone.
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

// Features of a node from prefixes and suffixes, for rare and unknown words.
template <class Emit>
void affix_features(const TreeNodes& t, const Affixes& x, int i, Emit& emit) {
    Templates<Emit> on(17, emit);
    const int h = t.head(i);
    const auto word = [&](int k) { return k < 0 ? edge_symbol : t.word(k); };
    const auto ending = [&](int k) { return k < 0 ? edge_symbol : t.ending(k); };
    const auto n = static_cast<Symbol>(std::min<size_t>(t.daughters(i).size(), 4));
    on(x.back2(i));
    on(x.back4(i));
    on(x.front3(i));
    on(x.front4(i));
    on(x.front5(i));
    on(x.front3(h));
    on(x.front4(h));
    on(x.front5(h));
    on(x.back2(i), x.back2(h));
    on(x.back2(i), x.front4(h));
    on(x.front4(i), x.front4(h));
    on(x.front4(i), word(h));
    on(word(i), x.front4(h));
    on(x.front5(i), n);
    on(x.front5(i), x.front5(h));
    on(x.front5(i), word(h));
    on(word(i), x.front5(h));
    on(x.back2(i), x.front5(h));
    on(x.front5(i), x.back2(h));
    on(ending(i), x.front5(h));
    for (const int d : t.daughters(i)) {
        Templates<Emit> with(18, emit);
        with(x.front5(d));
        with(x.front5(d), x.front5(i));
        with(word(d), x.front5(i));
        with(x.back2(d), x.front5(i));
        with(x.back2(d));
        with(x.back2(d), x.back2(i));
    }
    if (h < 0) return;
    for (const int s : t.daughters(h)) {
        if (s == i) continue;
        Templates<Emit> with(19, emit);
        with(x.front5(s), x.front5(i));
        with(x.back2(s), x.back2(i), x.back2(h));
        with(word(s), x.front5(h));
        with(x.back2(s), x.front5(h), x.back2(i));
    }
}

// Features from the labels of an earlier pass.
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

// The row of a feature in the table of weights: `rows[hash]`, or -1 if the feature is too rare.
struct FeatureRows {
    const int32_t* rows;
    int bits;
};

template <class Emit>
void node_features(const LabelledTree& t, int i, bool second, Emit& emit) {
    word_features(t.nodes, i, emit);
    affix_features(t.nodes, t.affixes, i, emit);
    if (second) label_features(t.nodes, i, emit);
}

// Adds the rows of a node's features.
inline void label_rows(const LabelledTree& t, int i, bool second, const FeatureRows& row_table,
                       std::vector<int32_t>& rows) {
    auto add = [&](uint64_t h) {
        const int32_t row = row_table.rows[h >> (64 - row_table.bits)];
        if (row >= 0) rows.push_back(row);
    };
    node_features(t, i, second, add);
}

// Adds the number of occurrences of each feature in a tree to `counts`, up to 255.
inline void count_features(const LabelledTree& t, bool second, int bits, uint8_t* counts) {
    auto add = [&](uint64_t h) {
        uint8_t& count = counts[h >> (64 - bits)];
        count = static_cast<uint8_t>(count + (count < 255));
    };
    for (int i = 0; i < t.nodes.size(); ++i) node_features(t, i, second, add);
}

// Adds the rows of a table to the scores of its labels.
inline void add_rows(const float* weights, int labels, const int32_t* begin, const int32_t* end,
                     float* p) {
    for (const int32_t* r = begin; r < end; ++r) {
        const float* w = weights + static_cast<size_t>(*r) * labels;
        for (int k = 0; k < labels; ++k) p[k] += w[k];
    }
}

inline void add_rows(const float* weights, int labels, const std::vector<int32_t>& rows, float* p) {
    add_rows(weights, labels, rows.data(), rows.data() + rows.size(), p);
}

// Scores to probabilities, in place.
inline void softmax_of(float* p, int labels) {
    const float top = *std::max_element(p, p + labels);
    for (int k = 0; k < labels; ++k) p[k] = exp_of(p[k] - top);
    float sum = 0;
    for (int k = 0; k < labels; ++k) sum += p[k];
    for (int k = 0; k < labels; ++k) p[k] /= sum;
}

// The most probable label, and the second, or -1 if the first is certain.
struct BestTwo {
    int32_t best, other;
};

// Converts the scores to probabilities in place.
inline BestTwo best_two(std::vector<float>& p, float sure) {
    softmax_of(p.data(), static_cast<int>(p.size()));
    const auto best = std::max_element(p.begin(), p.end());
    const auto at = static_cast<int32_t>(best - p.begin());
    if (*best >= sure || p.size() < 2) return {at, -1};
    *best = -1;
    return {at, static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin())};
}

// The rows of the nodes of some trees, cached for all epochs.
struct RowsOfNodes {
    std::vector<int64_t> begins, ends;  // one per node; empty for trees not chosen
    std::vector<int32_t> rows;

    explicit RowsOfNodes(size_t nodes) : begins(nodes), ends(nodes) {}

    void add(const LabelledTree& t, int64_t offset, bool second, const FeatureRows& row_table) {
        for (int i = 0; i < t.nodes.size(); ++i) {
            begins[offset + i] = static_cast<int64_t>(rows.size());
            label_rows(t, i, second, row_table, rows);
            ends[offset + i] = static_cast<int64_t>(rows.size());
        }
    }
};

struct LabelSettings {
    std::vector<int> labels;  // of each kind
    int rows = 0;
    float rate = 0.1f, dropout = 0.2f, damping = 1;
};

class LabelTrainer {
  public:
    explicit LabelTrainer(const LabelSettings& s) : settings_(s), mean_(0) {
        for (const int n : s.labels) all_ += n;
        weights_.resize(static_cast<size_t>(s.rows) * all_);
        mean_ = WeightMean(weights_.size());
        squares_.resize(s.rows * s.labels.size());
        p_.resize(all_);
        square_.resize(s.labels.size());
    }

    const LabelSettings& settings() const { return settings_; }
    int all() const { return all_; }

    // Trains on nodes in sequence; `gold` has a row of labels per node. Returns the loss.
    double see(const RowsOfNodes& rows, const int32_t* gold, int64_t begin, int64_t end,
               uint64_t seed) {
        Dice dice{seed};
        double loss = 0;
        for (int64_t i = begin; i < end; ++i) {
            choose(rows, i, dice);
            loss += learn(gold + i * static_cast<int64_t>(square_.size()));
        }
        return loss;
    }

    // Trains on nodes in any order; `gold` has a row of labels per node. Returns the loss.
    double see(const RowsOfNodes& rows, const int32_t* gold, const int64_t* nodes, size_t count,
               uint64_t seed) {
        double loss = 0;
        for (size_t i = 0; i < count; ++i)
            loss += see(rows, gold, nodes[i], nodes[i] + 1,
                        mix(seed, static_cast<uint64_t>(nodes[i]) + 1));
        return loss;
    }

    void remember() { mean_.remember(weights_); }
    std::vector<float> mean() const { return mean_.mean(weights_); }

  private:
    // Smaller steps are skipped to save time.
    static constexpr float negligible_square = 1e-6f;

    // The rows of a node without those that are dropped.
    void choose(const RowsOfNodes& rows, int64_t node, Dice& dice) {
        const auto chance = static_cast<uint32_t>(settings_.dropout * 65536.0f);
        rows_.clear();
        for (int64_t k = rows.begins[node]; k < rows.ends[node]; ++k)
            if ((dice.next() & 0xFFFF) >= chance) rows_.push_back(rows.rows[k]);
    }

    double learn(const int32_t* gold) {
        std::fill(p_.begin(), p_.end(), 0.0f);
        add_rows(weights_.data(), all_, rows_, p_.data());
        double loss = 0;
        float* p = p_.data();
        for (size_t kind = 0; kind < square_.size(); ++kind) {
            const int n = settings_.labels[kind];
            softmax_of(p, n);
            loss -= log_of(std::max<double>(p[gold[kind]], 1e-30));
            p[gold[kind]] -= 1;
            square_[kind] = 0;
            for (int k = 0; k < n; ++k) square_[kind] += p[k] * p[k];
            p += n;
        }
        for (const int32_t r : rows_) step(r);
        return loss;
    }

    // AdaGrad with one rate per row and kind: the labels of a kind share their sum of squares.
    // Damping keeps the first steps of a rare row proportional to its gradients.
    void step(int32_t r) {
        float* w = &weights_[static_cast<size_t>(r) * all_];
        float* squares = &squares_[r * square_.size()];
        const float* p = p_.data();
        for (size_t kind = 0; kind < square_.size(); ++kind) {
            const int n = settings_.labels[kind];
            if (square_[kind] >= negligible_square) {
                squares[kind] += square_[kind];
                const float rate = settings_.rate / std::sqrt(squares[kind] + settings_.damping);
                for (int k = 0; k < n; ++k) w[k] -= rate * p[k];
            }
            w += n, p += n;
        }
    }

    LabelSettings settings_;
    int all_ = 0;  // total number of labels of all kinds
    std::vector<float> weights_;
    WeightMean mean_;
    std::vector<float> squares_, p_, square_;
    std::vector<int32_t> rows_;
};

}  // namespace karat::ordering
