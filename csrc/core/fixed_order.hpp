// Matrix products and symmetric linear systems with a fixed order of additions.
//
// In BLAS and LAPACK the order depends on the processor. Here every element of a result is a sum
// over k = 0, 1, 2, ...; SIMD lanes run across elements, never along a sum, so their width does not
// change results.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace karat {

// A matrix with any strides (in elements).
struct Strided {
    const double* data;
    int64_t rows, columns, down, across;
    double operator()(int64_t i, int64_t j) const { return data[i * down + j * across]; }
};

inline void add_scaled(double* __restrict to, const double* __restrict from, double by,
                       int64_t n) {
    for (int64_t j = 0; j < n; ++j) to[j] += by * from[j];
}

// Four such updates in sequence, with the sums read and written once.
inline void add_four(double* __restrict to, const double* __restrict from, int64_t down,
                     const double (&by)[4], int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
        double sum = to[j] + by[0] * from[j];
        sum += by[1] * from[down + j];
        sum += by[2] * from[2 * down + j];
        to[j] = sum + by[3] * from[3 * down + j];
    }
}

// Row i of a times rows k to `end` of b, added to a row of sums.
inline void add_products(const Strided& a, const Strided& b, int64_t i, int64_t k, int64_t end,
                         double* to) {
    for (; k + 4 <= end; k += 4)
        add_four(to, b.data + k * b.down, b.down, {a(i, k), a(i, k + 1), a(i, k + 2), a(i, k + 3)},
                 b.columns);
    for (; k < end; ++k) add_scaled(to, b.data + k * b.down, a(i, k), b.columns);
}

// out = a b, where the rows of b are contiguous; out is a.rows x b.columns. For a transposed `a`,
// rows of b are processed in blocks, which matches its memory layout; the order of additions is the
// same.
inline void product(const Strided& a, const Strided& b, double* out) {
    constexpr int64_t kSome = 32;
    const int64_t m = a.rows, n = b.columns, depth = a.columns;
    const int64_t step = a.across <= a.down ? depth : kSome;
    for (int64_t i = 0; i < m * n; ++i) out[i] = 0;
    for (int64_t k = 0; k < depth; k += step)
        for (int64_t i = 0; i < m; ++i)
            add_products(a, b, i, k, std::min(k + step, depth), out + i * n);
}

// Solutions x of a x = b for a symmetric n x n matrix `a`; only its upper triangle is read: a = L D
// L^T without pivoting, which is safe for positive definite matrices. `b`, n x columns, is replaced
// by x. Returns false if a pivot is 0.
inline bool solve_symmetric(std::vector<double>& a, int64_t n, double* b, int64_t columns) {
    for (int64_t k = 0; k < n; ++k) {
        const double* const row = &a[k * n];
        if (row[k] == 0) return false;
        for (int64_t i = k + 1; i < n; ++i) {
            const double factor = row[i] / row[k];
            add_scaled(&a[i * n + i], row + i, -factor, n - i);
            add_scaled(b + i * columns, b + k * columns, -factor, columns);
        }
    }
    for (int64_t k = n - 1; k >= 0; --k) {
        const double* const row = &a[k * n];
        for (int64_t i = k + 1; i < n; ++i)
            add_scaled(b + k * columns, b + i * columns, -row[i], columns);
        for (int64_t j = 0; j < columns; ++j) b[k * columns + j] /= row[k];
    }
    return true;
}

}  // namespace karat
