// Python bindings of GTM.
#include <algorithm>
#include <functional>
#include <vector>

#include "core/bind.hpp"
#include "core/watch.hpp"
#include "metrics/gtm/search.hpp"

namespace karat {
namespace {

// Raises an error for unsupported input; returns a number above all ids.
uint32_t check_grid(const Ids& c_ids, const Ids& r_ids, const Offsets& r_offsets, double e) {
    const size_t most = size_t{1} << 30;
    if (c_ids.shape(0) > most || r_ids.shape(0) + r_offsets.shape(0) > most)
        throw nb::value_error("more tokens than GTM can number");
    if (!(e >= 1)) throw nb::value_error("the exponent must be at least 1");
    uint32_t largest = 0;
    for (const Ids* ids : {&c_ids, &r_ids})
        for (size_t k = 0; k < ids->shape(0); ++k)
            largest = std::max(largest, static_cast<uint32_t>(ids->data()[k]));
    if (largest >= 1u << 28)  // a table over all ids is allocated
        throw nb::value_error("ids must come from a vocabulary");
    return largest + 1;
}

// For each segment: size, |C|, mean |R|, a bound for the size, and whether it is proven to be the
// largest.
Array<double> gtm_sizes(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                        double e, bool exact, int64_t budget, nb::object check, bool whole_cap) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_offsets.shape(0) - 1;
    check_starts(starts, segments, r_offsets.shape(0) - 1);
    const uint32_t ids = check_grid(c_ids, r_ids, r_offsets, e);
    std::vector<double> rows(segments * 5);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        gtm::Search search(e, exact, budget, whole_cap, ids, watch);
        double* row = rows.data();
        for (size_t i = 0; i < segments; ++i, row += 5) {
            const int64_t length = candidates.length(i);
            const gtm::Answer answer =
                search.weigh(candidates.begin(i), length, references, starts(i), starts(i + 1));
            row[0] = search.power().root(answer.sum, search.cap);
            row[1] = static_cast<double>(length);
            row[2] = search.mean_length;
            const bool met = answer.bound == answer.sum;
            row[3] = met ? row[0] : search.power().root(answer.bound, search.cap);
            row[4] = answer.proven ? 1.0 : 0.0;
            const int64_t* const at = references.offsets;
            const int64_t tokens = at[starts(i + 1)] - at[starts(i)];
            watch.worked(256 + length + tokens);  // minimum cost of a segment
        }
    }
    return give(std::move(rows), {segments, 5});
}

// The matching of one candidate with all references given: its runs as (row, column, length), the
// column counting barriers; how much of each counts; sum of length^e, size, a bound for the size,
// whether it is proven, and the cap. `most_hits` and `narrow` select the algorithms for the greedy
// matching.
nb::tuple gtm_runs(Ids c_ids, Ids r_ids, Offsets r_offsets, double e, bool exact, int64_t budget,
                   double most_hits, bool narrow, bool whole_cap) {
    const Ragged references = ragged(r_ids, r_offsets);
    Poll poll{nb::none()};
    Watch watch(std::ref(poll));
    const uint32_t ids = check_grid(c_ids, r_ids, r_offsets, e);
    gtm::Search search(e, exact, budget, whole_cap, ids, watch);
    search.greedy.most_hits = most_hits;
    search.may_be_narrow = narrow;
    std::vector<gtm::Run> runs;
    std::vector<double> counted_lengths;
    std::vector<int32_t> flat;
    gtm::Answer answer;
    {
        nb::gil_scoped_release release;
        answer = search(c_ids.data(), static_cast<int64_t>(c_ids.shape(0)), references, 0,
                        static_cast<int64_t>(r_offsets.shape(0)) - 1, runs);
        gtm::sort_runs(runs);
        gtm::weigh(runs, search.cap, search.power(), &counted_lengths);
        for (const gtm::Run& run : runs)
            flat.insert(flat.end(), {run.row, run.column, run.length});
    }
    const size_t n = runs.size();
    const gtm::Power& power = search.power();
    const double size = power.root(answer.sum, search.cap);
    const double bound = power.root(answer.bound, search.cap);
    return nb::make_tuple(give(std::move(flat), {n, 3}), give(std::move(counted_lengths), {n}),
                          answer.sum, size, bound, answer.proven, search.cap);
}

}  // namespace

void bind_gtm(nb::module_& m) {
    m.def("gtm_sizes", &gtm_sizes, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a,
          "e"_a, "exact"_a, "budget"_a, "check"_a.none(), "whole_cap"_a = false);
    m.def("gtm_runs", &gtm_runs, "c_ids"_a, "r_ids"_a, "r_offsets"_a, "e"_a, "exact"_a, "budget"_a,
          "most_hits"_a = gtm::Greedy().most_hits, "narrow"_a = true, "whole_cap"_a = false);
}

}  // namespace karat
