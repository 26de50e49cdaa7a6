// The greedy matching (greedy_matching.hpp) on a grid of at most 64 rows, enough for most
// sentences: a column is one machine word, its hits are bits, and all of them are processed at
// once.
//
// The first row or column is the highest bit, so that the last of several is the lowest bit, and
// one step down a diagonal is the next column shifted right by one bit. Free rows and columns are
// bit sets too, so all cells of a run are tested at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bits.hpp"
#include "core/ragged.hpp"
#include "metrics/gtm/grid.hpp"

namespace karat::gtm {

class Narrow {
  public:
    // All ids are below `ids`.
    explicit Narrow(uint32_t ids) : rows_of_(ids, 0) {}

    // Grids with many columns may have many runs; other algorithms need less memory for them.
    static bool fits(int64_t rows, int64_t columns) { return rows <= 64 && columns <= 1 << 16; }

    // `taken.run(run)` receives every run of two hits or more in the order in which they are taken,
    // and `taken.singles(runs, count)` the runs of one hit.
    template <class Taken>
    void match(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
               int64_t last, Taken& sink) {
        make_room(references.offsets[last] - references.offsets[first] + last - first);
        set(candidate, length, references, first, last);
        maximal_runs();
        is_short_ = runs_.size() <= 16;
        if (!is_short_) std::make_heap(runs_.begin(), runs_.end());
        while (!runs_.empty()) take(run(pop()), sink);
        singles(sink);
    }

  private:
    using Key = uint64_t;  // length, row, column, from the highest bits: larger is earlier
    static constexpr uint64_t first_bit = uint64_t{1} << 63, all_bits = ~uint64_t{0};

    static Key key(int64_t row, int64_t column, int64_t length) {
        return static_cast<Key>(length) << 38 | static_cast<Key>(row) << 32 |
               static_cast<Key>(column);
    }
    static Run run(Key key) {
        return {static_cast<int32_t>(key >> 32 & 63), static_cast<int32_t>(key & 0xFFFFFFFFu),
                static_cast<int32_t>(key >> 38)};
    }

    // Marks all rows and columns as free; bits beyond the last column stay 0.
    void make_room(int64_t columns) {
        const auto n = static_cast<size_t>(columns), words = n / 64;
        if (n >= hits_.size()) {
            hits_.resize(2 * n + 64);
            starts_.resize(2 * n + 64);
        }
        columns_free_.assign(words + 2, 0);
        std::fill_n(columns_free_.begin(), words, all_bits);
        columns_free_[words] = ~(all_bits >> n % 64);
        rows_free_ = all_bits;
    }

    // The hits of every column, and the columns in which maximal runs of two hits or more start: a
    // hit followed by a hit and not preceded by one. The loop is branch-free.
    void set(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
             int64_t last) {
        for (int64_t i = 0; i < length; ++i) rows_of_[candidate[i]] |= first_bit >> i;
        uint64_t* const hits = hits_.data() + 1;  // preceded by a column without hits
        int32_t *starts = starts_.data(), column = 0;
        for (int64_t k = first; k < last; ++k) {
            uint64_t before = 0, current = 0;  // hits of the last two columns
            const int32_t* const reference = references.begin(k);
            for (int64_t j = 0, n = references.length(k); j < n; ++j) {
                const uint64_t next = rows_of_[reference[j]];
                *starts = column - 1;
                starts += (current & next << 1 & ~(before >> 1)) != 0;
                hits[column++] = next;
                before = current;
                current = next;
            }
            hits[column++] = 0;  // the barrier
        }
        starts_end_ = starts - starts_.data();
        for (int64_t i = 0; i < length; ++i) rows_of_[candidate[i]] = 0;
    }

    void maximal_runs() {
        runs_.clear();
        const uint64_t* const hits = hits_.data() + 1;
        for (int64_t k = 0; k < starts_end_; ++k) {
            const int64_t j = starts_[k];
            uint64_t starts = hits[j] & hits[j + 1] << 1 & ~(hits[j - 1] >> 1);
            for (; starts; starts &= starts - 1) {
                const int bit = lowest(starts);
                runs_.push_back(key(63 - bit, j, run_from(bit, hits + j)));
            }
        }
    }

    // The length of the run, at least two hits, that starts at a row's bit.
    static int64_t run_from(int bit, const uint64_t* hits) {
        int64_t length = 2;
        for (uint64_t row = uint64_t{1} << bit >> 2; row & hits[length]; row >>= 1) ++length;
        return length;  // a barrier always ends it
    }

    // The first of the remaining runs. A linear scan is faster than a heap if there are few.
    Key pop() {
        if (is_short_) return pop_of_few();
        std::pop_heap(runs_.begin(), runs_.end());
        const Key key = runs_.back();
        runs_.pop_back();
        return key;
    }

    Key pop_of_few() {
        size_t at = 0;
        Key largest = runs_[0];
        for (size_t k = 1; k < runs_.size(); ++k) {
            const bool larger = runs_[k] > largest;
            largest = larger ? runs_[k] : largest;
            at = larger ? k : at;
        }
        runs_[at] = runs_.back();
        runs_.pop_back();
        return largest;
    }

    void push(int32_t row, int32_t column, int32_t length) {
        if (length < 2) return;
        runs_.push_back(key(row, column, length));
        if (!is_short_) std::push_heap(runs_.begin(), runs_.end());
    }

    // Takes a run if it is free; otherwise queues its free pieces.
    template <class Taken>
    void take(const Run& run, Taken& sink) {
        uint64_t* const word = &columns_free_[run.column / 64];
        const int shift = run.column % 64;
        const uint64_t columns = word[0] << shift | word[1] >> 1 >> (63 - shift);
        const uint64_t all = all_bits << (64 - run.length);
        const uint64_t free = columns & rows_free_ << run.row & all;
        if (free != all) return push_pieces(run, free);
        sink.run(run);
        rows_free_ &= ~(all >> run.row);
        word[0] &= ~(all >> shift);
        word[1] &= ~(all << 1 << (63 - shift));
    }

    void push_pieces(const Run& run, uint64_t free) {
        int32_t length = 0;  // of the free piece that ends here
        for (int32_t k = 0; k < run.length; ++k, free <<= 1) {
            if (free & first_bit) {
                ++length;
                continue;
            }
            push(run.row + k - length, run.column + k - length, length);
            length = 0;
        }
        const int32_t at = run.length - length;
        push(run.row + at, run.column + at, length);
    }

    // Every column, from the last, takes the last free row of its word. The pairs are the same as
    // if every row took the last free column. The loop is branch-free.
    template <class Taken>
    void singles(Taken& sink) {
        Run cells[65];
        size_t count = 0;
        uint64_t free = rows_free_;
        for (size_t word = columns_free_.size() - 1; word-- > 0;) {
            const uint64_t* const hits = hits_.data() + 1 + 64 * word;
            for (uint64_t left = columns_free_[word]; left; left &= left - 1) {
                const int at = 63 - lowest(left);
                const uint64_t rows = hits[at] & free;
                cells[count] = {63 - lowest(rows | first_bit), static_cast<int32_t>(64 * word) + at,
                                1};
                count += rows != 0;
                free ^= rows & (~rows + 1);
            }
        }
        sink.singles(cells, count);
    }

    std::vector<uint64_t> rows_of_;       // rows of each id; all zero between calls
    std::vector<uint64_t> hits_;          // rows of each column, with an offset of one
    std::vector<int32_t> starts_;         // columns where runs start; has a spare entry
    int64_t starts_end_ = 0;              // how many there are
    std::vector<uint64_t> columns_free_;  // with one spare word, always 0
    std::vector<Key> runs_;               // runs to process; a heap unless there are few
    bool is_short_ = true;
    uint64_t rows_free_ = 0;
};

}  // namespace karat::gtm
