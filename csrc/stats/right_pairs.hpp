// Pairs that one of two metrics gets right and the other does not.
//
// A pair is right if metric and human scores are in the same order, or tied in both; metric scores
// are tied if they differ by no more than the metric's epsilon.
#pragma once
#include <cstdint>

namespace karat {

struct RightPairs {
    int64_t first_only = 0, second_only = 0;
};

inline int order_of_pair(double gap, double epsilon) { return (gap > epsilon) - (gap < -epsilon); }

// Pairs of point i with those before it.
inline void add_right_pairs(const double* human, const double* first, const double* second,
                            int64_t i, double first_epsilon, double second_epsilon,
                            RightPairs& totals) {
    int64_t first_only = 0, second_only = 0;
    for (int64_t j = 0; j < i; ++j) {
        const int human_order = (human[i] > human[j]) - (human[i] < human[j]);
        const bool first_agrees = order_of_pair(first[i] - first[j], first_epsilon) == human_order;
        const bool second_agrees =
            order_of_pair(second[i] - second[j], second_epsilon) == human_order;
        first_only += first_agrees & !second_agrees;
        second_only += second_agrees & !first_agrees;
    }
    totals.first_only += first_only;
    totals.second_only += second_only;
}

}  // namespace karat
