// A cheap upper bound from the lengths of runs and the counts of words.
//
// A hit in a run of length l counts l^(e-1), at most L^(e-1) for the longest run L through its row,
// and through its column. A word that occurs a times in the candidate and b times in the references
// has at most min(a, b) hits; the k-th best of them is bounded by the word's k-th best row and by
// its k-th best column. At most `cap` hits count, and no run counts more than the cap. Hits are
// never enumerated, so this works on texts of any size.
#pragma once
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "metrics/gtm/grid.hpp"
#include "metrics/gtm/levels.hpp"

namespace karat::gtm {

class Reach {
  public:
    std::vector<int32_t> row, column;  // the longest run through each; 0 without hits

    // From the maximal runs of two hits and more.
    void from_runs(const Grid& grid, const std::vector<Run>& runs) {
        row.resize(grid.rows());
        for (int32_t i = 0; i < grid.rows(); ++i)
            row[i] = grid.in_references(grid.row_word(i)) ? 1 : 0;
        column.resize(grid.columns());
        for (int32_t j = 0; j < grid.columns(); ++j) column[j] = grid.column_word(j) ? 1 : 0;
        for (const Run& run : runs)
            for (int32_t k = 0; k < run.length; ++k) {
                row[run.row + k] = std::max(row[run.row + k], run.length);
                column[run.column + k] = std::max(column[run.column + k], run.length);
            }
    }

    // From a suffix array, if there are too many runs.
    void from_windows(const Grid& grid, Watch& watch) {
        Windows windows;
        windows.set(grid, watch);
        std::vector<int32_t> from, through(windows.size());
        windows.longest(from);
        std::priority_queue<std::pair<int32_t, int32_t>> open;  // length and start
        for (int32_t i = 0; i < windows.size(); ++i) {
            if (from[i]) open.push({from[i], i});
            while (!open.empty() && open.top().second + open.top().first <= i) open.pop();
            through[i] = open.empty() ? 0 : open.top().first;
        }
        row.assign(through.begin(), through.begin() + grid.rows());
        column.assign(through.begin() + grid.rows() + 1, through.end());
    }

    double bound(const Grid& grid, double cap, const Power& power) {
        lengths_.clear();
        group_rows(grid);
        for (int32_t w = 1; w <= grid.words(); ++w) {
            const int32_t most = std::min(grid.in_candidate(w), grid.in_references(w));
            if (most) add_word(grid, w, most);
        }
        std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
        double sum = 0, left = cap;
        for (const int32_t length : lengths_) {
            if (left <= 0) break;
            const double most = std::min(static_cast<double>(length), cap);
            sum += power(most) / most * std::min(1.0, left);
            left -= 1;
        }
        return sum;
    }

  private:
    void group_rows(const Grid& grid) {
        starts_.assign(grid.words() + 2, 0);
        for (int32_t i = 0; i < grid.rows(); ++i) ++starts_[grid.row_word(i) + 1];
        for (int32_t w = 1; w <= grid.words() + 1; ++w) starts_[w] += starts_[w - 1];
        by_word_.resize(grid.rows());
        next_ = starts_;
        for (int32_t i = 0; i < grid.rows(); ++i) by_word_[next_[grid.row_word(i)]++] = row[i];
    }

    // The lengths that bound this word's hits, longest first.
    void add_word(const Grid& grid, int32_t w, int32_t most) {
        row_reach_.assign(by_word_.begin() + starts_[w], by_word_.begin() + starts_[w + 1]);
        column_reach_.clear();
        for (int32_t j = grid.last(w); j >= 0; j = grid.before(j))
            column_reach_.push_back(column[j]);
        for (auto* side : {&row_reach_, &column_reach_})
            std::sort(side->begin(), side->end(), std::greater<>());
        for (int32_t k = 0; k < most; ++k)
            lengths_.push_back(std::min(row_reach_[k], column_reach_[k]));
    }

    std::vector<int32_t> lengths_, row_reach_, column_reach_, by_word_, starts_, next_;
};

}  // namespace karat::gtm
