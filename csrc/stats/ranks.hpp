// Ranks and pair counts for rank correlations, in O(n log n).
//
// A pair of points is tied in the metric if its scores differ by no more than epsilon, and tied in
// the human scores if they are equal. Scores must not be NaN, which cannot be sorted.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace karat {

struct Place {
    double value;
    int64_t at;
};
using Order = std::vector<Place>;

// Values with their positions, in rising order; stored together for locality while sorting.
inline void order_of(const double* x, int64_t n, Order& order) {
    order.resize(n);
    for (int64_t i = 0; i < n; ++i) order[i] = {x[i], i};
    std::sort(order.begin(), order.end(),
              [](const Place& a, const Place& b) { return a.value < b.value; });
}

// Ranks from 1; equal values share the mean of their ranks.
inline void average_ranks(const double* x, int64_t n, Order& order, double* ranks) {
    order_of(x, n, order);
    for (int64_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && order[j].value == order[i].value; ++j) {
        }
        for (int64_t k = i; k < j; ++k) ranks[order[k].at] = 0.5 * static_cast<double>(i + 1 + j);
    }
}

// Ranks from 1 without gaps; equal values share one. Returns the number of distinct values.
inline int64_t dense_ranks(const double* x, int64_t n, Order& order, std::vector<int64_t>& ranks) {
    order_of(x, n, order);
    ranks.resize(n);
    int64_t rank = 0;
    for (int64_t k = 0; k < n; ++k) {
        if (!k || order[k].value != order[k - 1].value) ++rank;
        ranks[order[k].at] = rank;
    }
    return rank;
}

struct PairCounts {
    int64_t concordant = 0, discordant = 0;
    int64_t human_ties = 0, metric_ties = 0;  // tied in this one only
    int64_t both_ties = 0;
    int64_t human_values = 0, metric_values = 0;  // distinct
};

// Counts the points so far with at most a given rank (Fenwick 1994).
class RankCounter {
  public:
    void reset(int64_t ranks) { counts_.assign(ranks + 1, 0); }
    void add(int64_t rank) {
        for (; rank < static_cast<int64_t>(counts_.size()); rank += rank & -rank) ++counts_[rank];
    }
    int64_t up_to(int64_t rank) const {
        int64_t sum = 0;
        for (; rank; rank &= rank - 1) sum += counts_[rank];
        return sum;
    }

  private:
    std::vector<int64_t> counts_;
};

class PairCounter {
  public:
    // Points are visited by rising metric score; the counter contains the points more than epsilon
    // below, so each of them forms a pair that is not tied in the metric.
    PairCounts count(const double* human, const double* metric, int64_t n, double epsilon) {
        PairCounts counts;
        counts.human_values = dense_ranks(human, n, order_, ranks_);
        const int64_t all_human_ties = equal_pairs(counts.human_values);
        order_of(metric, n, order_);
        below_.reset(counts.human_values);
        int64_t tied = 0;
        for (int64_t i = 0, p = 0; i < n; ++i) {
            const double score = order_[i].value;
            counts.metric_values += !i || score != order_[i - 1].value;
            for (; score - order_[p].value > epsilon; ++p) below_.add(ranks_[order_[p].at]);
            const int64_t rank = ranks_[order_[i].at];
            const int64_t less = below_.up_to(rank - 1), at_most = below_.up_to(rank);
            counts.concordant += less;
            counts.human_ties += at_most - less;
            counts.discordant += p - at_most;
            tied += i - p;
        }
        counts.both_ties = all_human_ties - counts.human_ties;
        counts.metric_ties = tied - counts.both_ties;
        return counts;
    }

  private:
    int64_t equal_pairs(int64_t values) {
        sizes_.assign(values + 1, 0);
        for (const int64_t rank : ranks_) ++sizes_[rank];
        int64_t pairs = 0;
        for (const int64_t size : sizes_) pairs += size * (size - 1) / 2;
        return pairs;
    }

    Order order_;
    std::vector<int64_t> ranks_, sizes_;
    RankCounter below_;
};

}  // namespace karat
