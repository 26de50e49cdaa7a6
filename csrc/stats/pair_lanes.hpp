// Pairs of points of many draws, 64 at a time.
//
// A point that is drawn twice forms no pair with its own copy: both scores would be tied, and the
// pair would count as correct for any metric.
//
// Points are sorted once for all draws, by metric and human score. One walk over them counts the
// pairs of 64 draws: the points below a point in both scores are concordant with it; they are
// counted with a Fenwick tree over human ranks (Fenwick 1994).
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "stats/lanes.hpp"
#include "stats/ranks.hpp"

namespace karat {

struct SortedPoints {
    struct Point {
        int64_t metric, human;  // ranks from 1
        int64_t at;             // index of the point
        int64_t partners = 0;   // number of concordant points
    };
    std::vector<Point> points;  // by metric, then by human rank
    size_t ranks = 0;           // of human scores
    int64_t concordant = 0;     // concordant pairs if every point is drawn once

    SortedPoints(const double* human, const double* metric, int64_t n) {
        Order order;
        std::vector<int64_t> of_human, of_metric;
        ranks = static_cast<size_t>(dense_ranks(human, n, order, of_human));
        dense_ranks(metric, n, order, of_metric);
        for (const Place& place : order)
            points.push_back({of_metric[place.at], of_human[place.at], place.at});
        std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
            return a.metric < b.metric || (a.metric == b.metric && a.human < b.human);
        });
    }

    size_t end_of_tie(size_t i) const {
        size_t j = i + 1;
        while (j < points.size() && points[j].metric == points[i].metric) ++j;
        return j;
    }
    size_t end_of_same(size_t i, size_t end) const {
        size_t j = i + 1;
        while (j < end && points[j].human == points[i].human) ++j;
        return j;
    }

    // Points below in both scores, on the way up; points above in both, on the way down.
    void count_partners() {
        RankCounter ranks_so_far;
        ranks_so_far.reset(static_cast<int64_t>(ranks));
        for (size_t i = 0, j; i < points.size(); i = j) {
            j = end_of_tie(i);
            for (size_t k = i; k < j; ++k)
                points[k].partners = ranks_so_far.up_to(points[k].human - 1);
            for (size_t k = i; k < j; ++k) ranks_so_far.add(points[k].human);
        }
        for (const Point& point : points) concordant += point.partners;
        ranks_so_far.reset(static_cast<int64_t>(ranks));
        for (size_t j = points.size(), i; j; j = i) {
            for (i = j - 1; i && points[i - 1].metric == points[i].metric;) --i;
            const auto above = static_cast<int64_t>(points.size() - j);
            for (size_t k = i; k < j; ++k)
                points[k].partners += above - ranks_so_far.up_to(points[k].human);
            for (size_t k = i; k < j; ++k) ranks_so_far.add(points[k].human);
        }
    }
};

// The components of the pair counts of 64 draws. `Count` can represent the number of points of a
// draw, `Wide` the number of its pairs.
template <class Count, class Wide>
struct PairSums {
    Lanes<Wide> concordant, metric_ties, both_ties, human_ties;  // human_ties includes both_ties
    Lanes<Wide> copies;  // pairs of copies of one point, not in the other counts
    Lanes<Count> metric_values, human_values;
    Lanes<Count> points, distinct_points;  // with and without their copies

    // The columns of PairCounts of all draws, then the number of distinct points.
    template <class Put>
    void columns(const Put& put) const {
        Lanes<double> human_only, discordant;
        for (size_t k = 0; k < kLanes; ++k) {
            human_only[k] = real(human_ties[k]) - real(both_ties[k]);
            const double n = real(points[k]);
            discordant[k] = n * (n - 1) / 2 - real(copies[k]) - real(concordant[k]) -
                            real(metric_ties[k]) - real(human_ties[k]);
        }
        put(concordant.at);
        put(discordant.at);
        put(human_only.at);
        put(metric_ties.at);
        put(both_ties.at);
        put(human_values.at);
        put(metric_values.at);
        put(distinct_points.at);
    }

  private:
    // Counts are below 2^53. Processors convert signed numbers more quickly.
    template <class T>
    static double real(T count) {
        using Signed = std::conditional_t<sizeof(T) < 4, int32_t, int64_t>;
        return static_cast<double>(static_cast<Signed>(count));
    }
};

template <class Count, class Wide>
class PairLanes {
  public:
    // `times(at, lanes)` fills in how often a point occurs in each draw.
    template <class Times>
    const PairSums<Count, Wide>& draw(const SortedPoints& of, const Times& times) {
        start(of);
        Lanes<Count> tied_times;
        for (size_t i = 0, j; i < of.points.size(); i = j) {
            j = of.end_of_tie(i);
            Lanes<Count> all;
            for (size_t k = i, end; k < j; k = end) {
                end = of.end_of_same(k, j);
                Lanes<Count>& equal_times = held_[k - i];
                times(of.points[k].at, equal_times);
                add_copies(equal_times);
                for (size_t m = k + 1; m < end; ++m) {
                    times(of.points[m].at, tied_times);
                    add_copies(tied_times);
                    add_products(first_.both_ties, equal_times, tied_times);
                    equal_times += tied_times;
                }
                add_below(of.points[k].human, equal_times);
                add_tie(first_, equal_times, all, k > i);
            }
            add_values(first_, all);
            hold(of, i, j);
        }
        sum_up();
        first_.human_ties -= first_.copies;
        return first_;
    }

    // The counts of both metrics in exchanges, where each point belongs to one metric or the other.
    // Let x be 1 for the points of the first metric. The pairs of the second have (1 - x)(1 - x') =
    // 1 - x - x' + x x', so its concordant pairs are all concordant pairs, minus the partners of
    // each point of the first metric, plus the concordant pairs of the first metric.
    template <class Times>
    void exchange(const SortedPoints& of, const Times& times) {
        start(of);
        Lanes<Wide> partners;
        Lanes<Count> tied_times;
        for (size_t i = 0, j; i < of.points.size(); i = j) {
            j = of.end_of_tie(i);
            Lanes<Count> all, all_others;
            for (size_t k = i, end; k < j; k = end) {
                end = of.end_of_same(k, j);
                Lanes<Count>& equal_times = held_[k - i];
                times(of.points[k].at, equal_times);
                add_where(partners, equal_times, of.points[k].partners);
                for (size_t m = k + 1; m < end; ++m) {
                    times(of.points[m].at, tied_times);
                    add_where(partners, tied_times, of.points[m].partners);
                    equal_times += tied_times;
                }
                add_below(of.points[k].human, equal_times);
                const Lanes<Count> other_times = complement_of(equal_times, end - k);
                if (end - k > 1) {
                    add_pairs(first_.both_ties, equal_times);
                    add_pairs(second_.both_ties, other_times);
                }
                add_tie(first_, equal_times, all, k > i);
                add_tie(second_, other_times, all_others, k > i);
            }
            add_values(first_, all);
            add_values(second_, all_others);
            hold(of, i, j);
        }
        for (size_t k = 0; k < kLanes; ++k)
            second_.concordant[k] = static_cast<Wide>(static_cast<Wide>(of.concordant) -
                                                      partners[k] + first_.concordant[k]);
        sum_up();
        second_.human_ties = first_.human_ties;  // both metrics have the same cells
        second_.human_values = first_.human_values;
        second_.points = first_.points;
        second_.distinct_points = first_.distinct_points = first_.points;
    }
    const PairSums<Count, Wide>& first() const { return first_; }
    const PairSums<Count, Wide>& second() const { return second_; }

  private:
    using Sums = PairSums<Count, Wide>;

    void start(const SortedPoints& of) {
        tree_.assign(of.ranks + 1, Lanes<Count>());
        if (held_.size() < of.points.size()) held_.resize(of.points.size());
        first_ = second_ = {};
    }

    // Concordant pairs with points of lower metric score, which are in the tree.
    void add_below(int64_t rank, const Lanes<Count>& times) {
        Lanes<Count> below;
        for (auto r = static_cast<size_t>(rank - 1); r; r &= r - 1) below += tree_[r];
        add_products(first_.concordant, times, below);
    }

    // The copies of one point in each draw.
    void add_copies(const Lanes<Count>& times) {
        add_pairs(first_.copies, times);
        for (size_t k = 0; k < kLanes; ++k)
            first_.distinct_points[k] =
                static_cast<Count>(first_.distinct_points[k] + (times[k] > 0));
    }

    // Points that are tied in the metric with those in `all`, but not in human scores.
    static void add_tie(Sums& sums, const Lanes<Count>& times, Lanes<Count>& all, bool tied) {
        if (tied) {
            add_products(sums.metric_ties, times, all);
            all += times;
        } else {
            all = times;
        }
    }

    static void add_values(Sums& sums, const Lanes<Count>& all) {
        for (size_t k = 0; k < kLanes; ++k)
            sums.metric_values[k] = static_cast<Count>(sums.metric_values[k] + (all[k] > 0));
    }

    // After all points of a tie are processed, they are added to the tree.
    void hold(const SortedPoints& of, size_t i, size_t j) {
        for (size_t k = i; k < j; k = of.end_of_same(k, j))
            for (auto r = static_cast<size_t>(of.points[k].human); r < tree_.size();
                 r += r & (0 - r))
                tree_[r] += held_[k - i];
    }

    // Counts that depend on human scores alone, from the tree: its sums are split up, largest
    // first.
    void sum_up() {
        for (size_t r = tree_.size() - 1; r; --r) {
            const size_t parent = r + (r & (0 - r));
            if (parent < tree_.size()) tree_[parent] -= tree_[r];
        }
        for (size_t r = 1; r < tree_.size(); ++r) {
            add_pairs(first_.human_ties, tree_[r]);
            first_.points += tree_[r];
            for (size_t k = 0; k < kLanes; ++k)
                first_.human_values[k] =
                    static_cast<Count>(first_.human_values[k] + (tree_[r][k] > 0));
        }
    }

    static Lanes<Count> complement_of(const Lanes<Count>& times, size_t of) {
        Lanes<Count> complement;
        for (size_t k = 0; k < kLanes; ++k) complement[k] = static_cast<Count>(of - times[k]);
        return complement;
    }
    static void add_where(Lanes<Wide>& sums, const Lanes<Count>& present, int64_t number) {
        const auto added = static_cast<Wide>(number);
        for (size_t k = 0; k < kLanes; ++k)
            sums[k] =
                static_cast<Wide>(sums[k] + (static_cast<Wide>(0 - Wide{present[k]}) & added));
    }
    static void add_products(Lanes<Wide>& sums, const Lanes<Count>& a, const Lanes<Count>& b) {
        for (size_t k = 0; k < kLanes; ++k)
            sums[k] = static_cast<Wide>(sums[k] + static_cast<Wide>(a[k]) * Wider{b[k]});
    }
    // n (n - 1) / 2 of each
    static void add_pairs(Lanes<Wide>& sums, const Lanes<Count>& n) {
        for (size_t k = 0; k < kLanes; ++k) {
            const auto less = static_cast<Count>(n[k] - (n[k] > 0));
            sums[k] = static_cast<Wide>(sums[k] + Wider{n[k]} * less / 2);
        }
    }
    // Unsigned and no shorter than int, in which short numbers would be multiplied.
    using Wider = decltype(Wide{} + 0u);

    std::vector<Lanes<Count>> tree_, held_;  // held: the points of the current tie
    Sums first_, second_;
};

}  // namespace karat
