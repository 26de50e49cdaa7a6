// The pairs of words that co-occur in some sentence pair of two texts: row e contains the pivot
// words that co-occur with e, in order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/ragged.hpp"
#include "core/watch.hpp"

namespace karat::paraphrase {

// Two texts side by side. Sentence pairs with an empty or too long side are ignored.
struct Bitext {
    Ragged source, pivot;
    int64_t size;
    int64_t longest;

    bool takes_part(int64_t s) const {
        const int64_t n = source.length(s), m = pivot.length(s);
        return n && m && n <= longest && m <= longest;
    }
    // The number of words of the longer side.
    int64_t words() const {
        return std::max(source.offsets[size], pivot.offsets[size]);
    }
    int64_t cells(int64_t s) const {
        return takes_part(s) ? source.length(s) * pivot.length(s) : 0;
    }
    int64_t all_cells() const {
        int64_t sum = 0;
        for (int64_t s = 0; s < size; ++s) sum += cells(s);
        return sum;
    }
    // The start of each sentence pair's cells, and the end of the last.
    std::vector<int64_t> starts() const {
        std::vector<int64_t> first_cells(size + 1, 0);
        for (int64_t s = 0; s < size; ++s) first_cells[s + 1] = first_cells[s] + cells(s);
        return first_cells;
    }
};

class WordPairs {
  public:
    std::vector<int64_t> rows;     // start of each source word's pivot words
    std::vector<int32_t> columns;  // those pivot words
    std::vector<int32_t> cells;    // pair of every cell of every sentence pair, optional

    WordPairs() = default;
    WordPairs(const Bitext& text, int32_t source_words, int32_t pivot_words, bool with_cells,
              Watch& watch)
        : rows(source_words + 1, 0), text_(text) {
        if (with_cells) {
            starts_ = text.starts();
            cells.resize(starts_.back());
        }
        fill(source_words, pivot_words, with_cells, watch);
        starts_ = {};
    }

  private:
    static constexpr int64_t steps_of_cell = 4;  // random memory access

    struct Place {
        int64_t sentence;
        int32_t position;
    };

    void fill(int32_t source_words, int32_t pivot_words, bool with_cells, Watch& watch) {
        std::vector<int64_t> first(source_words + 1, 0);
        const std::vector<Place> places = by_word(first);
        std::vector<int32_t> entry(pivot_words, -1), seen_by(pivot_words, -1);
        for (int32_t e = 0; e < source_words; ++e) {
            for (int64_t k = first[e]; k < first[e + 1]; ++k) {
                see(e, places[k].sentence, seen_by);
                watch.worked(steps_of_cell * text_.pivot.length(places[k].sentence));
            }
            std::sort(columns.begin() + rows[e], columns.end());
            if (columns.size() > INT32_MAX)
                throw std::length_error("more than 2^31 pairs of words co-occur");
            rows[e + 1] = static_cast<int64_t>(columns.size());
            if (!with_cells) continue;
            for (int64_t k = rows[e]; k < rows[e + 1]; ++k)
                entry[columns[k]] = static_cast<int32_t>(k);
            for (int64_t k = first[e]; k < first[e + 1]; ++k) {
                point(places[k], entry);
                watch.worked(steps_of_cell * text_.pivot.length(places[k].sentence));
            }
        }
    }

    // Every position of every source word; word e has first[e] to first[e + 1].
    std::vector<Place> by_word(std::vector<int64_t>& first) const {
        each_place([&](int32_t e, const Place&) { ++first[e + 1]; });
        for (size_t e = 1; e < first.size(); ++e) first[e] += first[e - 1];
        std::vector<Place> places(first.back());
        std::vector<int64_t> next(first.begin(), first.end() - 1);
        each_place([&](int32_t e, const Place& place) { places[next[e]++] = place; });
        return places;
    }

    template <class Found>
    void each_place(Found visit) const {
        for (int64_t s = 0; s < text_.size; ++s) {
            if (!text_.takes_part(s)) continue;
            const int64_t n = text_.source.length(s);
            for (int64_t i = 0; i < n; ++i)
                visit(text_.source.begin(s)[i], Place{s, static_cast<int32_t>(i)});
        }
    }

    void see(int32_t e, int64_t s, std::vector<int32_t>& seen_by) {
        const int32_t* const f = text_.pivot.begin(s);
        for (int64_t j = 0; j < text_.pivot.length(s); ++j) {
            if (seen_by[f[j]] == e) continue;
            seen_by[f[j]] = e;
            columns.push_back(f[j]);
        }
    }

    void point(const Place& place, const std::vector<int32_t>& entry) {
        const int32_t* const f = text_.pivot.begin(place.sentence);
        const int64_t m = text_.pivot.length(place.sentence);
        int32_t* const row = cells.data() + starts_[place.sentence] + place.position * m;
        for (int64_t j = 0; j < m; ++j) row[j] = entry[f[j]];
    }

    Bitext text_{};
    std::vector<int64_t> starts_;
};

}  // namespace karat::paraphrase
