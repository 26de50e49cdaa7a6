// Pearson's r for many draws of one set of points; a draw is a vector of counts of the points.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace karat {

// sum t (x - mean x)(y - mean y) / sqrt(sum t (x - mean x)^2) sqrt(sum t (y - mean y)^2); NaN if x
// or y is constant over the drawn points. Deviations are used because sums of squares would lose
// precision.
inline double drawn_pearson(const double* x, const double* y, const int32_t* times, int64_t n) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    double count = 0, sum_x = 0, sum_y = 0;
    for (int64_t i = 0; i < n; ++i) {
        const double t = times[i];
        count += t;
        sum_x += t * x[i];
        sum_y += t * y[i];
    }
    const int64_t first = std::find_if(times, times + n, [](int32_t t) { return t > 0; }) - times;
    if (first == n) return nan;
    const double mean_x = sum_x / count, mean_y = sum_y / count;
    double xx = 0, yy = 0, xy = 0;
    bool x_differs = false, y_differs = false;
    for (int64_t i = 0; i < n; ++i) {
        const double t = times[i], dx = x[i] - mean_x, dy = y[i] - mean_y;
        xx += t * dx * dx;
        yy += t * dy * dy;
        xy += t * dx * dy;
        // Equal scores are constant even if their mean is rounded.
        x_differs |= (times[i] > 0) & (x[i] != x[first]);
        y_differs |= (times[i] > 0) & (y[i] != y[first]);
    }
    const double norms = std::sqrt(xx) * std::sqrt(yy);
    if (!x_differs || !y_differs || !(norms > 0)) return nan;
    return std::clamp(xy / norms, -1.0, 1.0);
}

}  // namespace karat
