// Rows of ids of unequal length: the only representation of tokens in algorithms.
#pragma once
#include <cstdint>

namespace karat {

struct Ragged {
    const int32_t* ids;
    const int64_t* offsets;
    const int32_t* begin(int64_t i) const { return ids + offsets[i]; }
    int64_t length(int64_t i) const { return offsets[i + 1] - offsets[i]; }
};

}  // namespace karat
