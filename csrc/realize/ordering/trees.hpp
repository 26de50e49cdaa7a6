// Trees for the ordering model: treelets in bottom-up order, and the orders of subtrees.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "realize/ordering/cells.hpp"
#include "realize/ordering/features.hpp"

namespace karat::ordering {

// Daughters beyond this number follow all others in input order, so that the tables of a treelet
// are bounded.
constexpr size_t most_daughters = 64;

// The daughters of every node of one tree, and its columns, starting at the tree's first node.
class TreeNodes {
  public:
    TreeNodes(const TreeColumns& columns, int64_t tree)
        : begin_(columns.offsets[tree]), columns_(columns),
          size_(static_cast<int>(columns.offsets[tree + 1] - begin_)), daughters_(size_),
          beyond_(size_) {
        for (int i = 1; i < size_; ++i) {
            auto& of_head = daughters_[head(i)];
            (of_head.size() < most_daughters ? of_head : beyond_[head(i)]).push_back(i);
        }
    }

    int size() const { return size_; }
    int head(int i) const { return columns_.heads[begin_ + i]; }
    Symbol word(int i) const {
        return hidden_.empty() || !hidden_[i] ? columns_.words[begin_ + i] : hidden_symbol;
    }
    Symbol ending(int i) const {
        return hidden_.empty() || !hidden_[i] ? columns_.endings[begin_ + i] : hidden_symbol;
    }
    Symbol shape(int i) const { return columns_.shapes[begin_ + i]; }
    Symbol tag(int i) const { return columns_.tags[begin_ + i]; }
    Symbol fine(int i) const { return columns_.fine[begin_ + i]; }
    Symbol relation(int i) const { return columns_.relations[begin_ + i]; }
    Symbol other(int i) const { return columns_.further[begin_ + i]; }
    const std::vector<int>& daughters(int i) const { return daughters_[i]; }
    const std::vector<int>& beyond(int i) const { return beyond_[i]; }
    void hide(std::vector<char> words) { hidden_ = std::move(words); }  // one flag per node

  private:
    int64_t begin_;
    TreeColumns columns_;
    int size_;
    std::vector<std::vector<int>> daughters_, beyond_;
    std::vector<char> hidden_;
};

// A symbol of the relations of all daughters of a node, independent of their order.
inline Symbol relations_below(const TreeNodes& tree, int node) {
    uint64_t together = 0;
    for (const int d : tree.daughters(node)) together += mix(77, tree.relation(d));
    return static_cast<Symbol>(together >> 20);
}

// The number of daughters stored in an item, the first by content.
constexpr size_t most_below = 8;

// The item of a node whose subtree has been ordered.
inline Item item_of(const TreeNodes& tree, int node, const std::vector<int>& phrase) {
    Item item;
    item.word = tree.word(node), item.ending = tree.ending(node), item.shape = tree.shape(node);
    item.tag = tree.tag(node);
    item.fine = tree.fine(node), item.relation = tree.relation(node);
    item.other = tree.other(node);
    item.size = size_class(static_cast<int64_t>(phrase.size()));
    item.daughters = size_class(static_cast<int64_t>(tree.daughters(node).size()) + 1);
    const size_t n = phrase.size();
    item.first = tree.word(phrase[0]), item.last = tree.word(phrase[n - 1]);
    item.second = n > 1 ? tree.word(phrase[1]) : 0;
    item.but_last = n > 1 ? tree.word(phrase[n - 2]) : 0;
    item.first_tag = tree.tag(phrase[0]), item.last_tag = tree.tag(phrase[n - 1]);
    item.first_relation = tree.relation(phrase[0]);
    item.last_relation = tree.relation(phrase[n - 1]);
    item.relations = relations_below(tree, node);
    item.first_fine = tree.fine(phrase[0]), item.last_fine = tree.fine(phrase[n - 1]);
    for (const int d : tree.daughters(node))
        if (item.below.size() < most_below)
            item.below.emplace_back(tree.relation(d), tree.word(d));
    return item;
}

// Whether there is a question mark in a node's treelet (1) or above it (2): questions have a
// different order, and the mark is far from most words.
inline Symbol question_at(const TreeNodes& tree, int node) {
    static const Symbol mark = symbol_of("?");
    for (int n = node; n >= 0; n = tree.head(n))
        for (const int d : tree.daughters(n))
            if (tree.word(d) == mark) return n == node ? 1 : 2;
    return 0;
}

inline Frame frame_of(const TreeNodes& tree, int node) {
    Frame frame;
    frame.head = item_of(tree, node, {node});
    frame.relation = frame.head.relation;
    frame.head.relation = head_symbol;
    frame.head.other = 0;
    const int mother = tree.head(node);
    if (mother >= 0) {
        frame.mother_word = tree.word(mother), frame.mother_tag = tree.tag(mother);
        frame.mother_relation = tree.relation(mother);
    }
    const std::vector<int>& daughters = tree.daughters(node);
    frame.count = static_cast<Symbol>(std::min<size_t>(daughters.size(), 8));
    frame.relations = relations_below(tree, node);
    frame.question = question_at(tree, node);
    return frame;
}

// An order of a node's subtree, its score, and the language model's contribution within it.
struct Phrase {
    std::vector<int> nodes;
    double score = 0, fluency = 0;
};
using Phrases = std::vector<std::vector<Phrase>>;  // of every node, best first

// The treelet of a node whose daughters' subtrees have been ordered.
inline Treelet treelet_of(const TreeNodes& tree, int node, const Phrases& phrases) {
    Treelet treelet;
    treelet.frame = frame_of(tree, node);
    const std::vector<int>& daughters = tree.daughters(node);
    for (size_t d = 0; d < daughters.size(); ++d) {
        const std::vector<Phrase>& alternatives = phrases[daughters[d]];
        double best = alternatives[0].score;
        for (const Phrase& phrase : alternatives) best = std::max(best, phrase.score);
        for (const Phrase& phrase : alternatives) {
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
    for (const int d : tree.beyond(node))
        nodes.insert(nodes.end(), phrases[d][0].nodes.begin(), phrases[d][0].nodes.end());
    return nodes;
}

// The order of a treelet in the treebank, by the positions of its words. Uses the first item of
// every daughter, which in training is the treebank's.
inline std::vector<int> treebank_order(const TreeNodes& tree, int node, const int32_t* places,
                                       const Phrases& phrases) {
    std::vector<std::pair<int32_t, int>> placed;
    int item = 0;
    for (const int d : tree.daughters(node)) {
        placed.emplace_back(places[d], item);
        item += static_cast<int>(phrases[d].size());
    }
    placed.emplace_back(places[node], item);
    std::sort(placed.begin(), placed.end());
    std::vector<int> order;
    for (const auto& [place, i] : placed) order.push_back(i);
    return order;
}

// Calls see(node, treelet, order) bottom-up for every treelet of an ordered tree with wanted(node).
template <class See, class Wanted>
void each_treelet(const TreeNodes& tree, const int32_t* places, See&& see, Wanted&& is_selected) {
    Phrases phrases(tree.size());
    for (int node = tree.size() - 1; node >= 0; --node) {
        const std::vector<int> order = treebank_order(tree, node, places, phrases);
        if (order.size() > 1 && is_selected(node))
            see(node, treelet_of(tree, node, phrases), order);
        phrases[node].push_back({nodes_of(tree, node, order, phrases)});
    }
}

template <class See>
void each_treelet(const TreeNodes& tree, const int32_t* places, See&& see) {
    each_treelet(tree, places, see, [](int) { return true; });
}

}  // namespace karat::ordering
