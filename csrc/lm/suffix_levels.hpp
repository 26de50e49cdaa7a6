// The n-grams of all lengths in the order of their suffixes: by the last word, then the one before
// it, and so on. In this order the n-grams of a length are numbered, the suffix of an n-gram (all
// but its first word) is its parent in a trie, and the numbers of parents never decrease. Single
// words are numbered by their ids.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/sequence.hpp"
#include "lm/token_runs.hpp"

namespace karat::lm {

struct Node {
    uint32_t parent;    // the number of the suffix
    uint32_t word;      // the first word
    uint32_t count;     // in the text
    uint32_t adjusted;  // Kneser-Ney: number of distinct preceding words, or its count
    uint32_t first;     // where it was seen first
};

class SuffixLevels {
  public:
    SuffixLevels(Scratch& scratch, int order)
        : order_(order), adjusted_(MAX_ORDER + 1), counts_(MAX_ORDER + 1) {
        for (int n = 2; n <= order; ++n) nodes_.emplace_back(scratch);
    }

    // The longest n-grams, in order.
    void add(const Gram& gram) {
        int common = 0;
        while (common < depth_ && gram.words[common] == open_words_[common]) ++common;
        close(common);
        while (depth_ < order_ && gram.words[depth_]) open(gram.words[depth_]);
        Node& last = open_[depth_ - 1];
        last.count += gram.count;
        last.first = std::min(last.first, gram.first);
    }
    void finish(size_t words) {
        close(0);
        if (words_.size() < words) words_.resize(words), preceding_.resize(words);
    }

    int order() const { return order_; }
    const Sequence<Node>& nodes(int n) const { return nodes_[static_cast<size_t>(n) - 2]; }
    const std::vector<int64_t>& words() const { return words_; }          // counts
    const std::vector<int64_t>& preceding() const { return preceding_; }  // per word
    // The number of n-grams of a length with each adjusted count up to 5, and with each count up to
    // 9.
    const std::array<int64_t, 6>& adjusted(int n) const { return adjusted_[n]; }
    const std::array<int64_t, 10>& counts(int n) const { return counts_[n]; }

    // The number of n-grams of a length that occur at least `least` times.
    uint64_t count_at_least(int n, uint32_t least) const {
        if (least <= 1) return nodes(n).size();
        uint64_t total = 0;
        Sequence<Node>::Reader reader(nodes(n));
        for (Node node; reader.next(node);) total += node.count >= least;
        return total;
    }

  private:
    void open(uint32_t word) {
        open_words_[depth_] = word;
        Node& node = open_[depth_];
        node = {depth_ ? number(depth_) : 0, word - 1, 0, 0, UINT32_MAX};
        if (depth_) ++open_[depth_ - 1].adjusted;
        ++depth_;
    }
    // The number of the open n-gram of a length. 32 bits suffice, since texts have fewer words.
    uint32_t number(int n) const {
        return n == 1 ? open_[0].word : static_cast<uint32_t>(nodes(n).size());
    }
    void close(int depth) {
        while (depth_ > depth) {
            const int n = depth_--;
            Node& node = open_[n - 1];
            if (n > 1) {
                Node& parent = open_[n - 2];
                parent.count += node.count;
                parent.first = std::min(parent.first, node.first);
                if (n == order_ || node.word == BOS) node.adjusted = node.count;
                ++adjusted_[n][std::min<uint32_t>(node.adjusted, 5)];
                ++counts_[n][std::min<uint32_t>(node.count, 9)];
                nodes_[static_cast<size_t>(n) - 2].push(node);
            } else {
                words_.resize(node.word), preceding_.resize(node.word);
                words_.push_back(node.count), preceding_.push_back(node.adjusted);
            }
        }
    }

    const int order_;
    int depth_ = 0;  // open n-grams: of one word, of two, …
    Node open_[MAX_ORDER];
    uint32_t open_words_[MAX_ORDER];
    std::vector<Sequence<Node>> nodes_;
    std::vector<int64_t> words_, preceding_;
    std::vector<std::array<int64_t, 6>> adjusted_;
    std::vector<std::array<int64_t, 10>> counts_;
};

}  // namespace karat::lm
