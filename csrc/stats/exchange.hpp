// Sums over random choices of rows, from packed bits (after Arlazarov et al. 1970).
//
// Eight rows have 256 possible sums. With many trials it is cheaper to compute them all and look
// one up per trial than to add rows one at a time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace karat {

// The bits of words[k][t] are the rows among 64k … 64k+63 that trial t chose; bits beyond `n` are
// zero.
inline std::vector<double> chosen_sums(const uint64_t* words, size_t count, size_t trials,
                                       const double* rows, size_t n, size_t columns) {
    std::vector<double> sums(trials * columns, 0.0), table(256 * columns);
    for (size_t first = 0; first < n && first < 64 * count; first += 8) {
        std::fill(table.begin(), table.begin() + columns, 0.0);
        for (size_t bit = 0, half = 1; bit < 8; ++bit, half *= 2) {
            const double* const row = first + bit < n ? rows + (first + bit) * columns : nullptr;
            for (size_t k = 0; k < half; ++k)
                for (size_t c = 0; c < columns; ++c)
                    table[(half + k) * columns + c] = table[k * columns + c] + (row ? row[c] : 0.0);
        }
        const uint64_t* const word = words + first / 64 * trials;
        for (size_t t = 0; t < trials; ++t) {
            const double* const sum =
                table.data() + (word[t] >> (first % 64) & 255) * columns;
            for (size_t c = 0; c < columns; ++c) sums[t * columns + c] += sum[c];
        }
    }
    return sums;
}

}  // namespace karat
