// Differences between systems in random exchanges of segments.
#pragma once
#include <cstddef>
#include <cstdint>

namespace karat {

// reached[i][j]: the number of trials in which sums[i] - sums[j] is at least real[i][j]. `sums` is
// systems x trials.
inline void count_reached(const double* sums, size_t systems, size_t trials, const double* real,
                          int64_t* reached) {
    for (size_t i = 0; i < systems; ++i)
        for (size_t j = 0; j < systems; ++j) {
            const double *const a = sums + i * trials, *const b = sums + j * trials;
            const double least = real[i * systems + j];
            int64_t count = 0;
            for (size_t t = 0; t < trials; ++t) count += a[t] - b[t] >= least;
            reached[i * systems + j] = count;
        }
}

}  // namespace karat
