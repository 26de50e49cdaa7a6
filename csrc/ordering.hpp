// The ordering model: a log-linear model of the order of a treelet's items, trained and applied
// bottom-up, so that what is known of an item includes the words its ordered subtree begins and
// ends with.
//
//     P(order | treelet) = exp(w · f(order)) / Σ exp(w · f(other)),  over the k best orders
//
// Training adds the order of the treebank to the k best ones that the model finds, and follows the
// gradient of log P by AdaGrad, each feature being left out of a cell with some chance.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "ordering_cells.hpp"
#include "ordering_features.hpp"
#include "ordering_search.hpp"

namespace karat {

// The daughters of every node of one tree, and its columns from the tree's first node on.
class TreeNodes {
  public:
    TreeNodes(const TreeColumns& columns, int64_t tree)
        : begin_(columns.offsets[tree]), columns_(columns),
          size_(static_cast<int>(columns.offsets[tree + 1] - begin_)), daughters_(size_) {
        for (int i = size_ - 1; i > 0; --i) daughters_[head(i)].push_back(i);
        for (auto& d : daughters_) std::reverse(d.begin(), d.end());
    }

    int size() const { return size_; }
    int head(int i) const { return columns_.heads[begin_ + i]; }
    Symbol word(int i) const { return columns_.words[begin_ + i]; }
    Symbol ending(int i) const { return columns_.endings[begin_ + i]; }
    Symbol shape(int i) const { return columns_.shapes[begin_ + i]; }
    Symbol tag(int i) const { return columns_.tags[begin_ + i]; }
    Symbol fine(int i) const { return columns_.fine[begin_ + i]; }
    Symbol relation(int i) const { return columns_.relations[begin_ + i]; }
    const std::vector<int>& daughters(int i) const { return daughters_[i]; }

  private:
    int64_t begin_;
    const TreeColumns& columns_;
    int size_;
    std::vector<std::vector<int>> daughters_;
};

// The item of a node whose subtree has been ordered.
inline Item item_of(const TreeNodes& tree, int node, const std::vector<int>& phrase) {
    Item item;
    item.word = tree.word(node), item.ending = tree.ending(node), item.shape = tree.shape(node);
    item.tag = tree.tag(node);
    item.fine = tree.fine(node), item.relation = tree.relation(node);
    item.size = size_class(static_cast<int64_t>(phrase.size()));
    item.daughters = size_class(static_cast<int64_t>(tree.daughters(node).size()) + 1);
    const size_t n = phrase.size();
    item.first = tree.word(phrase[0]), item.last = tree.word(phrase[n - 1]);
    item.second = n > 1 ? tree.word(phrase[1]) : 0;
    item.but_last = n > 1 ? tree.word(phrase[n - 2]) : 0;
    item.first_tag = tree.tag(phrase[0]), item.last_tag = tree.tag(phrase[n - 1]);
    return item;
}

inline Frame frame_of(const TreeNodes& tree, int node) {
    Frame frame;
    frame.head = item_of(tree, node, {node});
    frame.relation = frame.head.relation;
    frame.head.relation = head_symbol;
    const int mother = tree.head(node);
    if (mother >= 0) {
        frame.mother_word = tree.word(mother), frame.mother_tag = tree.tag(mother);
        frame.mother_relation = tree.relation(mother);
    }
    const std::vector<int>& daughters = tree.daughters(node);
    frame.count = static_cast<Symbol>(std::min<size_t>(daughters.size(), 8));
    uint64_t together = 0;
    for (const int d : daughters) together += mix(77, tree.relation(d));
    frame.relations = static_cast<Symbol>(together >> 20);
    return frame;
}

// An order of a node's subtree, and its score.
struct Phrase {
    std::vector<int> nodes;
    double score;
};
using Phrases = std::vector<std::vector<Phrase>>;  // of every node, best first

// The treelet of a node whose daughters' subtrees have been ordered.
inline Treelet treelet_of(const TreeNodes& tree, int node, const Phrases& phrases) {
    Treelet treelet;
    treelet.frame = frame_of(tree, node);
    const std::vector<int>& daughters = tree.daughters(node);
    for (size_t d = 0; d < daughters.size(); ++d) {
        const std::vector<Phrase>& ways = phrases[daughters[d]];
        double best = ways[0].score;
        for (const Phrase& phrase : ways) best = std::max(best, phrase.score);
        for (const Phrase& phrase : ways) {
            treelet.items.push_back(item_of(tree, daughters[d], phrase.nodes));
            treelet.daughters.push_back(static_cast<int>(d));
            treelet.priors.push_back(phrase.score - best);
        }
    }
    return treelet;
}

// The words of a node's subtree when its treelet has this order.
inline std::vector<int> nodes_of(const TreeNodes& tree, int node, const std::vector<int>& order,
                                 const Phrases& phrases) {
    std::vector<const Phrase*> items;
    for (const int d : tree.daughters(node))
        for (const Phrase& phrase : phrases[d]) items.push_back(&phrase);
    std::vector<int> nodes;
    for (const int i : order) {
        if (i == static_cast<int>(items.size()))
            nodes.push_back(node);
        else
            nodes.insert(nodes.end(), items[i]->nodes.begin(), items[i]->nodes.end());
    }
    return nodes;
}

// The order of a treelet in the treebank: by the places of its words. The first item of every
// daughter is taken: in training that is the treebank's.
inline std::vector<int> treebank_order(const TreeNodes& tree, int node, const int32_t* places,
                                       const Phrases& phrases) {
    std::vector<std::pair<int32_t, int>> found;
    int item = 0;
    for (const int d : tree.daughters(node)) {
        found.emplace_back(places[d], item);
        item += static_cast<int>(phrases[d].size());
    }
    found.emplace_back(places[node], item);
    std::sort(found.begin(), found.end());
    std::vector<int> order;
    for (const auto& [place, i] : found) order.push_back(i);
    return order;
}

// Up to this many items all orders are looked at; more are searched with the beam.
constexpr int most_exact = 5;

inline int beam_for(int items, int beam) {
    int all = 1;
    for (int i = 2; i <= std::min(items, most_exact); ++i) all *= i;
    return items <= most_exact ? std::max(all, beam) : beam;
}

// Scores cells with fixed weights, each once.
class CellScores {
  public:
    CellScores(const float* weights, int bits) : weights_(weights), shift_(64 - bits) {}

    void begin(const Treelet& treelet) {
        treelet_ = &treelet;
        at_ = CellPlaces(treelet.count());
        known_.assign(at_.size(), std::numeric_limits<float>::quiet_NaN());
    }

    float operator()(int64_t cell) {
        if (!std::isnan(known_[cell])) return known_[cell];
        float sum = 0;
        auto add = [&](uint64_t h) { sum += weights_[h >> shift_]; };
        cell_features(*treelet_, at_, cell, add);
        return known_[cell] = sum;
    }

  private:
    const float* weights_;
    int shift_;
    const Treelet* treelet_ = nullptr;
    CellPlaces at_;
    std::vector<float> known_;
};

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
};

class OrderingTrainer {
  public:
    explicit OrderingTrainer(const OrderingSettings& settings)
        : settings_(settings), weights_(size_t{1} << settings.bits),
          squares_(size_t{1} << settings.bits), sums_(size_t{1} << settings.bits) {}

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
            if (gold.size() == 1 || static_cast<int>(gold.size()) > most_items) {
                phrases[node].push_back({nodes_of(tree, node, gold, phrases), 0});
                continue;
            }
            const Treelet treelet = treelet_of(tree, node, phrases);
            const std::vector<ScoredOrder> orders = learn(treelet, gold, loss);
            keep(tree, node, orders, gold, phrases);
        }
        return loss;
    }

    // Adds the present weights to those whose mean is the result.
    void remember() {
        for (size_t i = 0; i < weights_.size(); ++i) sums_[i] += weights_[i];
        ++remembered_;
    }

    std::vector<float> mean() const {
        std::vector<float> out(weights_);
        const float scale = 1.0f / static_cast<float>(std::max(remembered_, 1));
        if (remembered_)
            for (size_t i = 0; i < out.size(); ++i) out[i] = sums_[i] * scale;
        return out;
    }

    // One step on one treelet; adds -log P of its order to the loss. The orders that were looked at.
    std::vector<ScoredOrder> learn(const Treelet& treelet, const std::vector<int>& gold,
                                   double& loss) {
        const int n = treelet.length();
        at_ = CellPlaces(treelet.count());
        treelet_ = &treelet;
        scores_.assign(at_.size(), std::numeric_limits<float>::quiet_NaN());
        lists_.resize(at_.size());
        features_.clear();
        auto orders = search_.best(treelet, settings_.beam, settings_.beam,
                                   [this](int64_t cell) { return score(cell); });
        const size_t at_gold = place_of(gold, orders);
        const std::vector<double> p = softmax(orders);
        slopes_.assign(at_.size(), 0);
        touched_.clear();
        for (size_t i = 0; i < orders.size(); ++i) {
            const auto slope = static_cast<float>(p[i] - (i == at_gold));
            if (std::abs(slope) < 1e-6f) continue;
            cells_of_order(at_, orders[i].order.data(), n, [&](int64_t cell) {
                if (slopes_[cell] == 0) touched_.push_back(cell);
                slopes_[cell] += slope;
            });
        }
        step();
        loss -= std::log(std::max(p[at_gold], 1e-300));
        return orders;
    }

    const std::vector<float>& weights() const { return weights_; }
    static constexpr int most_items = 40;

  private:
    struct List {
        uint32_t begin, end;
    };

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
                kept[0] = {nodes_of(tree, node, gold, phrases), o.score};
            else if (static_cast<int>(kept.size()) < settings_.alternatives)
                kept.push_back({nodes_of(tree, node, o.order, phrases), o.score});
        }
        phrases[node] = std::move(kept);
    }

    void step() {
        for (const int64_t cell : touched_) {
            const float slope = slopes_[cell];
            if (std::abs(slope) < 1e-6f) continue;
            for (uint32_t i = lists_[cell].begin; i < lists_[cell].end; ++i) {
                const uint32_t f = features_[i];
                squares_[f] += slope * slope;
                weights_[f] -= settings_.rate * slope / std::sqrt(squares_[f] + 1e-8f);
            }
            slopes_[cell] = 0;
        }
    }

    OrderingSettings settings_;
    std::vector<float> weights_, squares_, sums_;
    int remembered_ = 0;
    Dice dice_{0};
    OrderSearch search_;
    const Treelet* treelet_ = nullptr;
    CellPlaces at_;
    std::vector<float> scores_, slopes_;
    std::vector<List> lists_;
    std::vector<uint32_t> features_;
    std::vector<int64_t> touched_;
};

}  // namespace karat
