// The common interface of GTM's greedy and exact searches.
#pragma once
#include <cstdint>
#include <vector>

#include "core/ragged.hpp"
#include "core/watch.hpp"
#include "metrics/gtm/exact_matching.hpp"
#include "metrics/gtm/greedy_matching.hpp"
#include "metrics/gtm/grid.hpp"
#include "metrics/gtm/narrow_grid.hpp"

namespace karat::gtm {

class Search {
  public:
    // All ids are below `ids`.
    Search(double e, bool exact, int64_t budget, bool whole_cap, uint32_t ids, Watch& watch)
        : power_(e), exact_(e, budget), is_exact_(exact), narrow_(ids), grid_(ids), watch_(watch) {
        grid_.whole_cap = whole_cap;
    }

    // `runs` receives the runs; those of the greedy search are in order, except for runs of one
    // hit.
    Answer operator()(const int32_t* candidate, int64_t length, const Ragged& references,
                      int64_t first, int64_t last, std::vector<Run>& runs) {
        if (!narrow(length, references, first, last))
            return wide(candidate, length, references, first, last, runs);
        runs.clear();
        List list{runs};
        narrow_.match(candidate, length, references, first, last, list);
        return greedy_answer(gtm::weigh(runs, cap, power_));
    }

    // The result without the runs.
    Answer weigh(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
                 int64_t last) {
        if (!narrow(length, references, first, last))
            return wide(candidate, length, references, first, last, runs_);
        Weight weight(power_, cap);
        narrow_.match(candidate, length, references, first, last, weight);
        return greedy_answer(weight.sum());
    }
    const Power& power() const { return power_; }

    double mean_length = 0, cap = 0;  // of the last segment
    Greedy greedy;
    bool may_be_narrow = true;

  private:
    // Sets the lengths of a segment; returns whether the narrow search can handle it.
    bool narrow(int64_t length, const Ragged& references, int64_t first, int64_t last) {
        const int64_t tokens = references.offsets[last] - references.offsets[first];
        mean_length = mean(tokens, last - first);
        cap = gtm::cap(length, mean_length, grid_.whole_cap);
        const int64_t columns = tokens + last - first;  // with barriers
        return !is_exact_ && may_be_narrow && Narrow::fits(length, columns);
    }

    Answer wide(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
                int64_t last, std::vector<Run>& runs) {
        grid_.set(candidate, length, references, first, last);
        if (is_exact_) return exact_.match(grid_, runs, watch_);
        greedy.match(grid_, runs, watch_);
        return greedy_answer(gtm::weigh(runs, cap, power_));
    }

    Answer greedy_answer(double sum) const { return {sum, sum, power_.exponent() == 1}; }

    Power power_;
    Exact exact_;
    bool is_exact_;
    Narrow narrow_;
    Grid grid_;
    Watch& watch_;
    std::vector<Run> runs_;
};

}  // namespace karat::gtm
