// Sums that are exact, whatever the order: numbers as whole part + 32 + 32 bits.
//
// A number is rounded to a multiple of 2^-64 and cut into three whole numbers, its limbs,
// whole + middle 2^-32 + low 2^-64, each with the sign of the number. Sums of limbs are whole
// numbers, so they do not depend on threads, partitions or the processor; only the result is
// rounded, to the nearest double.
#pragma once
#include <cmath>
#include <cstdint>

namespace karat {

constexpr double kTwo32 = 4294967296.0;
constexpr double kLargestExact = kTwo32;  // limbs are below 2^32

inline bool can_be_exact(double x) { return std::fabs(x) < kLargestExact; }

struct Limbs {
    double whole, middle, low;
};

inline Limbs limbs_of(double x) {
    const double whole = std::trunc(x), rest = (x - whole) * kTwo32, middle = std::trunc(rest);
    // Below 2^-11 a double has bits beyond 2^-64: they are rounded, ties to even. That may give
    // 2^32, which is a limb as good as any.
    return {whole, middle, std::nearbyint((rest - middle) * kTwo32)};
}

struct ExactSum {
    int64_t whole = 0, middle = 0, low = 0;

    // A number for which can_be_exact holds.
    void add(double x) {
        const Limbs limbs = limbs_of(x);
        whole += static_cast<int64_t>(limbs.whole);
        middle += static_cast<int64_t>(limbs.middle);
        low += static_cast<int64_t>(limbs.low);
    }

    // Limbs of 32 bits add up 2^30 times before they must be carried.
    void carry() {
        middle += low >> 32, low &= 0xffffffff;
        whole += middle >> 32, middle &= 0xffffffff;
    }

    // The nearest double, ties to even.
    double value() const {
        ExactSum s = *this;
        s.carry();
        const bool negative = s.whole < 0;
        uint64_t high = static_cast<uint64_t>(s.whole);
        uint64_t below = static_cast<uint64_t>(s.middle) << 32 | static_cast<uint64_t>(s.low);
        if (negative) below = ~below + 1, high = ~high + (below == 0);
        const double magnitude = rounded(high, below);
        return negative ? -magnitude : magnitude;
    }

  private:
    // high + below 2^-64: the top 64 bits with a sticky bit for the rest, rounded once.
    static double rounded(uint64_t high, uint64_t below) {
        if (!high && !below) return 0;
        int shift = 0;
        for (; !(high >> 63); ++shift) high = high << 1 | below >> 63, below <<= 1;
        // 53 bits stay; the double nearest to high | sticky is nearest to the whole number, too.
        const uint64_t kept = high >> 11, cut = high & 0x7ff;
        const bool up = cut > 0x400 || (cut == 0x400 && (below || kept & 1));
        return std::ldexp(static_cast<double>(kept + up), 11 - shift);
    }
};

}  // namespace karat
