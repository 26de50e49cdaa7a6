// exp, log and related functions, computed from additions, products and quotients only.
//
// The C library and numpy choose among several routines by the processor they run on, and these
// differ in the last bit. Here every step is one that IEEE 754 defines to the bit, so results are
// the same everywhere (the kernel is compiled without fused multiply-add). Where a last bit would
// be lost, numbers are carried as an unevaluated sum of two doubles; results are within about half
// a unit in the last place for exp, log, log10 and log1p.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace karat {

// hi + lo, where hi is the sum rounded to a double.
struct Double2 {
    double hi, lo;
};

// a + b exactly (Knuth).
inline Double2 two_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

// a + b exactly, if |a| >= |b| or a is 0 (Dekker).
inline Double2 quick_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

// a * b exactly, away from overflow and underflow (Veltkamp's split, Dekker's product).
inline Double2 two_product(double a, double b) {
    constexpr double kSplit = 134217729.0;  // 2^27 + 1
    const double p = a * b;
    const double sa = kSplit * a, sb = kSplit * b;
    const double a1 = sa - (sa - a), b1 = sb - (sb - b);
    const double a2 = a - a1, b2 = b - b1;
    return {p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2};
}

namespace elementary {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ln 2 = kLn2 + kLn2Rest; the first has 11 zero bits at its end, so that k * kLn2 is exact.
constexpr double kLn2 = 0x1.62e42fefa3800p-1, kLn2Rest = 0x1.ef35793c76730p-45;
constexpr double kOverLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr Double2 kOverLn10{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr Double2 kThird{0x1.5555555555555p-2, 0x1.5555555555555p-56};
constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
constexpr double kOverSqrtPi = 0x1.20dd750429b6dp-1;

inline uint64_t bits_of(double x) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline double of_bits(uint64_t bits) {
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// The last bit of doubles of this size is worth 1, so k + kWhole rounds to an integer.
constexpr double kWhole = 0x1.8p52;

// 2^k of k + kWhole, for k from -1022 to 1023.
inline double power_of_two(double shifted) { return of_bits((bits_of(shifted) + 1023) << 52); }

// 1 / 3! + r / 4! + ... + r^12 / 15!, for |r| <= ln 2 / 2.
inline double exp_tail(double r) {
    constexpr double c[] = {1.0 / 6,         1.0 / 24,          1.0 / 120,
                            1.0 / 720,       1.0 / 5040,        1.0 / 40320,
                            1.0 / 362880,    1.0 / 3628800,     1.0 / 39916800,
                            1.0 / 479001600, 1.0 / 6227020800., 1.0 / 87178291200.,
                            1.0 / 1307674368000.};
    double sum = c[12];
    for (int k = 11; k >= 0; --k) sum = sum * r + c[k];
    return sum;
}

// e^(x.hi + x.lo) = 2^k e^r (1 + rest), and e^r = 1 + r + r^2 / 2 + r^3 tail(r).
inline double exp(Double2 x) {
    if (std::isnan(x.hi)) return x.hi;
    if (x.hi > 709.8) return kInf;
    if (x.hi < -745.2) return 0;
    const double k = std::floor(x.hi * kOverLn2 + 0.5);
    const Double2 away = two_product(k, kLn2Rest);
    const Double2 r = two_sum(x.hi - k * kLn2, -away.hi);
    const double remainder = (r.lo - away.lo) + x.lo;
    const Double2 square = two_product(r.hi, r.hi);
    const double cubes = square.hi * r.hi * exp_tail(r.hi);
    const double slope = 1 + (r.hi + 0.5 * square.hi + cubes);
    const double small = slope * remainder + 0.5 * square.lo + cubes;
    const Double2 first_sum = two_sum(1, r.hi), second_sum = two_sum(first_sum.hi, 0.5 * square.hi);
    return std::ldexp(second_sum.hi + (second_sum.lo + (first_sum.lo + small)),
                      static_cast<int>(k));
}

// 1 / 5 + q / 7 + ... + q^11 / 27, for q <= (3 - sqrt 8)^2.
inline double log_tail(double q) {
    constexpr double c[] = {1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15,
                            1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27};
    double sum = c[11];
    for (int k = 10; k >= 0; --k) sum = sum * q + c[k];
    return sum;
}

// log(x.hi + x.lo) = e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), where the
// number is 2^e m and m is between sqrt(1/2) and sqrt(2). For finite numbers above 0.
inline Double2 log(Double2 x) {
    int e;
    double m = std::frexp(x.hi, &e);
    if (m < kSqrtHalf) m *= 2, --e;
    const double lo = std::ldexp(x.lo, -e);
    const Double2 under = two_sum(m, 1);
    const double first = (m - 1) / under.hi;
    const Double2 back = two_product(first, under.hi);
    const double left = ((m - 1) - back.hi) - back.lo + lo - first * (under.lo + lo);
    const Double2 s = quick_sum(first, left / under.hi);
    Double2 q = two_product(s.hi, s.hi);
    q.lo += 2 * s.hi * s.lo;
    Double2 third = two_product(q.hi, kThird.hi);
    third.lo += q.hi * kThird.lo + q.lo * kThird.hi;
    Double2 more = quick_sum(third.hi, q.hi * q.hi * log_tail(q.hi));
    more.lo += third.lo;
    Double2 part = two_product(2 * s.hi, more.hi);
    part.lo += 2 * (s.hi * more.lo + s.lo * more.hi);
    Double2 log_mantissa = quick_sum(2 * s.hi, part.hi);
    log_mantissa.lo += part.lo + 2 * s.lo;
    const Double2 sum = two_sum(e * kLn2, log_mantissa.hi);
    return quick_sum(sum.hi, sum.lo + (log_mantissa.lo + e * kLn2Rest));
}

// log of special values: 0, infinity, negative numbers and NaN.
inline bool has_log(double x, double* value) {
    if (x > 0 && x < kInf) return true;
    *value = x == 0 ? -kInf : x > 0 ? kInf : kNan;
    return false;
}

inline Double2 times(Double2 a, Double2 b) {
    Double2 p = two_product(a.hi, b.hi);
    p.lo += a.hi * b.lo + a.lo * b.hi;
    return quick_sum(p.hi, p.lo);
}

}  // namespace elementary

inline double exp_of(double x) { return elementary::exp({x, 0}); }

// e^x for hot loops, x from -708 to 709: several times faster than exp_of, and within one unit in
// the last place.
inline double quick_exp_inside(double x) {
    const double shifted = x * elementary::kOverLn2 + elementary::kWhole;
    const double k = shifted - elementary::kWhole;
    const double r = (x - k * elementary::kLn2) - k * elementary::kLn2Rest;
    const double r2 = r * r, r4 = r2 * r2;
    const double first = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    const double second = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    const double third = (1.0 / 3628800 + r * (1.0 / 39916800)) +
                         r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.));
    const double sum = 1 + (r + r2 * (first + r4 * (second + r4 * third)));
    return sum * elementary::power_of_two(shifted);
}

// The same function for any x.
inline double quick_exp_of(double x) {
    return x >= -708 && x <= 709 ? quick_exp_inside(x) : exp_of(x);
}

// e^x of a float, for hot loops: within 0.51 units in the last place.
inline float exp_of(float x) {
    if (std::isnan(x)) return x;
    if (x > 88.72284f) return std::numeric_limits<float>::infinity();
    if (x < -104) return 0;
    const double shifted = x * elementary::kOverLn2 + elementary::kWhole;
    const double k = shifted - elementary::kWhole;
    const double r = x - k * elementary::kLn2, r2 = r * r, r4 = r2 * r2;
    const double low = (1 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
    const double high = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const double sum = low + r4 * (high + r4 * (1.0 / 40320));
    return static_cast<float>(sum * elementary::power_of_two(shifted));
}

inline double log_of(double x) {
    double value;
    return elementary::has_log(x, &value) ? elementary::log({x, 0}).hi : value;
}

// log x for hot loops: a few times faster than log_of, and within one unit in the last place. With
// s = f / (2 + f), log(1 + f) = f - s (f - 2 (s^2 / 3 + s^4 / 5 + ...)).
inline double quick_log_of(double x) {
    if (!(x >= std::numeric_limits<double>::min() && x < elementary::kInf)) return log_of(x);
    constexpr uint64_t kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd;
    const uint64_t shifted = elementary::bits_of(x) + (kOne - kRootHalf);
    const double e = static_cast<double>(static_cast<int>(shifted >> 52) - 1023);
    const double f = elementary::of_bits((shifted & 0x000fffffffffffff) + kRootHalf) - 1;
    const double s = f / (2 + f), q = s * s, q2 = q * q, q4 = q2 * q2;
    const double low = (2.0 / 3 + q * (2.0 / 5)) + q2 * (2.0 / 7 + q * (2.0 / 9));
    const double high = (2.0 / 11 + q * (2.0 / 13)) + q2 * (2.0 / 15 + q * (2.0 / 17));
    const double series = q * (low + q4 * (high + q4 * (2.0 / 19 + q * (2.0 / 21))));
    const double small = e * elementary::kLn2Rest - s * (f - series);
    return e * elementary::kLn2 + (f + small);
}

inline double log10_of(double x) {
    double value;
    if (!elementary::has_log(x, &value)) return value;
    return elementary::times(elementary::log({x, 0}), elementary::kOverLn10).hi;
}

// log(1 + x), exact near 0.
inline double log1p_of(double x) {
    double value;
    if (!elementary::has_log(1 + x, &value)) return value;
    return elementary::log(two_sum(1, x)).hi;
}

// x^y for x >= 0.
inline double power_of(double x, double y) {
    if (y == 0 || x == 1) return 1;
    if (std::isnan(y)) return y;
    double value;
    if (!elementary::has_log(x, &value)) {
        if (std::isnan(value)) return value;
        return (value > 0) == (y > 0) ? elementary::kInf : 0;
    }
    const Double2 log = elementary::log({x, 0});
    if (std::fabs(y * log.hi) > 800) return y * log.hi > 0 ? elementary::kInf : 0;
    Double2 product = two_product(y, log.hi);
    product.lo += y * log.lo;
    return elementary::exp(quick_sum(product.hi, product.lo));
}

// 1 / (1 + e^-x).
inline double sigmoid_of(double x) {
    const double small = exp_of(-std::fabs(x));
    return x >= 0 ? 1 / (1 + small) : small / (1 + small);
}

// log Gamma(x) for x > 0: Stirling's series, after shifting x to at least 15.
inline double log_gamma_of(double x) {
    if (!(x > 0)) return elementary::kNan;
    double shift = 1;
    for (; x < 15; ++x) shift *= x;
    const double z = 1 / (x * x);
    constexpr double c[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                            -691.0 / 360360, 1.0 / 156};
    double series = c[6];
    for (int k = 5; k >= 0; --k) series = series * z + c[k];
    const Double2 log = elementary::log({x, 0}), away = elementary::log({shift, 0});
    const Double2 main = elementary::times({x - 0.5, 0}, log);
    const Double2 less = two_sum(main.hi, -x), net = two_sum(less.hi, -away.hi);
    return net.hi + (net.lo + less.lo + main.lo - away.lo + elementary::kHalfLog2Pi + series / x);
}

// 1 - erf(x): erf's series of positive terms near 0, Laplace's continued fraction further out.
inline double erfc_of(double x) {
    if (std::isnan(x)) return x;
    if (x < 0) return 2 - erfc_of(-x);
    if (x > 27.3) return 0;
    const Double2 square = two_product(x, x);
    const double density = elementary::exp({-square.hi, -square.lo}) * elementary::kOverSqrtPi;
    if (x < 1.5) {
        double term = 2 * x, sum = term;
        for (int n = 1; n < 60; ++n) sum += term *= 2 * square.hi / (2 * n + 1);
        return 1 - density * sum;
    }
    double fraction = x;
    for (int n = 120; n > 0; --n) fraction = x + 0.5 * n / fraction;
    return density / fraction;
}

}  // namespace karat
