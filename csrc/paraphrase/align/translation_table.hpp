// The translation probabilities of word pairs that co-occur in at least one sentence pair.
//
// Both directions share the pairs, because models that are trained to agree have the same expected
// counts c(e, f):  t(f|e) = c(e, f) / sum over f,  t(e|f) = c(e, f) / sum over e.
#pragma once
#include <cstdint>
#include <vector>

#include "paraphrase/align/exact_sums.hpp"
#include "paraphrase/align/pair_index.hpp"

namespace karat::paraphrase {

class TranslationTable {
  public:
    struct Entry {
        float forward, backward;  // t(pivot | source), t(source | pivot)
    };

    TranslationTable(const Bitext& text, int32_t source_words, int32_t pivot_words,
                     int64_t most_cells, Watch& watch)
        : index_(text, source_words, pivot_words, most_cells, watch),
          pivot_words_(pivot_words),
          entries_(index_.size(), {1.0f, 1.0f}),
          current_(entries_.data()),
          counts_(entries_.size()) {}

    // A part of a larger table. It counts, but does not update: the counts of all parts must be
    // summed first.
    TranslationTable(const Bitext& text, const int32_t* cells, const Entry* entries, size_t size)
        : index_(text, cells), pivot_words_(0), current_(entries), counts_(size) {}

    size_t size() const { return counts_.size(); }
    size_t bytes() const { return index_.bytes() + (sizeof(Entry) + 8) * size(); }
    const Entry& operator[](size_t at) const { return current_[at]; }
    void expect(size_t at, double value) { counts_.add(at, value); }
    const ExactSums& counts() const { return counts_; }
    const PairIndex& index() const { return index_; }

    // The M-step: counts become probabilities. A word without counts keeps its probabilities.
    void update() {
        const auto& rows = index_.rows();
        const auto& columns = index_.columns();
        std::vector<int64_t> of_pivot(pivot_words_, 0);
        for (size_t k = 0; k < size(); ++k) of_pivot[columns[k]] += counts_.fixed_point(k);
        for (size_t e = 0; e + 1 < rows.size(); ++e) {
            int64_t sum = 0;
            for (int64_t k = rows[e]; k < rows[e + 1]; ++k) sum += counts_.fixed_point(k);
            for (int64_t k = rows[e]; k < rows[e + 1]; ++k)
                entries_[k] =
                    estimate(counts_.fixed_point(k), sum, of_pivot[columns[k]], entries_[k]);
        }
        counts_.clear();
    }

    // The probabilities of a pair from its count and the counts of its two words, all integers.
    static Entry estimate(int64_t count, int64_t source, int64_t pivot, Entry held) {
        if (source > 0) held.forward = share(count, source);
        if (pivot > 0) held.backward = share(count, pivot);
        return held;
    }

  private:
    static float share(int64_t count, int64_t sum) {
        return static_cast<float>(static_cast<double>(count) / static_cast<double>(sum));
    }

    const PairIndex index_;
    const int32_t pivot_words_;
    std::vector<Entry> entries_;
    const Entry* const current_;
    ExactSums counts_;
};

}  // namespace karat::paraphrase
