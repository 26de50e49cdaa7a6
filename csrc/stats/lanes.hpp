// Lanes: 64 draws of one set of cells, processed in parallel.
//
// The multiplicities of a cell in all draws are adjacent in memory, so that one instruction
// processes several draws. A draw is either the product of the counts of a matrix row and a matrix
// column, or an exchange of two metrics with one bit per cell.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace karat {

constexpr size_t kLanes = 64;

inline size_t lane_blocks(size_t draws) { return (draws + kLanes - 1) / kLanes; }

template <class T>
struct alignas(64) Lanes {
    T at[kLanes] = {};

    T& operator[](size_t k) { return at[k]; }
    const T& operator[](size_t k) const { return at[k]; }
    Lanes& operator+=(const Lanes& other) {
        for (size_t k = 0; k < kLanes; ++k) at[k] = static_cast<T>(at[k] + other.at[k]);
        return *this;
    }
    Lanes& operator-=(const Lanes& other) {
        for (size_t k = 0; k < kLanes; ++k) at[k] = static_cast<T>(at[k] - other.at[k]);
        return *this;
    }
};

// Cells in groups, and their positions in a matrix.
struct Cells {
    const int64_t *rows, *columns;
    const int64_t* offsets;  // of groups
    size_t groups;
    int64_t size(size_t group) const { return offsets[group + 1] - offsets[group]; }
};

// Draws x items, how often each was drawn, as lanes: 64 draws of an item are adjacent.
template <class T>
class ItemTimes {
  public:
    ItemTimes(const int32_t* times, size_t draws, size_t items)
        : items_(items), lanes_(lane_blocks(draws) * items) {
        for (size_t d = 0; d < draws; ++d)
            for (size_t i = 0; i < items; ++i)
                lanes_[d / kLanes * items + i][d % kLanes] = static_cast<T>(times[d * items + i]);
    }
    const Lanes<T>& of(size_t block, int64_t item) const {
        return lanes_[block * items_ + static_cast<size_t>(item)];
    }

  private:
    size_t items_;
    std::vector<Lanes<T>> lanes_;
};

// The multiplicity of each cell of a group: the count of its row times the count of its column.
template <class T>
struct DrawnTimes {
    const ItemTimes<T>&rows, &columns;
    const int64_t *row, *column;  // of the group's cells
    size_t block;

    void operator()(int64_t cell, Lanes<T>& times) const {
        const Lanes<T>&a = rows.of(block, row[cell]), &b = columns.of(block, column[cell]);
        for (size_t k = 0; k < kLanes; ++k) times[k] = static_cast<T>(a[k] * b[k]);
    }
};

// Swaps rows and columns of a matrix of 64 x 64 bits (Warren, Hacker's Delight, 7-3).
inline void transpose_bits(uint64_t* words) {
    uint64_t mask = 0x00000000ffffffff;
    for (size_t width = 32; width; width >>= 1, mask ^= mask << width)
        for (size_t k = 0; k < 64; k = (k + width + 1) & ~width) {
            const uint64_t moved = (words[k] >> width ^ words[k + width]) & mask;
            words[k] ^= moved << width;
            words[k + width] ^= moved;
        }
}

// Transposes words x trials with one bit per cell: for each cell, the bits of 64 trials.
class CellBits {
  public:
    CellBits(const uint64_t* words, size_t count, size_t trials)
        : cells_(64 * count), bits_(lane_blocks(trials) * cells_) {
        for (size_t block = 0; block < lane_blocks(trials); ++block) {
            const size_t first = block * kLanes, n_lanes = std::min(kLanes, trials - first);
            for (size_t w = 0; w < count; ++w) {
                uint64_t* const square = &bits_[block * cells_ + 64 * w];
                std::copy_n(words + w * trials + first, n_lanes, square);
                transpose_bits(square);
            }
        }
    }
    uint64_t of(size_t block, int64_t cell) const {
        return bits_[block * cells_ + static_cast<size_t>(cell)];
    }

  private:
    size_t cells_;
    std::vector<uint64_t> bits_;
};

// Expands each bit of a byte to a separate number.
template <class T>
struct ByteLanes {
    T at[256][8];
    ByteLanes() {
        for (size_t byte = 0; byte < 256; ++byte)
            for (size_t bit = 0; bit < 8; ++bit) at[byte][bit] = static_cast<T>(byte >> bit & 1);
    }
    void spread(uint64_t bits, Lanes<T>& lanes) const {
        for (size_t k = 0; k < kLanes; k += 8, bits >>= 8)
            std::copy_n(at[bits & 255], 8, lanes.at + k);
    }
};

// The points of an exchanged metric are a subset of the points of both metrics: first all of one,
// then all of the other. A point of the second is present where its cell's bit is set, a point of
// the first where it is not.
template <class T>
struct ExchangedTimes {
    const ByteLanes<T>& spread;
    const CellBits& bits;
    const int64_t* cell;  // of the group's points
    int64_t size;
    size_t block;

    void operator()(int64_t point, Lanes<T>& times) const {
        if (point < size)
            spread.spread(~bits.of(block, cell[point]), times);
        else
            spread.spread(bits.of(block, cell[point - size]), times);
    }
};

}  // namespace karat
