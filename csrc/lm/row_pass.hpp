// The n-grams of one length as sorted rows of words, as in ARPA files.
#pragma once
#include <vector>

#include "lm/suffix_levels.hpp"

namespace karat::lm {

struct Row {
    uint32_t words[MAX_ORDER];  // the rest is 0
    float log, backoff;
    uint64_t key() const { return static_cast<uint64_t>(words[0]) << 32 | words[1]; }
    bool operator<(const Row& other) const {
        return std::lexicographical_compare(words, words + MAX_ORDER, other.words,
                                            other.words + MAX_ORDER);
    }
};

class RowPass {
  public:
    // The n-grams of a length (two or more) that occur at least `least` times.
    RowPass(Scratch& scratch, const SuffixLevels& levels, int n, uint32_t least, size_t bytes,
            const Sequence<float>& logs, const Sequence<float>& backoffs, Watch& watch)
        : n_(n), rows_(scratch, bytes) {
        Sequence<float>::Reader log_of(logs), backoff_of(backoffs);
        std::vector<Sequence<Node>::Reader> nodes;  // of two words, of three, …
        for (int k = 2; k <= n; ++k) nodes.emplace_back(levels.nodes(k));
        std::vector<Node> open(nodes.size());
        std::vector<uint32_t> numbers(nodes.size(), UINT32_MAX);
        while (nodes.back().next(open.back())) {
            for (size_t k = open.size() - 1; k--;)
                for (; numbers[k] != open[k + 1].parent; ++numbers[k]) nodes[k].next(open[k]);
            Row row{};
            log_of.next(row.log);
            backoff_of.next(row.backoff);
            row.backoff += 0.0f;  // turns -0.0, the mark NO_CONTEXT, into 0.0
            for (size_t k = 0; k < open.size(); ++k) row.words[k] = open[open.size() - 1 - k].word;
            row.words[open.size()] = open[0].parent;
            if (open.back().count >= least) rows_.add(row, watch);
            watch.worked(48);
        }
        rows_.finish(watch);
    }

    int length() const { return n_; }
    uint64_t size() const { return rows_.size(); }
    bool next(Row& row) { return rows_.next(row); }

  private:
    const int n_;
    Sorter<Row> rows_;
};

}  // namespace karat::lm
