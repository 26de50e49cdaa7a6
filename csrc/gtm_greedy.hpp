// The matching that GTM 1.4 finds: of all runs the longest that conflicts with none taken before,
// again and again; of runs of one length the one whose start has the largest row * W + column.
//
// The definition speaks of all runs at all hits, cubically many. But when length L is reached, no
// run longer than L is free any more, so the free runs of length L are maximal: it is enough to
// hold maximal runs in this order, and to cut one that conflicts into its free pieces, which are
// shorter and take their place further back. Runs of one hit are never held: at the end every free
// row takes the last free column of its word.
#pragma once
#include <algorithm>
#include <vector>

#include "gtm_grid.hpp"
#include "gtm_levels.hpp"

namespace karat::gtm {

class Greedy {
  public:
    // Above this many hits, runs are found through a suffix array instead of one by one.
    double most_hits = 1 << 23;

    void match(const Grid& grid, Matching& matching) {
        matching.clear(grid.rows());
        free_.assign(grid.columns(), 1);
        if (grid.hits() > most_hits) {
            levels_.match(grid, matching, free_);
        } else {
            collect(grid);
            while (!heap_.empty()) take(pop(), matching);
        }
        singles(grid, matching);
    }

  private:
    // All maximal runs of two hits or more.
    void collect(const Grid& grid) {
        heap_.clear();
        for (int32_t i = 0; i + 1 < grid.rows(); ++i) {
            const int32_t next = grid.row_word(i + 1), word = grid.row_word(i);
            for (const int32_t *p = grid.begin(word), *end = grid.end(word); p < end; ++p) {
                const int32_t j = *p;  // a barrier follows, so there is a column j + 1
                if (grid.column_word(j + 1) == next && grid.starts_run(i, j))
                    heap_.push_back({i, j, grid.run_from(i, j)});
            }
        }
        std::make_heap(heap_.begin(), heap_.end(), after);
    }

    Run pop() {
        std::pop_heap(heap_.begin(), heap_.end(), after);
        const Run run = heap_.back();
        heap_.pop_back();
        return run;
    }

    void take(const Run& run, Matching& matching) {
        int32_t length = 0;  // of the free piece that ends here
        for (int32_t k = 0; k <= run.length; ++k) {
            if (k < run.length && matching.column[run.row + k] < 0 && free_[run.column + k]) {
                ++length;
                continue;
            }
            if (length == run.length) break;
            if (length >= 2) push({run.row + k - length, run.column + k - length, length});
            length = 0;
        }
        if (length != run.length) return;
        matching.add(run);
        for (int32_t k = 0; k < run.length; ++k) free_[run.column + k] = 0;
    }

    void push(const Run& run) {
        heap_.push_back(run);
        std::push_heap(heap_.begin(), heap_.end(), after);
    }

    void singles(const Grid& grid, Matching& matching) {
        last_.assign(grid.words() + 1, -1);
        for (int32_t i = grid.rows() - 1; i >= 0; --i) {
            if (matching.column[i] >= 0) continue;
            const int32_t word = grid.row_word(i);
            const int32_t* const columns = grid.begin(word);
            if (last_[word] < 0) last_[word] = grid.in_references(word);
            while (last_[word] > 0 && !free_[columns[last_[word] - 1]]) --last_[word];
            if (last_[word] > 0) matching.column[i] = columns[--last_[word]];
        }
    }

    std::vector<Run> heap_;
    std::vector<char> free_;
    std::vector<int32_t> last_;  // of each word: how many of its columns are still to be looked at
    Levels levels_;
};

}  // namespace karat::gtm
