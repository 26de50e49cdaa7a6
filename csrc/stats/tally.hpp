// Bootstrap draws as counts.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace karat {

// How often each of `items` items was drawn in each of `rows` resamples of `n` draws.
inline std::vector<double> tally(const int64_t* draws, size_t rows, size_t n, size_t items) {
    std::vector<double> counts(rows * items, 0.0);
    for (size_t b = 0; b < rows; ++b)
        for (size_t k = 0; k < n; ++k) {
            const int64_t i = *draws++;
            if (i < 0 || static_cast<size_t>(i) >= items) throw std::out_of_range("no such item");
            counts[b * items + static_cast<size_t>(i)] += 1.0;
        }
    return counts;
}

}  // namespace karat
