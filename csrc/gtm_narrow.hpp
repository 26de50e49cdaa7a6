// The greedy matching of gtm_greedy.hpp on a grid of at most 64 rows, which most sentences have: a
// column is then one machine word, its hits are bits, and all of them are dealt with at once.
//
// Row i is bit 63 - i, so that of several rows the last one is the lowest bit, and going down a
// diagonal is going to the next column and one bit to the right. A row or column that is used loses
// its hits; so whatever hits are left are free.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "gtm_grid.hpp"
#include "ragged.hpp"

namespace karat::gtm {

class Narrow {
  public:
    // All ids are below `ids`.
    explicit Narrow(uint32_t ids) : rows_of_(ids, 0) {}

    // Many columns may have many runs, for which there are ways that need less memory.
    static bool fits(int64_t rows, int64_t columns) { return rows <= 64 && columns <= 1 << 16; }

    // The runs that are taken; those of two hits or more in the order in which they are taken.
    void match(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
               int64_t last, std::vector<Run>& taken) {
        taken.clear();
        set(candidate, length, references, first, last);
        maximal_runs();
        few_ = runs_.size() <= 16;
        if (!few_) std::make_heap(runs_.begin(), runs_.end());
        while (!runs_.empty()) take(run(pop()), taken);
        singles(taken);
    }

  private:
    using Key = uint64_t;  // length, row, column, the most important first: larger is earlier
    static constexpr uint64_t first_row = uint64_t{1} << 63;

    static Key key(int64_t row, int64_t column, int64_t length) {
        return static_cast<Key>(length) << 38 | static_cast<Key>(row) << 32 |
               static_cast<Key>(column);
    }
    static Run run(Key key) {
        return {static_cast<int32_t>(key >> 32 & 63), static_cast<int32_t>(key & 0xFFFFFFFFu),
                static_cast<int32_t>(key >> 38)};
    }

    void set(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
             int64_t last) {
        for (int64_t i = 0; i < length; ++i) rows_of_[candidate[i]] |= first_row >> i;
        hits_.resize(references.offsets[last] - references.offsets[first] + last - first);
        uint64_t* column = hits_.data();
        for (int64_t k = first; k < last; ++k) {
            const int32_t* const reference = references.begin(k);
            for (int64_t j = 0; j < references.length(k); ++j) *column++ = rows_of_[reference[j]];
            *column++ = 0;  // the barrier
        }
        for (int64_t i = 0; i < length; ++i) rows_of_[candidate[i]] = 0;
        rows_free_ = ~uint64_t{0};
    }

    // All maximal runs of two hits or more: where a hit has one after it and none before it.
    void maximal_runs() {
        runs_.clear();
        uint64_t before = 0;
        for (size_t j = 0; j + 1 < hits_.size(); ++j) {
            uint64_t starts = hits_[j] & hits_[j + 1] << 1 & ~(before >> 1);
            before = hits_[j];
            for (; starts; starts &= starts - 1) {
                const int bit = lowest(starts);
                runs_.push_back(key(63 - bit, static_cast<int64_t>(j), run_from(bit, j)));
            }
        }
    }

    int64_t run_from(int bit, size_t j) const {
        size_t k = j;
        for (uint64_t row = uint64_t{1} << bit; row & hits_[k]; row >>= 1) ++k;  // barriers stop it
        return static_cast<int64_t>(k - j);
    }

    // The first of all runs that are left. Few are looked through, which is faster than a heap.
    Key pop() {
        if (few_) return pop_of_few();
        std::pop_heap(runs_.begin(), runs_.end());
        const Key found = runs_.back();
        runs_.pop_back();
        return found;
    }

    Key pop_of_few() {
        size_t at = 0;
        Key found = runs_[0];
        for (size_t k = 1; k < runs_.size(); ++k) {
            const bool larger = runs_[k] > found;
            found = larger ? runs_[k] : found;
            at = larger ? k : at;
        }
        runs_[at] = runs_.back();
        runs_.pop_back();
        return found;
    }

    void push(int32_t row, int32_t column, int32_t length) {
        if (length < 2) return;
        runs_.push_back(key(row, column, length));
        if (!few_) std::push_heap(runs_.begin(), runs_.end());
    }

    // A run that is free is taken; otherwise its free pieces take their place further back.
    void take(const Run& run, std::vector<Run>& taken) {
        uint64_t row = first_row >> run.row;
        int32_t length = 0;  // of the free piece that ends here
        for (int32_t k = 0; k < run.length; ++k, row >>= 1) {
            if (hits_[run.column + k] & rows_free_ & row) {
                ++length;
                continue;
            }
            push(run.row + k - length, run.column + k - length, length);
            length = 0;
        }
        const int32_t at = run.length - length;
        if (at) return push(run.row + at, run.column + at, length);
        taken.push_back(run);
        std::fill_n(hits_.begin() + run.column, length, 0);
        rows_free_ &= ~(~uint64_t{0} << (64 - length) >> run.row);
    }

    // Every column from the last takes the last free row of its word. That makes the same pairs as
    // every row's taking the last free column. No branch depends on whether there is a row.
    void singles(std::vector<Run>& taken) {
        Run found[65];
        size_t count = 0;
        uint64_t free = rows_free_;
        for (size_t j = hits_.size(); j-- > 0;) {
            const uint64_t rows = hits_[j] & free;
            found[count] = {63 - lowest(rows | first_row), static_cast<int32_t>(j), 1};
            count += rows != 0;
            free ^= rows & (~rows + 1);
        }
        taken.insert(taken.end(), found, found + count);
    }

    std::vector<uint64_t> rows_of_;  // of each id: its rows; empty between two calls
    std::vector<uint64_t> hits_;     // of each column: the rows it has hits in
    std::vector<Key> runs_;          // still to be looked at; a heap unless there are few
    bool few_ = true;
    uint64_t rows_free_ = 0;
};

}  // namespace karat::gtm
