// Pearson's r for many draws of one group of points, 64 draws at a time.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "stats/lanes.hpp"

namespace karat {

// The largest sum of squared deviations from their rounded mean that equal scores can have: for
// `count` scores, summed in n steps. Above this bound the scores certainly differ.
inline double constant_squares(const double* x, int64_t n, double count) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
    const double error = (static_cast<double>(n) + 2) * 2.3e-16 * largest;
    return 2 * count * error * error;
}

inline double quotient_r(double xx, double yy, double xy) {
    const double norms = std::sqrt(xx) * std::sqrt(yy);
    if (!(norms > 0)) return std::numeric_limits<double>::quiet_NaN();
    return std::clamp(xy / norms, -1.0, 1.0);
}

// Performs the same operations as `drawn_pearson`, with bit-identical results; `times(i, lanes)`
// fills in how often a point occurs.
template <class Times>
void drawn_pearson_lanes(const double* x, const double* y, int64_t n, const Times& times,
                         Lanes<double>& r) {
    Lanes<double> t, count, mean_x, mean_y, xx, yy, xy;
    for (int64_t i = 0; i < n; ++i) {
        times(i, t);
        for (size_t k = 0; k < kLanes; ++k) {
            count[k] += t[k];
            mean_x[k] += t[k] * x[i];
            mean_y[k] += t[k] * y[i];
        }
    }
    for (size_t k = 0; k < kLanes; ++k) mean_x[k] /= count[k], mean_y[k] /= count[k];
    for (int64_t i = 0; i < n; ++i) {
        times(i, t);
        for (size_t k = 0; k < kLanes; ++k) {
            const double dx = x[i] - mean_x[k], dy = y[i] - mean_y[k];
            xx[k] += t[k] * dx * dx;
            yy[k] += t[k] * dy * dy;
            xy[k] += t[k] * dx * dy;
        }
    }
    // Equal scores are constant even if their mean is rounded.
    const auto constant = [&](const double* scores, size_t k) {
        bool has_first = false;
        double first = 0;
        for (int64_t i = 0; i < n; ++i) {
            times(i, t);
            if (!(t[k] > 0)) continue;
            if (has_first && scores[i] != first) return false;
            first = scores[i], has_first = true;
        }
        return true;
    };
    const double x_bound = constant_squares(x, n, 1), y_bound = constant_squares(y, n, 1);
    for (size_t k = 0; k < kLanes; ++k) {
        r[k] = quotient_r(xx[k], yy[k], xy[k]);
        if ((xx[k] <= x_bound * count[k] && constant(x, k)) ||
            (yy[k] <= y_bound * count[k] && constant(y, k)))
            r[k] = std::numeric_limits<double>::quiet_NaN();
    }
}

// Pearson's r of two metrics that exchange scores: all points occur, each with the score of one
// metric or the other. Terms of the human scores alone are computed once. Scores are centered at
// their overall mean, so that r comes from sums, and the sums of one metric are the total minus the
// sums of the other; where sums of squares would lose precision, deviations are used instead.
class ExchangedPearson {
  public:
    ExchangedPearson(const double* human, const double* first, const double* second, int64_t n)
        : gaps_(human, human + n), first_(first, first + n), second_(second, second + n) {
        const auto count = static_cast<double>(n);
        double mean = 0, middle = 0;
        for (int64_t i = 0; i < n; ++i) {
            mean += human[i] / count;
            middle += (first[i] + second[i]) / (2 * count);
        }
        if (std::all_of(human, human + n, [&](double h) { return h == human[0]; })) return;
        for (double& gap : gaps_) gap -= mean, squares_ += gap * gap;
        for (size_t i = 0; i < gaps_.size(); ++i) {
            const double a = first_[i] - middle, b = second_[i] - middle;
            moves_.push_back({b - a, b * b - a * a, gaps_[i] * (b - a)});
            before_[0] += a, before_[1] += a * a, before_[2] += gaps_[i] * a;
            after_[0] += b, after_[1] += b * b, after_[2] += gaps_[i] * b;
        }
    }

    // `second(i, lanes)` is 1 in draws in which a point of the first metric has the second's score.
    // `first_r` is r of the first metric after the exchange, `second_r` of the second.
    template <class Second>
    void r(const Second& second, Lanes<double>& first_r, Lanes<double>& second_r) {
        if (!(squares_ > 0)) {
            std::fill_n(first_r.at, kLanes, std::numeric_limits<double>::quiet_NaN());
            second_r = first_r;
            return;
        }
        Lanes<double> is_second, y, yy, xy;
        for (size_t i = 0; i < moves_.size(); ++i) {
            second(static_cast<int64_t>(i), is_second);
            const auto& move = moves_[i];
            for (size_t k = 0; k < kLanes; ++k) {
                y[k] += is_second[k] * move[0];
                yy[k] += is_second[k] * move[1];
                xy[k] += is_second[k] * move[2];
            }
        }
        for (size_t k = 0; k < kLanes; ++k) {
            first_r[k] = of_sums(before_[0] + y[k], before_[1] + yy[k], before_[2] + xy[k]);
            second_r[k] = of_sums(after_[0] - y[k], after_[1] - yy[k], after_[2] - xy[k]);
            if (std::isnan(first_r[k])) first_r[k] = of_deviations(second, k, true);
            if (std::isnan(second_r[k])) second_r[k] = of_deviations(second, k, false);
        }
    }

  private:
    // NaN if the mean accounts for too much of the sum of squares: the rest would be mostly
    // rounding error.
    double of_sums(double y, double yy, double xy) const {
        const double spread = yy - y * y / static_cast<double>(gaps_.size());
        const double all = before_[1] + after_[1];
        if (!(spread > kSafe * all)) return std::numeric_limits<double>::quiet_NaN();
        return quotient_r(squares_, spread, xy);
    }

    template <class Second>
    double of_deviations(const Second& second, size_t k, bool of_first) const {
        const size_t n = gaps_.size();
        std::vector<double> scores(n);
        double mean = 0;
        Lanes<double> is_second;
        for (size_t i = 0; i < n; ++i) {
            second(static_cast<int64_t>(i), is_second);
            scores[i] = (is_second[k] > 0) == of_first ? second_[i] : first_[i];
            mean += scores[i] / static_cast<double>(n);
        }
        // Equal scores are constant even if their mean is rounded.
        if (std::all_of(scores.begin(), scores.end(), [&](double y) { return y == scores[0]; }))
            return std::numeric_limits<double>::quiet_NaN();
        double yy = 0, xy = 0;
        for (size_t i = 0; i < n; ++i) {
            const double gap = scores[i] - mean;
            yy += gap * gap;
            xy += gaps_[i] * gap;
        }
        return quotient_r(squares_, yy, xy);
    }

    static constexpr double kSafe = 1e-2;  // at most two of sixteen digits are lost

    std::vector<double> gaps_;  // deviations of human scores from their mean
    std::vector<double> first_, second_;
    // Changes of the sums if a point takes the second metric's score.
    std::vector<std::array<double, 3>> moves_;
    double squares_ = 0, before_[3] = {}, after_[3] = {};
};

}  // namespace karat
