// Exact sums in any order: numbers are stored as an integer part + 32 + 32 bits.
//
// A number is rounded to a multiple of 2^-64 and cut into three whole numbers, its limbs,
// whole + middle 2^-32 + low 2^-64, each with the sign of the number. Sums of limbs are whole
// numbers, so they do not depend on threads, partitions or the processor; only the result is
// rounded, to the nearest double.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/bits.hpp"

namespace karat {

constexpr double kTwo32 = 4294967296.0;
constexpr double kLargestExact = kTwo32;  // limbs are below 2^32

inline bool can_be_exact(double x) { return std::fabs(x) < kLargestExact; }

struct Limbs {
    double integer, middle, low;
};

inline Limbs limbs_of(double x) {
    const double integer = std::trunc(x), fraction = (x - integer) * kTwo32,
                 middle = std::trunc(fraction);
    // Below 2^-11 a double has bits beyond 2^-64: they are rounded, ties to even. The result may be
    // 2^32, which is a valid limb.
    return {integer, middle, std::nearbyint((fraction - middle) * kTwo32)};
}

struct ExactSum {
    int64_t integer = 0, middle = 0, low = 0;

    // A number that satisfies can_be_exact.
    void add(double x) {
        const Limbs limbs = limbs_of(x);
        integer += static_cast<int64_t>(limbs.integer);
        middle += static_cast<int64_t>(limbs.middle);
        low += static_cast<int64_t>(limbs.low);
    }

    // Limbs of 32 bits add up 2^30 times before they must be carried.
    void carry() {
        middle += low >> 32, low &= 0xffffffff;
        integer += middle >> 32, middle &= 0xffffffff;
    }

    // The nearest double, ties to even.
    double value() const {
        ExactSum s = *this;
        s.carry();
        const bool negative = s.integer < 0;
        uint64_t high = static_cast<uint64_t>(s.integer);
        uint64_t below = static_cast<uint64_t>(s.middle) << 32 | static_cast<uint64_t>(s.low);
        if (negative) below = ~below + 1, high = ~high + (below == 0);
        const double magnitude = rounded(high, below);
        return negative ? -magnitude : magnitude;
    }

  private:
    // 2^exponent, for exponents in the range of doubles.
    static double power_of_two(int exponent) {
        const uint64_t bits = static_cast<uint64_t>(1023 + exponent) << 52;
        double power;
        std::memcpy(&power, &bits, sizeof power);
        return power;
    }

    // high + below 2^-64: the top 64 bits with a sticky bit for the rest, rounded once.
    static double rounded(uint64_t high, uint64_t below) {
        if (!high && !below) return 0;
        int shift = 0;
        if (!high) high = below, below = 0, shift = 64;
        if (const int zeros = zeros_above(high)) {
            high = high << zeros | below >> (64 - zeros);
            below <<= zeros;
            shift += zeros;
        }
        // 53 bits stay; the double nearest to high | sticky is nearest to the whole number, too.
        const uint64_t mantissa = high >> 11, cut = high & 0x7ff;
        const bool up = cut > 0x400 || (cut == 0x400 && (below || mantissa & 1));
        return static_cast<double>(mantissa + up) * power_of_two(11 - shift);
    }
};

// counts x rows of limbs, each sum rounded once. Counts are whole numbers that add up to at most
// 2^21 in a draw, so that sums of products with limbs are integers that a double represents
// exactly.
class ExactProduct {
  public:
    // All values of `rows` satisfy can_be_exact.
    ExactProduct(const double* rows, size_t n, size_t columns) : n_(n), columns_(columns) {
        for (auto& limb : limbs_) limb.resize(n * columns);
        for (size_t i = 0; i < n * columns; ++i) {
            const Limbs cut = limbs_of(rows[i]);
            limbs_[0][i] = cut.integer, limbs_[1][i] = cut.middle, limbs_[2][i] = cut.low;
            used_[1] |= cut.middle != 0, used_[2] |= cut.low != 0;
        }
    }

    // The sums of one draw. Columns are processed in small blocks, so that their sums stay in
    // registers.
    void sums(const double* counts, double* out) {
        nonzero_rows_.clear();
        for (size_t i = 0; i < n_; ++i)
            if (counts[i] != 0) nonzero_rows_.push_back(i);
        for (size_t c = 0; c < columns_; c += kSome) {
            const size_t width = std::min(kSome, columns_ - c);
            double parts[3][kSome] = {};
            for (size_t part = 0; part < 3; ++part)
                if (used_[part]) add(counts, part, c, width, parts[part]);
            for (size_t k = 0; k < width; ++k)
                out[c + k] =
                    ExactSum{static_cast<int64_t>(parts[0][k]), static_cast<int64_t>(parts[1][k]),
                             static_cast<int64_t>(parts[2][k])}
                        .value();
        }
    }

  private:
    static constexpr size_t kSome = 16;

    void add(const double* counts, size_t part, size_t column, size_t width, double* sums) const {
        double partial_sums[kSome] = {};
        for (const size_t i : nonzero_rows_) {
            const double* const row = &limbs_[part][i * columns_ + column];
            if (width == kSome)
                for (size_t k = 0; k < kSome; ++k) partial_sums[k] += counts[i] * row[k];
            else
                for (size_t k = 0; k < width; ++k) partial_sums[k] += counts[i] * row[k];
        }
        std::copy_n(partial_sums, kSome, sums);
    }

    size_t n_, columns_;
    std::vector<double> limbs_[3];
    bool used_[3] = {true, false, false};  // integers need one limb
    std::vector<size_t> nonzero_rows_;
};

}  // namespace karat
