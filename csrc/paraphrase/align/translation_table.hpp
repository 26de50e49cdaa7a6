// The translation probabilities of word pairs that stand together in some sentence pair, and only
// of those: row e holds the pivot words that occur beside e, in order.
//
// Both directions share the rows, because models that are trained to agree have the same expected
// counts c(e, f):  t(f|e) = c(e, f) / sum over f,  t(e|f) = c(e, f) / sum over e.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "paraphrase/align/word_pairs.hpp"

namespace karat::paraphrase {

// Expectations as whole numbers of 2^-32: their sum is the same in any order, so that threads may
// add to one table as they come.
class ExactSums {
  public:
    explicit ExactSums(size_t size) : size_(size), sums_(new std::atomic<int64_t>[size]) {
        clear();
    }
    void add(size_t at, double value) {
        const auto whole = static_cast<int64_t>(value * one + 0.5);
        if (whole) sums_[at].fetch_add(whole, std::memory_order_relaxed);
    }
    int64_t whole(size_t at) const { return sums_[at].load(std::memory_order_relaxed); }
    void clear() {
        for (size_t i = 0; i < size_; ++i) sums_[i].store(0, std::memory_order_relaxed);
    }

    size_t size() const { return size_; }

  private:
    static constexpr double one = 4294967296.0;
    const size_t size_;
    std::unique_ptr<std::atomic<int64_t>[]> sums_;
};

class TranslationTable {
  public:
    struct Entry {
        float forward, backward;  // t(pivot | source), t(source | pivot)
    };

    // The table of all word pairs of a text. Where every cell of every sentence pair finds its
    // entry is kept if there are at most `most_cells`; otherwise it is looked for each time.
    TranslationTable(const Bitext& text, int32_t source_words, int32_t pivot_words,
                     int64_t most_cells, Watch& watch)
        : text_(text), pivot_words_(pivot_words),
          pairs_(text, source_words, pivot_words, text.all_cells() <= most_cells, watch),
          starts_(text.starts()), entries_(pairs_.columns.size(), {1.0f, 1.0f}),
          cells_(pairs_.cells.empty() ? nullptr : pairs_.cells.data()), given_(entries_.data()),
          counts_(entries_.size()) {}

    // A part of a larger table for a part of its text: where cells find their entries is given. It
    // counts, but does not update: the counts of all parts must first be added up.
    TranslationTable(const Bitext& text, const int32_t* cells, const Entry* entries, size_t size)
        : text_(text), pivot_words_(0), starts_(text.starts()), cells_(cells), given_(entries),
          counts_(size) {}

    size_t size() const { return counts_.size(); }
    size_t bytes() const {
        return 4 * (pairs_.cells.size() + pairs_.columns.size()) +
               8 * (pairs_.rows.size() + starts_.size()) + (sizeof(Entry) + 8) * size();
    }
    const Entry& operator[](size_t at) const { return given_[at]; }
    void expect(size_t at, double value) { counts_.add(at, value); }
    const ExactSums& counts() const { return counts_; }

    // The entries of a sentence pair's cells, one row of pivot words for each source word; `held`
    // is used where they are not known.
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
        const auto found = std::lower_bound(first, last, f);
        return found == last || *found != f ? -1 : static_cast<int32_t>(found - columns.begin());
    }

    // The M-step: counts become probabilities. A word without counts keeps what it had.
    void update() {
        const auto& rows = pairs_.rows;
        const auto& columns = pairs_.columns;
        std::vector<int64_t> of_pivot(pivot_words_, 0);
        for (size_t k = 0; k < size(); ++k) of_pivot[columns[k]] += counts_.whole(k);
        for (size_t e = 0; e + 1 < rows.size(); ++e) {
            int64_t sum = 0;
            for (int64_t k = rows[e]; k < rows[e + 1]; ++k) sum += counts_.whole(k);
            for (int64_t k = rows[e]; k < rows[e + 1]; ++k)
                entries_[k] = estimate(counts_.whole(k), sum, of_pivot[columns[k]], entries_[k]);
        }
        counts_.clear();
    }

    // The probabilities of a pair from its count and those of its two words, all whole numbers.
    static Entry estimate(int64_t count, int64_t source, int64_t pivot, Entry held) {
        if (source > 0) held.forward = share(count, source);
        if (pivot > 0) held.backward = share(count, pivot);
        return held;
    }

  private:
    static float share(int64_t count, int64_t sum) {
        return static_cast<float>(static_cast<double>(count) / static_cast<double>(sum));
    }

    const Bitext text_;
    const int32_t pivot_words_;
    const WordPairs pairs_;
    const std::vector<int64_t> starts_;
    std::vector<Entry> entries_;
    const int32_t* const cells_;  // null if they are looked for
    const Entry* const given_;
    ExactSums counts_;
};

}  // namespace karat::paraphrase
