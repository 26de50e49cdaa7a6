// Python bindings of statistics over many draws, for all groups of cells at once.
//
// Cells are the cells with scores, group after group; results are draws x groups.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/bind.hpp"
#include "stats/lanes.hpp"
#include "stats/pair_lanes.hpp"
#include "stats/pearson_lanes.hpp"

namespace karat {
namespace {

constexpr size_t kCounts = 8;  // the counts of pairs, and the number of points
constexpr size_t kFew = 255;  // most points whose pairs fit 16-bit counts

void check_groups(const Offsets& offsets, size_t cells) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(cells))
        throw nb::value_error("the groups do not fit the cells");
    for (size_t g = 1; g < n; ++g)
        if (offsets(g - 1) > offsets(g)) throw nb::value_error("the groups are not in order");
}

void check_scores(const Numbers& scores, size_t cells) {
    if (scores.shape(0) != cells) throw nb::value_error("scores and cells differ in number");
    const double* const x = scores.data();
    if (std::any_of(x, x + cells, [](double v) { return std::isnan(v); }))
        throw nb::value_error("there is a NaN among the scores");
}

void check_places(const Offsets& places, size_t cells, size_t items) {
    if (places.shape(0) != cells) throw nb::value_error("places and cells differ in number");
    for (size_t i = 0; i < cells; ++i)
        if (places(i) < 0 || places(i) >= static_cast<int64_t>(items))
            throw nb::value_error("a cell is in no row or column");
}

// The largest sum of row counts, or column counts, in one draw.
uint64_t most_drawn(const Times& times) {
    uint64_t most = 0;
    for (size_t d = 0; d < times.shape(0); ++d) {
        uint64_t sum = 0;
        for (size_t i = 0; i < times.shape(1); ++i) {
            if (times(d, i) < 0) throw nb::value_error("there is a negative number of times");
            sum += static_cast<uint64_t>(times(d, i));
        }
        most = std::max(most, sum);
    }
    return most;
}

// Counts x groups x draws, filled 64 draws of a group at a time.
struct Filled {
    Unset<double> values;
    size_t groups, draws;

    Filled(size_t counts, size_t groups_, size_t draws_)
        : values(counts * groups_ * draws_), groups(groups_), draws(draws_) {}
    double* at(size_t count, size_t group, size_t draw) {
        return values.data() + (count * groups + group) * draws + draw;
    }
};

template <class Sums>
void put(const Sums& sums, size_t lanes, size_t group, size_t first, Filled& filled) {
    size_t column = 0;
    sums.columns(
        [&](const auto* counts) { std::copy_n(counts, lanes, filled.at(column++, group, first)); });
}

struct Drawn {  // inputs of both drawn statistics
    const double *human, *metric;
    Cells cells;
    Times row_times, column_times;
    size_t draws() const { return row_times.shape(0); }
};

template <class Count, class Wide>
void count_drawn(const Drawn& of, Filled& filled) {
    const ItemTimes<Count> rows(of.row_times.data(), of.draws(), of.row_times.shape(1));
    const ItemTimes<Count> columns(of.column_times.data(), of.draws(), of.column_times.shape(1));
    PairLanes<Count, Wide> pairs;
    for (size_t g = 0; g < of.cells.groups; ++g) {
        const int64_t first = of.cells.offsets[g];
        const SortedPoints points(of.human + first, of.metric + first, of.cells.size(g));
        for (size_t d = 0; d < of.draws(); d += kLanes) {
            const DrawnTimes<Count> times{rows, columns, of.cells.rows + first,
                                          of.cells.columns + first, d / kLanes};
            put(pairs.draw(points, times), std::min(kLanes, of.draws() - d), g, d, filled);
        }
    }
}

Drawn checked(const Numbers& human, const Numbers& metric, const Offsets& rows,
              const Offsets& columns, const Offsets& offsets, const Times& row_times,
              const Times& column_times) {
    const size_t cells = human.shape(0);
    check_scores(human, cells);
    check_scores(metric, cells);
    check_groups(offsets, cells);
    check_places(rows, cells, row_times.shape(1));
    check_places(columns, cells, column_times.shape(1));
    if (row_times.shape(0) != column_times.shape(0))
        throw nb::value_error("rows and columns differ in the number of draws");
    return {human.data(),
            metric.data(),
            {rows.data(), columns.data(), offsets.data(), offsets.shape(0) - 1},
            row_times,
            column_times};
}

Array<double> drawn_group_pairs(Numbers human, Numbers metric, Offsets rows, Offsets columns,
                                Offsets offsets, Times row_times, Times column_times) {
    const Drawn of = checked(human, metric, rows, columns, offsets, row_times, column_times);
    const uint64_t by_rows = most_drawn(row_times), by_columns = most_drawn(column_times);
    constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
    if (by_rows && by_columns > most / by_rows) throw nb::value_error("a draw is too large");
    const uint64_t points = by_rows * by_columns;
    Filled filled(kCounts, of.cells.groups, of.draws());
    {
        nb::gil_scoped_release release;
        if (points <= kFew)
            count_drawn<uint16_t, uint16_t>(of, filled);
        else if (points <= std::numeric_limits<uint16_t>::max())
            count_drawn<uint16_t, uint32_t>(of, filled);
        else
            count_drawn<uint32_t, uint64_t>(of, filled);
    }
    return filled.values.give({kCounts, of.cells.groups, of.draws()});
}

Array<double> drawn_group_pearson(Numbers human, Numbers metric, Offsets rows, Offsets columns,
                                  Offsets offsets, Times row_times, Times column_times) {
    const Drawn of = checked(human, metric, rows, columns, offsets, row_times, column_times);
    most_drawn(row_times), most_drawn(column_times);
    Filled filled(1, of.cells.groups, of.draws());
    {
        nb::gil_scoped_release release;
        const ItemTimes<double> by_row(row_times.data(), of.draws(), row_times.shape(1));
        const ItemTimes<double> by_column(column_times.data(), of.draws(), column_times.shape(1));
        Lanes<double> r;
        for (size_t g = 0; g < of.cells.groups; ++g)
            for (size_t d = 0; d < of.draws(); d += kLanes) {
                const int64_t first = of.cells.offsets[g];
                const DrawnTimes<double> times{by_row, by_column, of.cells.rows + first,
                                               of.cells.columns + first, d / kLanes};
                drawn_pearson_lanes(of.human + first, of.metric + first, of.cells.size(g), times,
                                    r);
                std::copy_n(r.at, std::min(kLanes, of.draws() - d), filled.at(0, g, d));
            }
    }
    return filled.values.give({of.cells.groups, of.draws()});
}

// ----------------------------------------------------------------------------------- exchanges

struct Exchanged {  // inputs of both exchange statistics
    const double *human, *first, *second;
    const int64_t *bits, *offsets;
    size_t groups;
    int64_t size(size_t group) const { return offsets[group + 1] - offsets[group]; }
};

Exchanged checked(const Numbers& human, const Numbers& first, const Numbers& second,
                  const Offsets& bits, const Offsets& offsets, const Words& words) {
    const size_t cells = human.shape(0);
    for (const Numbers* scores : {&human, &first, &second}) check_scores(*scores, cells);
    check_groups(offsets, cells);
    check_places(bits, cells, 64 * words.shape(0));
    return {human.data(), first.data(),   second.data(),
            bits.data(),  offsets.data(), offsets.shape(0) - 1};
}

template <class Count, class Wide>
void count_exchanged(const Exchanged& of, const Words& words, Filled& filled) {
    const size_t trials = words.shape(1);
    const CellBits bits(words.data(), words.shape(0), trials);
    const ByteLanes<Count> spread;
    PairLanes<Count, Wide> pairs;
    for (size_t g = 0; g < of.groups; ++g) {
        const int64_t begin = of.offsets[g], n = of.size(g);
        std::vector<double> human(of.human + begin, of.human + begin + n), metric(2 * n);
        human.insert(human.end(), of.human + begin, of.human + begin + n);
        std::copy_n(of.first + begin, n, metric.begin());
        std::copy_n(of.second + begin, n, metric.begin() + n);
        SortedPoints points(human.data(), metric.data(), 2 * n);
        points.count_partners();
        for (size_t t = 0; t < trials; t += kLanes) {
            pairs.exchange(points, ExchangedTimes<Count>{spread, bits, of.bits + begin, n,
                                                         t / kLanes});
            const size_t lanes = std::min(kLanes, trials - t);
            put(pairs.first(), lanes, g, t, filled);
            put(pairs.second(), lanes, g, trials + t, filled);
        }
    }
}

// Results of the first metric after each exchange, then of the second.
Array<double> exchanged_group_pairs(Numbers human, Numbers first, Numbers second, Offsets bits,
                                    Offsets offsets, Words words) {
    const Exchanged of = checked(human, first, second, bits, offsets, words);
    Filled filled(kCounts, of.groups, 2 * words.shape(1));
    int64_t most = 0;
    for (size_t g = 0; g < of.groups; ++g) most = std::max(most, of.size(g));
    {
        nb::gil_scoped_release release;
        if (most <= static_cast<int64_t>(kFew))
            count_exchanged<uint16_t, uint16_t>(of, words, filled);
        else if (most <= std::numeric_limits<uint16_t>::max())
            count_exchanged<uint16_t, uint32_t>(of, words, filled);
        else
            count_exchanged<uint32_t, uint64_t>(of, words, filled);
    }
    return filled.values.give({kCounts, filled.groups, filled.draws});
}

Array<double> exchanged_group_pearson(Numbers human, Numbers first, Numbers second, Offsets bits,
                                      Offsets offsets, Words words) {
    const Exchanged of = checked(human, first, second, bits, offsets, words);
    const size_t trials = words.shape(1);
    Filled filled(1, of.groups, 2 * trials);
    {
        nb::gil_scoped_release release;
        const CellBits chosen(words.data(), words.shape(0), trials);
        const ByteLanes<double> spread;
        Lanes<double> first_r, second_r;
        for (size_t g = 0; g < of.groups; ++g) {
            const int64_t begin = of.offsets[g];
            ExchangedPearson group(of.human + begin, of.first + begin, of.second + begin,
                                   of.size(g));
            for (size_t t = 0; t < trials; t += kLanes) {
                const ExchangedTimes<double> second_there{spread, chosen, of.bits + begin, 0,
                                                          t / kLanes};
                group.r(second_there, first_r, second_r);
                const size_t lanes = std::min(kLanes, trials - t);
                std::copy_n(first_r.at, lanes, filled.at(0, g, t));
                std::copy_n(second_r.at, lanes, filled.at(0, g, trials + t));
            }
        }
    }
    return filled.values.give({filled.groups, filled.draws});
}

}  // namespace

void bind_stat_groups(nb::module_& m) {
    m.def("drawn_group_pairs", &drawn_group_pairs, "human"_a, "metric"_a, "rows"_a, "columns"_a,
          "offsets"_a, "row_times"_a, "column_times"_a);
    m.def("drawn_group_pearson", &drawn_group_pearson, "human"_a, "metric"_a, "rows"_a,
          "columns"_a, "offsets"_a, "row_times"_a, "column_times"_a);
    m.def("exchanged_group_pairs", &exchanged_group_pairs, "human"_a, "first"_a, "second"_a,
          "bits"_a, "offsets"_a, "words"_a);
    m.def("exchanged_group_pearson", &exchanged_group_pearson, "human"_a, "first"_a, "second"_a,
          "bits"_a, "offsets"_a, "words"_a);
}

}  // namespace karat
