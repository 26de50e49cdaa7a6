// Sets of up to 64 small numbers as the bits of one machine word.
#pragma once
#include <cstdint>

namespace karat {

// The smallest number in a nonempty set.
inline int lowest(uint64_t set) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(set);
#else
    int number = 0;
    for (; !(set & 1); set >>= 1) ++number;
    return number;
#endif
}

// The number of zero bits above the largest number in a nonempty set.
inline int zeros_above(uint64_t set) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_clzll(set);
#else
    int zeros = 0;
    for (; !(set >> 63); set <<= 1) ++zeros;
    return zeros;
#endif
}

}  // namespace karat
