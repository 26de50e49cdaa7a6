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

#include "core/ragged.hpp"
#include "core/watch.hpp"

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
    double get(size_t at) const {
        return static_cast<double>(sums_[at].load(std::memory_order_relaxed)) / one;
    }
    void clear() {
        for (size_t i = 0; i < size_; ++i) sums_[i].store(0, std::memory_order_relaxed);
    }

  private:
    static constexpr double one = 4294967296.0;
    const size_t size_;
    std::unique_ptr<std::atomic<int64_t>[]> sums_;
};

// Two texts side by side. Pairs with an empty side or with too long a side take no part.
struct Bitext {
    Ragged source, pivot;
    int64_t size;
    int64_t longest;

    bool takes_part(int64_t s) const {
        const int64_t n = source.length(s), m = pivot.length(s);
        return n && m && n <= longest && m <= longest;
    }
    int64_t cells(int64_t s) const {
        return takes_part(s) ? source.length(s) * pivot.length(s) : 0;
    }
};

class TranslationTable {
  public:
    struct Entry {
        float forward, backward;  // t(pivot | source), t(source | pivot)
    };

    // Where every cell of every sentence pair finds its entry is kept if there are at most
    // `most_cells`; otherwise it is looked for each time.
    TranslationTable(const Bitext& text, int32_t source_words, int32_t pivot_words,
                     int64_t most_cells, Watch& watch)
        : text_(text), pivot_words_(pivot_words), rows_(source_words + 1, 0),
          starts_(text.size + 1, 0) {
        for (int64_t s = 0; s < text.size; ++s) starts_[s + 1] = starts_[s] + text.cells(s);
        if (starts_[text.size] <= most_cells) cells_.resize(starts_[text.size]);
        fill(source_words, watch);
        entries_.assign(columns_.size(), {1.0f, 1.0f});
        counts_ = std::make_unique<ExactSums>(columns_.size());
    }

    size_t size() const { return entries_.size(); }
    size_t bytes() const {
        return 4 * (cells_.size() + columns_.size()) + 8 * (rows_.size() + starts_.size()) +
               (sizeof(Entry) + 8) * entries_.size();
    }
    const Entry& operator[](size_t at) const { return entries_[at]; }
    void expect(size_t at, double value) { counts_->add(at, value); }

    // The entries of a sentence pair's cells, one row of pivot words for each source word; `held`
    // is used where they are not known.
    const int32_t* cells(int64_t s, std::vector<int32_t>& held) const {
        if (!cells_.empty()) return cells_.data() + starts_[s];
        const int64_t n = text_.source.length(s), m = text_.pivot.length(s);
        held.resize(n * m);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < m; ++j)
                held[i * m + j] = find(text_.source.begin(s)[i], text_.pivot.begin(s)[j]);
        return held.data();
    }

    // The entry of a pair of words, or -1.
    int32_t find(int32_t e, int32_t f) const {
        const auto first = columns_.begin() + rows_[e], last = columns_.begin() + rows_[e + 1];
        const auto found = std::lower_bound(first, last, f);
        return found == last || *found != f ? -1 : static_cast<int32_t>(found - columns_.begin());
    }

    // The M-step: counts become probabilities. A word without counts keeps what it had.
    void update() {
        std::vector<double> columns(pivot_words_, 0.0);
        for (size_t k = 0; k < size(); ++k) columns[columns_[k]] += counts_->get(k);
        for (size_t e = 0; e + 1 < rows_.size(); ++e) {
            double sum = 0;
            for (int64_t k = rows_[e]; k < rows_[e + 1]; ++k) sum += counts_->get(k);
            for (int64_t k = rows_[e]; k < rows_[e + 1]; ++k) {
                const double count = counts_->get(k), column = columns[columns_[k]];
                if (sum > 0) entries_[k].forward = static_cast<float>(count / sum);
                if (column > 0) entries_[k].backward = static_cast<float>(count / column);
            }
        }
        counts_->clear();
    }

  private:
    static constexpr int64_t steps_of_cell = 4;  // cells lie far apart in memory

    struct Place {
        int64_t sentence;
        int32_t position;
    };

    void fill(int32_t source_words, Watch& watch) {
        std::vector<int64_t> first(source_words + 1, 0);
        const std::vector<Place> places = by_word(first);
        std::vector<int32_t> entry(pivot_words_, -1), seen_by(pivot_words_, -1);
        for (int32_t e = 0; e < source_words; ++e) {
            for (int64_t k = first[e]; k < first[e + 1]; ++k) {
                see(e, places[k].sentence, seen_by);
                watch.worked(steps_of_cell * text_.pivot.length(places[k].sentence));
            }
            std::sort(columns_.begin() + rows_[e], columns_.end());
            if (columns_.size() > INT32_MAX)
                throw std::length_error("more than 2^31 pairs of words stand together");
            rows_[e + 1] = static_cast<int64_t>(columns_.size());
            if (cells_.empty()) continue;
            for (int64_t k = rows_[e]; k < rows_[e + 1]; ++k)
                entry[columns_[k]] = static_cast<int32_t>(k);
            for (int64_t k = first[e]; k < first[e + 1]; ++k) {
                point(places[k], entry);
                watch.worked(steps_of_cell * text_.pivot.length(places[k].sentence));
            }
        }
    }

    // Every place of every source word, those of word e from first[e] to first[e + 1].
    std::vector<Place> by_word(std::vector<int64_t>& first) const {
        each_place([&](int32_t e, const Place&) { ++first[e + 1]; });
        for (size_t e = 1; e < first.size(); ++e) first[e] += first[e - 1];
        std::vector<Place> places(first.back());
        std::vector<int64_t> next(first.begin(), first.end() - 1);
        each_place([&](int32_t e, const Place& place) { places[next[e]++] = place; });
        return places;
    }

    template <class Found>
    void each_place(Found found) const {
        for (int64_t s = 0; s < text_.size; ++s) {
            if (!text_.takes_part(s)) continue;
            const int64_t n = text_.source.length(s);
            for (int64_t i = 0; i < n; ++i)
                found(text_.source.begin(s)[i], Place{s, static_cast<int32_t>(i)});
        }
    }

    void see(int32_t e, int64_t s, std::vector<int32_t>& seen_by) {
        const int32_t* const f = text_.pivot.begin(s);
        for (int64_t j = 0; j < text_.pivot.length(s); ++j) {
            if (seen_by[f[j]] == e) continue;
            seen_by[f[j]] = e;
            columns_.push_back(f[j]);
        }
    }

    void point(const Place& place, const std::vector<int32_t>& entry) {
        const int32_t* const f = text_.pivot.begin(place.sentence);
        const int64_t m = text_.pivot.length(place.sentence);
        int32_t* const row = cells_.data() + starts_[place.sentence] + place.position * m;
        for (int64_t j = 0; j < m; ++j) row[j] = entry[f[j]];
    }

    const Bitext text_;
    const int32_t pivot_words_;
    std::vector<int64_t> rows_, starts_;
    std::vector<int32_t> columns_, cells_;
    std::vector<Entry> entries_;
    std::unique_ptr<ExactSums> counts_;
};

}  // namespace karat::paraphrase
