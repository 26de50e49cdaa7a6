// The matching of GTM 1.4: repeatedly take the longest run that conflicts with no earlier one;
// among runs of equal length, the one whose start has the largest row * W + column.
//
// The definition considers all runs at all hits, cubically many. But when length L is reached, no
// longer run is free, so the free runs of length L are maximal: it is enough to keep maximal runs
// in this order, and to split a conflicting run into its free pieces, which are shorter and are
// queued again. Runs of one hit are never queued: at the end every free row takes the last free
// column of its word.
#pragma once
#include <algorithm>
#include <vector>

#include "metrics/gtm/grid.hpp"
#include "metrics/gtm/levels.hpp"

namespace karat::gtm {

class Greedy {
  public:
    // Above this many hits, runs are found through a suffix array instead of one by one.
    double most_hits = 1 << 23;  // a double, so that it can be infinite

    // The taken runs, in the order in which they are taken, which is sorted.
    void match(const Grid& grid, std::vector<Run>& runs, Watch& watch) {
        runs.clear();
        row_free_.assign(grid.rows(), 1);
        column_free_.assign(grid.columns(), 1);
        if (static_cast<double>(grid.hits()) > most_hits) {
            levels_.match(grid, row_free_, column_free_, runs, watch);
        } else {
            grid.maximal_runs(heap_, watch);
            std::make_heap(heap_.begin(), heap_.end(), after);
            while (!heap_.empty()) {
                const Run run = pop();
                watch.worked(looking + run.length);
                take(run, runs);
            }
        }
        singles(grid, runs);
    }

  private:
    static constexpr int64_t looking = 64;  // steps for each run that is taken from the heap

    Run pop() {
        std::pop_heap(heap_.begin(), heap_.end(), after);
        const Run run = heap_.back();
        heap_.pop_back();
        return run;
    }

    void take(const Run& run, std::vector<Run>& runs) {
        int32_t length = 0;  // of the free piece that ends here
        for (int32_t k = 0; k < run.length; ++k) {
            if (row_free_[run.row + k] && column_free_[run.column + k]) {
                ++length;
                continue;
            }
            if (length >= 2) push({run.row + k - length, run.column + k - length, length});
            length = 0;
        }
        if (length == run.length) {
            runs.push_back(run);
            std::fill_n(row_free_.begin() + run.row, length, 0);
            std::fill_n(column_free_.begin() + run.column, length, 0);
        } else if (length >= 2) {
            const int32_t at = run.length - length;
            push({run.row + at, run.column + at, length});
        }
    }

    void push(const Run& run) {
        heap_.push_back(run);
        std::push_heap(heap_.begin(), heap_.end(), after);
    }

    void singles(const Grid& grid, std::vector<Run>& runs) {
        next_.assign(grid.words() + 1, -2);
        for (int32_t i = grid.rows() - 1; i >= 0; --i) {
            if (!row_free_[i]) continue;
            int32_t& j = next_[grid.row_word(i)];
            if (j == -2) j = grid.last(grid.row_word(i));
            while (j >= 0 && !column_free_[j]) j = grid.before(j);
            if (j < 0) continue;
            runs.push_back({i, j, 1});
            j = grid.before(j);
        }
    }

    std::vector<Run> heap_;
    std::vector<char> row_free_, column_free_;
    std::vector<int32_t> next_;  // per word: the last unvisited column; -2: all unvisited
    Levels levels_;
};

}  // namespace karat::gtm
