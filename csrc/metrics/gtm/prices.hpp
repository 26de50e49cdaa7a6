// An upper bound for packings of runs: columns may be used twice, but at a price.
//
// A packing is a set of runs, no two of which share a row or a column; its value is the sum of
// length^e. For prices p >= 0 of the columns, no packing is worth more than
//
//     sum of p + max over sets of runs that share no row of sum (length^e - prices of columns)
//
// (Lagrangian relaxation). The maximum on the right is a path through the rows, found from the last
// row up; if the number of hits is limited, a path through rows and remaining hits. Prices that
// make the bound small are found by raising the prices of columns used too often and lowering the
// others (subgradients with Polyak's steps). At the best prices the bound is that of the linear
// program.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "metrics/gtm/grid.hpp"

namespace karat::gtm {

// The maximum number of hits that count, whole + part, if it is a restriction at all.
struct Cap {
    bool binds = false;
    int32_t units = 0;
    double part = 0;
};

// Runs with rows and columns renumbered without gaps; runs stay contiguous.
struct Packing {
    std::vector<Run> runs;  // by row, length, column
    std::vector<int32_t> row, column;  // the old numbers
    int32_t rows() const { return static_cast<int32_t>(row.size()); }
    int32_t columns() const { return static_cast<int32_t>(column.size()); }
};

class Relaxation {
  public:
    Relaxation(const std::vector<double>& worth, const std::vector<double>& cut_worth, Cap cap)
        : worth_(worth), cut_worth_(cut_worth), cap_(cap) {}

    void set(const Packing& packing) {
        packing_ = &packing;
        groups_.clear();
        row_groups_.assign(packing.rows() + 1, 0);
        const auto& runs = packing.runs;
        for (size_t k = 0; k < runs.size(); ++k) {
            if (!k || runs[k].row != runs[k - 1].row || runs[k].length != runs[k - 1].length) {
                groups_.push_back({runs[k].row, runs[k].length, static_cast<int32_t>(k), 0, 0, 0});
                ++row_groups_[runs[k].row + 1];
            }
            groups_.back().last = static_cast<int32_t>(k) + 1;
        }
        for (int32_t i = 0; i < packing.rows(); ++i) row_groups_[i + 1] += row_groups_[i];
        width_ = cap_.binds ? cap_.units + 1 : 1;
        layers_ = cap_.binds && cap_.part > 0 ? 2 : 1;
        stride_ = static_cast<size_t>(width_) * layers_;
    }

    // The cost of one call of `bound`; about eight states take as long as one run.
    int64_t steps() const {
        const auto paths = static_cast<int64_t>(groups_.size()) + packing_->rows();
        return static_cast<int64_t>(packing_->runs.size()) + packing_->columns() + paths +
               paths * static_cast<int64_t>(stride_) / 8;
    }

    double bound(const std::vector<double>& prices) {
        price(prices);
        below_.assign((packing_->rows() + 1) * stride_, 0.0);
        for (int32_t i = packing_->rows() - 1; i >= 0; --i) {
            double* const row = &below_[i * stride_];
            std::copy(row + stride_, row + 2 * stride_, row);
            for (int32_t g = row_groups_[i]; g < row_groups_[i + 1]; ++g)
                offer(groups_[g], row, &below_[(i + groups_[g].length) * stride_]);
        }
        return sums_.back() + below_[stride_ - 1];
    }

    // How often the runs of the last bound use each column; equally good columns share the use.
    // `chosen` receives one run of each choice.
    void uses(std::vector<double>& use, std::vector<Run>& chosen) const {
        use.assign(packing_->columns(), 0.0);
        chosen.clear();
        size_t state = stride_ - 1;
        for (int32_t i = 0; i < packing_->rows();) {
            const Group* const group = step(i, state);
            if (!group) {
                ++i;
                continue;
            }
            share(*group, use, chosen);
            i += group->length;
        }
    }

    // The runs that can be part of a packing worth `goal` or more, judged by the last bound.
    void keep(double goal, std::vector<Run>& remaining) {
        fill_above();
        remaining.clear();
        for (const Group& group : groups_) {
            const double best_without = through(group) + sums_.back() - group.gain;
            for (int32_t k = group.first; k < group.last; ++k) {
                const Run& run = packing_->runs[k];
                if (best_without + worth_[run.length] - cost(run) >= goal)
                    remaining.push_back(
                        {packing_->row[run.row], packing_->column[run.column], run.length});
            }
        }
    }

    double cost(const Run& run) const { return sums_[run.column + run.length] - sums_[run.column]; }

  private:
    // Runs with the same row and length: the lowest price, and the value of such a run minus its
    // price.
    struct Group {
        int32_t row, length, first, last;
        double least, gain;
    };
    // Equal prices of equal columns differ by rounding, because they are differences of sums.
    static constexpr double rounding = 1e-9;
    static constexpr double never = -std::numeric_limits<double>::infinity();

    void price(const std::vector<double>& prices) {
        sums_.assign(1, 0.0);
        for (const double p : prices) sums_.push_back(sums_.back() + p);
        for (Group& group : groups_) {
            const double* const sums = sums_.data();
            const int32_t length = group.length;
            double least = std::numeric_limits<double>::infinity();
            for (int32_t k = group.first; k < group.last; ++k) {
                const int32_t j = packing_->runs[k].column;
                least = std::min(least, sums[j + length] - sums[j]);
            }
            group.least = least;
            group.gain = worth_[length] - least;
        }
    }

    // The gain of a group's run cut down to length - 1 + part.
    double cut_gain(const Group& group) const {
        return group.gain - worth_[group.length] + cut_worth_[group.length];
    }

    // A state is the number of remaining hits, 0..whole; a fractional cap adds a second layer of
    // states, in which one run may still be truncated to a fractional length.
    void offer(const Group& group, double* row, const double* row_after) const {
        if (!cap_.binds) {
            *row = std::max(*row, group.gain + *row_after);
            return;
        }
        for (int32_t layer = 0; layer < layers_; ++layer) {
            double* const to = row + static_cast<size_t>(layer) * width_;
            const double* const from = row_after + static_cast<size_t>(layer) * width_;
            for (int32_t h = group.length; h < width_; ++h)
                to[h] = std::max(to[h], group.gain + from[h - group.length]);
        }
        if (layers_ < 2) return;
        const double gain = cut_gain(group);
        for (int32_t h = group.length - 1; h < width_; ++h)
            row[width_ + h] = std::max(row[width_ + h], gain + row_after[h - group.length + 1]);
    }

    // The group that the best path takes at row i, and the next state; null if it skips the row.
    const Group* step(int32_t i, size_t& state) const {
        const double value = below_[i * stride_ + state];
        if (value == below_[(i + 1) * stride_ + state]) return nullptr;
        for (int32_t g = row_groups_[i]; g < row_groups_[i + 1]; ++g) {
            const Group& group = groups_[g];
            const double* const row_after = &below_[(i + group.length) * stride_];
            const size_t units = cap_.binds ? group.length : 0, left = state % width_;
            if (left >= units && value == group.gain + row_after[state - units]) {
                state -= units;
                return &group;
            }
            if (layers_ == 2 && state >= static_cast<size_t>(width_) && left + 1 >= units &&
                value == cut_gain(group) + row_after[left - units + 1]) {
                state = left - units + 1;
                return &group;
            }
        }
        return nullptr;  // unreachable: the value came from one of these
    }

    void share(const Group& group, std::vector<double>& use, std::vector<Run>& chosen) const {
        const double enough = group.least + rounding;
        int32_t equals = 0;
        for (int32_t k = group.first; k < group.last; ++k)
            if (cost(packing_->runs[k]) <= enough && !equals++) chosen.push_back(packing_->runs[k]);
        for (int32_t k = group.first; k < group.last; ++k) {
            const Run& run = packing_->runs[k];
            if (cost(run) > enough) continue;
            for (int32_t c = 0; c < run.length; ++c) use[run.column + c] += 1.0 / equals;
        }
    }

    // The best path through the rows above each row, by hits used.
    void fill_above() {
        above_.assign((packing_->rows() + 1) * stride_, never);
        std::fill(above_.begin(), above_.begin() + static_cast<std::ptrdiff_t>(stride_), 0.0);
        for (int32_t i = 0; i < packing_->rows(); ++i) {
            const double* const row = &above_[i * stride_];
            double* const next = &above_[(i + 1) * stride_];
            for (size_t s = 0; s < stride_; ++s) next[s] = std::max(next[s], row[s]);
            for (int32_t g = row_groups_[i]; g < row_groups_[i + 1]; ++g)
                offer(groups_[g], &above_[(i + groups_[g].length) * stride_], row);
        }
    }

    // The best path that takes a run of this group.
    double through(const Group& group) const {
        const double* const up = &above_[group.row * stride_];
        const double* const down = &below_[(group.row + group.length) * stride_];
        if (!cap_.binds) return *up + group.gain + *down;
        double best = never;
        const int32_t left = cap_.units - group.length;
        for (int32_t h = 0; h <= left; ++h) {
            const int32_t remaining = (layers_ - 1) * width_ + left - h;
            best = std::max(best, up[h] + group.gain + down[remaining]);
            if (layers_ == 2)
                best = std::max(best, up[width_ + h] + group.gain + down[left - h]);
        }
        if (layers_ == 2)
            for (int32_t h = 0; h <= left + 1; ++h)
                best = std::max(best, up[h] + cut_gain(group) + down[left + 1 - h]);
        return best;
    }

    const std::vector<double>&worth_, &cut_worth_;  // by length, and of length - 1 + part
    Cap cap_;
    const Packing* packing_ = nullptr;
    std::vector<Group> groups_;
    std::vector<int32_t> row_groups_;  // start of each row's groups
    int32_t width_ = 1, layers_ = 1;
    size_t stride_ = 1;
    std::vector<double> sums_, below_, above_;
};

}  // namespace karat::gtm
