// Weights from half bytes, two in a byte: weight = (half byte - 7) · scale of its row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace karat::ordering {

inline void from_half_bytes(const uint8_t* packed, const float* scales, size_t rows, size_t width,
                            float* weights) {
    size_t i = 0;
    for (size_t row = 0; row < rows; ++row) {
        float level[16];
        for (int k = 0; k < 16; ++k) level[k] = static_cast<float>(k - 7) * scales[row];
        for (const size_t end = i + width; i < end; ++i)
            weights[i] = level[i % 2 ? packed[i / 2] >> 4 : packed[i / 2] & 15];
    }
}

}  // namespace karat::ordering
