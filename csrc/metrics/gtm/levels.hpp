// The greedy matching of texts with too many hits to list their runs (words repeated thousands of
// times). Memory grows with the number of tokens, not of hits; so does time, up to a factor of
// about the square root of the length.
//
// Level L takes all runs of length L. Equal windows of L tokens are adjacent in the suffix array of
// both texts; the windows of a free candidate position and a free reference position can be taken.
// The next level is the largest with such a pair, found by bisection: where a run of L is free, one
// of L - 1 is too. Few levels take a run, because each of these takes at least L tokens.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "metrics/gtm/grid.hpp"

namespace karat::gtm {

// Sorted suffixes, and the length of the common prefix of each with its predecessor.
class SuffixArray {
  public:
    std::vector<int32_t> order, common;

    void build(const std::vector<int32_t>& text, Watch& watch) {
        const auto n = static_cast<int32_t>(text.size());
        rank_ = text;
        order.resize(n);
        std::iota(order.begin(), order.end(), 0);
        other_.resize(n);
        int32_t classes = *std::max_element(text.begin(), text.end()) + 1;
        sort_by_rank(classes);
        for (int32_t width = 1;; width *= 2) {
            watch.worked(sorting * n);
            classes = rename(width / 2);
            if (classes == n) break;
            // Sort by the second half: first the suffixes too short to have one, then the others in
            // order.
            int32_t at = 0;
            for (int32_t i = n - width; i < n; ++i)
                if (i >= 0) other_[at++] = i;
            for (const int32_t i : order)
                if (i >= width) other_[at++] = i - width;
            order.swap(other_);
            sort_by_rank(classes);
        }
        measure(text);
    }

  private:
    static constexpr int64_t sorting = 16;  // steps for each suffix

    // Stable counting sort.
    void sort_by_rank(int32_t classes) {
        count_.assign(classes + 1, 0);
        for (const int32_t r : rank_) ++count_[r + 1];
        std::partial_sum(count_.begin(), count_.end(), count_.begin());
        for (const int32_t i : order) other_[count_[rank_[i]]++] = i;
        order.swap(other_);
    }

    // New ranks of suffixes sorted by their rank and the rank `half` positions later.
    int32_t rename(int32_t half) {
        const auto n = static_cast<int32_t>(order.size());
        const auto second = [&](int32_t i) { return half && i + half < n ? rank_[i + half] : -1; };
        int32_t classes = 0;
        for (int32_t k = 0; k < n; ++k) {
            const int32_t i = order[k];
            if (k) {
                const int32_t before = order[k - 1];
                classes += rank_[before] != rank_[i] || second(before) != second(i);
            }
            other_[i] = classes;
        }
        rank_.swap(other_);
        return classes + 1;
    }

    // Kasai et al. 2001.
    void measure(const std::vector<int32_t>& text) {
        const auto n = static_cast<int32_t>(text.size());
        common.assign(n, 0);
        for (int32_t k = 0; k < n; ++k) rank_[order[k]] = k;
        int32_t length = 0;
        for (int32_t i = 0; i < n; ++i) {
            if (!rank_[i]) {
                length = 0;
                continue;
            }
            const int32_t j = order[rank_[i] - 1];
            while (i + length < n && j + length < n && text[i + length] == text[j + length])
                ++length;
            common[rank_[i]] = length;
            if (length) --length;
        }
    }

    std::vector<int32_t> rank_, other_, count_;
};

// Both texts, separated by a 0. Columns without hits are 0 too; no valid window contains a 0.
class Windows {
  public:
    SuffixArray suffixes;
    std::vector<int32_t> text;

    void set(const Grid& grid, Watch& watch) {
        rows = grid.rows();
        text = grid.row_words();
        text.push_back(0);
        text.insert(text.end(), grid.column_words().begin(), grid.column_words().end());
        suffixes.build(text, watch);
    }
    int32_t size() const { return static_cast<int32_t>(text.size()); }
    int32_t rows = 0;

    // The longest run that starts at each position.
    void longest(std::vector<int32_t>& out) const {
        std::vector<int32_t> free(size() + 1, 0);
        for (int32_t i = size() - 1; i >= 0; --i) free[i] = text[i] ? free[i + 1] + 1 : 0;
        out.assign(size(), 0);
        sweep(free, out, true);
        sweep(free, out, false);
    }

  private:
    // The nearest suffix of the other text before (or after) a suffix has most in common with it.
    void sweep(const std::vector<int32_t>& free, std::vector<int32_t>& out, bool up) const {
        int32_t to_row = 0, to_column = 0;  // common prefix with the nearest suffix of each text
        for (int32_t k = 0; k < size(); ++k) {
            const int32_t at = up ? k : size() - 1 - k;
            const int32_t pair = up ? at : at + 1;  // index of the second of two neighbours
            const int32_t shared = pair < size() ? suffixes.common[pair] : 0;
            to_row = std::min(to_row, shared);
            to_column = std::min(to_column, shared);
            const int32_t i = suffixes.order[at];
            const bool is_row = i < rows;
            out[i] = std::max(out[i], std::min(free[i], is_row ? to_column : to_row));
            (is_row ? to_row : to_column) = size();
        }
    }
};

class Levels {
  public:
    void match(const Grid& grid, std::vector<char>& row_free, std::vector<char>& column_free,
               std::vector<Run>& runs, Watch& watch) {
        windows_.set(grid, watch);
        watch_ = &watch;
        row_free_ = &row_free;
        column_free_ = &column_free;
        runs_ = &runs;
        for (int32_t level = grid.rows() + 1; (level = next_below(level)) >= 2;) take(level);
    }

  private:
    static constexpr int64_t looking = 4;  // steps for each window

    bool is_row(int32_t i) const { return i < windows_.rows; }
    int32_t column(int32_t i) const { return i - windows_.rows - 1; }
    bool free(int32_t i) const {
        if (!windows_.text[i]) return false;
        return is_row(i) ? (*row_free_)[i] : (*column_free_)[column(i)];
    }

    // The length of the longest free run shorter than `level`.
    int32_t next_below(int32_t level) {
        room_.assign(windows_.size() + 1, 0);
        for (int32_t i = windows_.size() - 1; i >= 0; --i)
            room_[i] = free(i) ? room_[i + 1] + 1 : 0;
        int32_t low = 1, high = level;  // a run of `low` counts as free, one of `high` is not
        for (int32_t step = 1; high - low > step; step *= 2) {  // usually it is close to `level`
            const int32_t next = high - step;
            if (any(next)) {
                low = next;
                break;
            }
            high = next;
        }
        while (high - low > 1) {
            const int32_t middle = low + (high - low) / 2;
            (any(middle) ? low : high) = middle;
        }
        return low;
    }

    bool any(int32_t level) const {
        watch_->worked(looking * windows_.size());
        bool row = false, column = false;
        for (int32_t k = 0; k < windows_.size(); ++k) {
            if (windows_.suffixes.common[k] < level) row = column = false;
            const int32_t i = windows_.suffixes.order[k];
            if (room_[i] < level) continue;
            (is_row(i) ? row : column) = true;
            if (row && column) return true;
        }
        return false;
    }

    void take(int32_t level) {
        name(level);
        for (int32_t i = windows_.rows - level; i >= 0; --i) {
            if (room_[i] < level || !(*row_free_)[i] || !(*row_free_)[i + level - 1]) continue;
            int32_t& at = next_[name_[i] + 1];  // one past the last unvisited column
            const int32_t first = starts_[name_[i]];
            while (at > first && !open(places_[at - 1], level)) --at;
            if (at == first) continue;
            const int32_t j = places_[--at];
            runs_->push_back({i, j, level});
            std::fill_n(row_free_->begin() + i, level, 0);
            std::fill_n(column_free_->begin() + j, level, 0);
        }
    }

    // All runs taken in this level have its length, so checking both ends is enough.
    bool open(int32_t column, int32_t level) const {
        return (*column_free_)[column] && (*column_free_)[column + level - 1];
    }

    // Numbers the windows of this length, and lists the columns where each starts.
    void name(int32_t level) {
        name_.assign(windows_.size(), 0);
        int32_t names = -1;
        for (int32_t k = 0; k < windows_.size(); ++k) {
            names += !k || windows_.suffixes.common[k] < level;
            name_[windows_.suffixes.order[k]] = names;
        }
        starts_.assign(names + 2, 0);
        for (int32_t i = windows_.rows + 1; i < windows_.size(); ++i)
            if (room_[i] >= level) ++starts_[name_[i] + 1];
        std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
        places_.resize(starts_.back());
        next_ = starts_;
        for (int32_t i = windows_.rows + 1; i < windows_.size(); ++i)
            if (room_[i] >= level) places_[next_[name_[i]]++] = column(i);
        next_ = starts_;
    }

    Windows windows_;
    std::vector<char>*row_free_ = nullptr, *column_free_ = nullptr;
    std::vector<Run>* runs_ = nullptr;
    Watch* watch_ = nullptr;
    std::vector<int32_t> room_, name_, starts_, next_, places_;
};

}  // namespace karat::gtm
