// Python bindings of statistics: draws, exchanges, ranks and pairs, correlations.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/bind.hpp"
#include "stats/exchange.hpp"
#include "stats/pair_lanes.hpp"
#include "stats/pairwise_sums.hpp"
#include "stats/pearson.hpp"
#include "stats/ranks.hpp"
#include "stats/right_pairs.hpp"
#include "stats/tally.hpp"
#include "stats/tie_calibration.hpp"

namespace karat {
namespace {

constexpr int64_t kPairsBetweenPolls = 1 << 24;

Array<double> py_tally(Draws draws, size_t items) {
    const size_t rows = draws.shape(0), n = draws.shape(1);
    std::vector<double> counts;
    {
        nb::gil_scoped_release release;
        counts = tally(draws.data(), rows, n, items);
    }
    return give(std::move(counts), {rows, items});
}

Array<double> py_chosen_sums(Words words, Table rows) {
    const size_t trials = words.shape(1), n = rows.shape(0), columns = rows.shape(1);
    if (n > 64 * words.shape(0)) throw nb::value_error("there are more rows than bits");
    std::vector<double> sums;
    {
        nb::gil_scoped_release release;
        sums = chosen_sums(words.data(), words.shape(0), trials, rows.data(), n, columns);
    }
    return give(std::move(sums), {trials, columns});
}

// NaN has no order and would break sorting.
template <class Scores>
void check_no_nan(const Scores& scores) {
    const double* const x = scores.data();
    if (std::any_of(x, x + scores.size(), [](double v) { return std::isnan(v); }))
        throw nb::value_error("there is a NaN among the scores");
}

Array<double> py_average_ranks(Table rows) {
    const size_t count = rows.shape(0), n = rows.shape(1);
    check_no_nan(rows);
    std::vector<double> ranks(count * n);
    {
        nb::gil_scoped_release release;
        Order order;
        for (size_t i = 0; i < count; ++i)
            average_ranks(rows.data() + i * n, static_cast<int64_t>(n), order,
                          ranks.data() + i * n);
    }
    return give(std::move(ranks), {count, n});
}

void append(const PairCounts& c, std::vector<int64_t>& counts) {
    for (const int64_t count : {c.concordant, c.discordant, c.human_ties, c.metric_ties,
                                c.both_ties, c.human_values, c.metric_values})
        counts.push_back(count);
}

// For each row, pairs that are concordant, discordant, tied in human only, in metric only, and in
// both; and the numbers of distinct values. A single row of human scores is used for all metric
// rows.
Array<int64_t> pair_counts(Table human, Table metric, double epsilon) {
    const size_t count = metric.shape(0), n = metric.shape(1);
    if (human.shape(1) != n || (human.shape(0) != 1 && human.shape(0) != count))
        throw nb::value_error("human and metric scores differ in shape");
    if (!(epsilon >= 0)) throw nb::value_error("epsilon is negative");
    check_no_nan(human);
    check_no_nan(metric);
    const size_t stride = human.shape(0) == 1 ? 0 : n;
    std::vector<int64_t> counts;
    {
        nb::gil_scoped_release release;
        counts.reserve(count * 7);
        PairCounter counter;
        for (size_t i = 0; i < count; ++i)
            append(counter.count(human.data() + i * stride, metric.data() + i * n,
                                 static_cast<int64_t>(n), epsilon),
                   counts);
    }
    return give(std::move(counts), {count, 7});
}

// Draws x points: how often each point occurs in a draw.
void check_draws(const Numbers& human, const Numbers& metric, const Times& times) {
    if (human.size() != times.shape(1) || metric.size() != times.shape(1))
        throw nb::value_error("human scores, metric scores and draws differ in shape");
    check_no_nan(human);
    check_no_nan(metric);
    const int32_t* const first = times.data();
    if (std::any_of(first, first + times.size(), [](int32_t t) { return t < 0; }))
        throw nb::value_error("a point is there a negative number of times");
}

// Pair counts of each draw, without a threshold; pairs of a point with its own copy are excluded.
Array<int64_t> drawn_pair_counts(Numbers human, Numbers metric, Times times) {
    check_draws(human, metric, times);
    const size_t count = times.shape(0), n = times.shape(1);
    std::vector<int64_t> counts;
    {
        nb::gil_scoped_release release;
        counts.resize(count * 7);
        const SortedPoints points(human.data(), metric.data(), static_cast<int64_t>(n));
        const ItemTimes<uint32_t> often(times.data(), count, n);
        PairLanes<uint32_t, uint64_t> pairs;
        for (size_t first = 0; first < count; first += kLanes) {
            size_t column = 0;
            pairs
                .draw(points, [&](int64_t at,
                                  Lanes<uint32_t>& lanes) { lanes = often.of(first / kLanes, at); })
                .columns([&](const auto* lane_counts) {
                    for (size_t i = first; column < 7 && i < std::min(count, first + kLanes); ++i)
                        counts[i * 7 + column] = static_cast<int64_t>(lane_counts[i - first]);
                    ++column;
                });
        }
    }
    return give(std::move(counts), {count, 7});
}

Array<double> py_drawn_pearson(Numbers human, Numbers metric, Times times) {
    check_draws(human, metric, times);
    const size_t count = times.shape(0), n = times.shape(1);
    std::vector<double> r(count);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < count; ++i)
            r[i] = drawn_pearson(human.data(), metric.data(), times.data() + i * n,
                                 static_cast<int64_t>(n));
    }
    return give(std::move(r), {count});
}

// The best tie threshold over groups of points, its accuracy, and the number of groups and pairs
// used. `copies` is the number of pairs of a point with its own copy in each group.
nb::tuple calibrate_ties(Numbers human, Numbers metric, Offsets offsets, Offsets copies,
                         int64_t band, nb::object check) {
    if (band < 1) throw nb::value_error("a band holds at least one pair");
    const size_t groups = offsets.shape(0) ? offsets.shape(0) - 1 : 0;
    if (human.shape(0) != metric.shape(0)) throw nb::value_error("scores differ in number");
    for (size_t i = 0; i < human.shape(0); ++i)
        if (!std::isfinite(human(i)) || !std::isfinite(metric(i)))
            throw nb::value_error("the scores are not all finite");
    for (size_t g = 0; g < groups; ++g)
        if (offsets(g) < 0 || offsets(g) > offsets(g + 1) ||
            offsets(g + 1) > static_cast<int64_t>(human.shape(0)))
            throw nb::value_error("the groups are not in order");
    if (copies.shape(0) != groups) throw nb::value_error("copies and groups differ in number");
    for (size_t g = 0; g < groups; ++g)
        if (copies(g) < 0) throw nb::value_error("there is a negative number of copies");
    Calibrated calibrated;
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        TieCalibration ties(band);
        for (size_t g = 0; g < groups; ++g)
            ties.group(human.data() + offsets(g), metric.data() + offsets(g),
                       offsets(g + 1) - offsets(g), copies(g));
        calibrated = ties.best(poll);
    }
    return nb::make_tuple(calibrated.epsilon, calibrated.accuracy, calibrated.groups,
                          calibrated.pairs);
}

// Groups x 2: pairs that only the first metric gets right, and only the second.
Array<int64_t> right_pairs(Numbers human, Numbers first, Numbers second, Offsets offsets,
                           double first_epsilon, double second_epsilon, nb::object check) {
    const size_t groups = offsets.shape(0) ? offsets.shape(0) - 1 : 0;
    if (first.shape(0) != human.shape(0) || second.shape(0) != human.shape(0))
        throw nb::value_error("scores differ in number");
    for (size_t g = 0; g < groups; ++g)
        if (offsets(g) < 0 || offsets(g) > offsets(g + 1) ||
            offsets(g + 1) > static_cast<int64_t>(human.shape(0)))
            throw nb::value_error("the groups are not in order");
    std::vector<int64_t> pair_counts;
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        int64_t pairs = 0;
        for (size_t g = 0; g < groups; ++g) {
            RightPairs right;
            const int64_t begin = offsets(g), n = offsets(g + 1) - begin;
            for (int64_t i = 0; i < n; ++i) {
                add_right_pairs(human.data() + begin, first.data() + begin, second.data() + begin,
                                i, first_epsilon, second_epsilon, right);
                if ((pairs += i) < kPairsBetweenPolls) continue;
                poll();
                pairs = 0;
            }
            pair_counts.push_back(right.first_only);
            pair_counts.push_back(right.second_only);
        }
    }
    return give(std::move(pair_counts), {groups, 2});
}

// Systems x systems: the number of trials in which one system leads another by at least the real
// difference. `sums` is systems x trials.
Array<int64_t> reached(Table sums, Table real) {
    const size_t systems = sums.shape(0);
    if (real.shape(0) != systems || real.shape(1) != systems)
        throw nb::value_error("sums and real differences differ in number");
    std::vector<int64_t> reached_counts(systems * systems);
    {
        nb::gil_scoped_release release;
        count_reached(sums.data(), systems, sums.shape(1), real.data(), reached_counts.data());
    }
    return give(std::move(reached_counts), {systems, systems});
}

}  // namespace

void bind_stats(nb::module_& m) {
    m.def("tally", &py_tally, "draws"_a, "items"_a);
    m.def("chosen_sums", &py_chosen_sums, "words"_a, "rows"_a);
    m.def("average_ranks", &py_average_ranks, "rows"_a);
    m.def("pair_counts", &pair_counts, "human"_a, "metric"_a, "epsilon"_a);
    m.def("drawn_pair_counts", &drawn_pair_counts, "human"_a, "metric"_a, "times"_a);
    m.def("drawn_pearson", &py_drawn_pearson, "human"_a, "metric"_a, "times"_a);
    m.def("calibrate_ties", &calibrate_ties, "human"_a, "metric"_a, "offsets"_a, "copies"_a,
          "band"_a, "check"_a.none());
    m.def("right_pairs", &right_pairs, "human"_a, "first"_a, "second"_a, "offsets"_a,
          "first_epsilon"_a, "second_epsilon"_a, "check"_a.none());
    m.def("reached", &reached, "sums"_a, "real"_a);
}

}  // namespace karat
