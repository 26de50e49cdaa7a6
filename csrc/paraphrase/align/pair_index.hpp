// Maps every cell (a pair of words in a sentence pair) to its entry in a table of word pairs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "paraphrase/align/word_pairs.hpp"

namespace karat::paraphrase {

class PairIndex {
  public:
    // All word pairs of a text. The entries of cells are stored if there are at most `most_cells`;
    // otherwise they are looked up each time.
    PairIndex(const Bitext& text, int32_t source_words, int32_t pivot_words, int64_t most_cells,
              Watch& watch)
        : text_(text),
          pairs_(text, source_words, pivot_words, text.all_cells() <= most_cells, watch),
          starts_(text.starts()), cells_(pairs_.cells.empty() ? nullptr : pairs_.cells.data()) {}

    // A part of a larger table for a part of its text: the entries of cells are given.
    PairIndex(const Bitext& text, const int32_t* cells)
        : text_(text), starts_(text.starts()), cells_(cells) {}

    const std::vector<int64_t>& rows() const { return pairs_.rows; }
    const std::vector<int32_t>& columns() const { return pairs_.columns; }
    size_t size() const { return pairs_.columns.size(); }
    size_t bytes() const {
        return 4 * (pairs_.cells.size() + pairs_.columns.size()) +
               8 * (pairs_.rows.size() + starts_.size());
    }

    // The start of each sentence pair's cells, and the end of the last.
    int64_t start(int64_t s) const { return starts_[s]; }

    // The entries of a sentence pair's cells, one row of pivot words for each source word; `held`
    // is a buffer for entries that are not stored.
    const int32_t* cells(int64_t s, std::vector<int32_t>& held) const {
        if (cells_) return cells_ + starts_[s];
        const int64_t n = text_.source.length(s), m = text_.pivot.length(s);
        held.resize(n * m);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < m; ++j)
                held[i * m + j] = find(text_.source.begin(s)[i], text_.pivot.begin(s)[j]);
        return held.data();
    }

    // The entry of a pair of words, or -1.
    int32_t find(int32_t e, int32_t f) const {
        const auto& columns = pairs_.columns;
        const auto first = columns.begin() + pairs_.rows[e];
        const auto last = columns.begin() + pairs_.rows[e + 1];
        const auto position = std::lower_bound(first, last, f);
        return position == last || *position != f
                   ? -1
                   : static_cast<int32_t>(position - columns.begin());
    }

  private:
    const Bitext text_;
    const WordPairs pairs_;
    const std::vector<int64_t> starts_;
    const int32_t* const cells_;  // null if entries are looked up
};

}  // namespace karat::paraphrase
