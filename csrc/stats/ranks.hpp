// Ranks and pairs: what rank correlations are made of, in O(n log n).
//
// A pair of points is tied in the metric if its scores differ by no more than epsilon, and tied in
// the human scores if they are equal. There must be no NaN, which cannot be sorted.
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

// Values and where they stand, rising; side by side, so that sorting does not jump about.
inline void order_of(const double* x, int64_t n, Order& order) {
    order.resize(n);
    for (int64_t i = 0; i < n; ++i) order[i] = {x[i], i};
    std::sort(order.begin(), order.end(),
              [](const Place& a, const Place& b) { return a.value < b.value; });
}

// Ranks from 1; equal values share the mean of the ranks they take up.
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

// How many points seen so far have at most a given rank (Fenwick 1994).
class RankCounter {
  public:
    void reset(int64_t ranks) { counts_.assign(ranks + 1, 0); }
    void add(int64_t rank, int64_t number = 1) {
        for (; rank < static_cast<int64_t>(counts_.size()); rank += rank & -rank)
            counts_[rank] += number;
    }
    int64_t up_to(int64_t rank) const {
        int64_t sum = 0;
        for (; rank; rank &= rank - 1) sum += counts_[rank];
        return sum;
    }

  private:
    std::vector<int64_t> counts_;
};

// The same where there are few ranks: the counts up to each are at hand, and adding a point adds to
// all of them, which a processor does in a few steps without having to guess how many.
class FewRankCounter {
  public:
    static constexpr int64_t most = 63;
    FewRankCounter() { std::fill(ramp_ + most + 1, ramp_ + 2 * (most + 1), -1); }
    void reset(int64_t ranks) {
        width_ = (ranks + 16) / 16 * 16;
        std::fill(counts_, counts_ + width_, 0);
    }
    void add(int64_t rank, int64_t number) {
        const int32_t* const step = ramp_ + most + 1 - rank;  // 0 before the rank, all ones from it
        for (int64_t k = 0; k < width_; k += 16)
            for (int64_t j = k; j < k + 16; ++j)
                counts_[j] += step[j] & static_cast<int32_t>(number);
    }
    int64_t up_to(int64_t rank) const { return counts_[rank]; }

  private:
    int64_t width_ = 0;
    int32_t counts_[most + 1] = {}, ramp_[2 * (most + 1)] = {};
};

class PairCounter {
  public:
    // Points are visited by rising metric score; those further below than epsilon are in the
    // counter, so each of them makes a pair that is not tied in the metric.
    PairCounts count(const double* human, const double* metric, int64_t n, double epsilon) {
        PairCounts found;
        found.human_values = dense_ranks(human, n, order_, ranks_);
        const int64_t all_human_ties = equal_pairs(found.human_values);
        order_of(metric, n, order_);
        below_.reset(found.human_values);
        int64_t tied = 0;
        for (int64_t i = 0, p = 0; i < n; ++i) {
            const double score = order_[i].value;
            found.metric_values += !i || score != order_[i - 1].value;
            for (; score - order_[p].value > epsilon; ++p) below_.add(ranks_[order_[p].at]);
            const int64_t rank = ranks_[order_[i].at];
            const int64_t less = below_.up_to(rank - 1), at_most = below_.up_to(rank);
            found.concordant += less;
            found.human_ties += at_most - less;
            found.discordant += p - at_most;
            tied += i - p;
        }
        found.both_ties = all_human_ties - found.human_ties;
        found.metric_ties = tied - found.both_ties;
        return found;
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

// The same for many draws of one set of points, each a vector of how often every point is there:
// points are sorted once, and a draw is one walk over them.
class DrawnPairCounter {
  public:
    DrawnPairCounter(const double* human, const double* metric, int64_t n) {
        Order order;
        std::vector<int64_t> ranks, scores;
        values_ = dense_ranks(human, n, order, ranks);
        dense_ranks(metric, n, order, scores);
        for (const Place& place : order)
            points_.push_back({place.at, static_cast<int32_t>(ranks[place.at]),
                               static_cast<int32_t>(scores[place.at])});
        there_.resize(n + 1);
    }

    PairCounts count(const int32_t* times) {
        return values_ <= FewRankCounter::most ? walk(times, few_) : walk(times, many_);
    }

  private:
    struct Point {
        int64_t at;
        int32_t human, metric;  // ranks
    };
    struct Drawn {
        int32_t human, metric;
        int64_t times;
    };

    // Which points are there is chance: so they are put together first, without a branch.
    size_t gather(const int32_t* times) {
        size_t count = 0;
        for (const Point& point : points_) {
            there_[count] = {point.human, point.metric, times[point.at]};
            count += times[point.at] > 0;
        }
        return count;
    }

    template <class Counter>
    PairCounts walk(const int32_t* times, Counter& below) {
        PairCounts found;
        below.reset(values_);
        sizes_.assign(values_ + 1, 0);  // of what is in `below`, by rank
        const size_t count = gather(times);
        int64_t seen = 0, tied = 0;
        for (size_t i = 0, j; i < count; i = j) {
            int64_t equal = 0;  // points with this metric score
            for (j = i; j < count && there_[j].metric == there_[i].metric; ++j) {
                const Drawn& one = there_[j];
                const int64_t less = below.up_to(one.human - 1), same = sizes_[one.human];
                found.concordant += one.times * less;
                found.human_ties += one.times * same;
                found.discordant += one.times * (seen - less - same);
                equal += one.times;
            }
            for (size_t k = i; k < j; ++k) {
                below.add(there_[k].human, there_[k].times);
                sizes_[there_[k].human] += there_[k].times;
            }
            ++found.metric_values;
            tied += equal * (equal - 1) / 2;
            seen += equal;
        }
        for (const int64_t size : sizes_) {
            found.human_values += size > 0;
            found.both_ties += size * (size - 1) / 2;  // in human scores, as yet
        }
        found.both_ties -= found.human_ties;
        found.metric_ties = tied - found.both_ties;
        return found;
    }

    int64_t values_;
    std::vector<Point> points_;  // by rising metric score
    std::vector<Drawn> there_;
    std::vector<int64_t> sizes_;
    FewRankCounter few_;
    RankCounter many_;
};

}  // namespace karat
