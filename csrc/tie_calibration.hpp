// The tie threshold that makes a metric agree best with humans (Deutsch, Foster, Freitag 2023).
//
// Accuracy at epsilon: the share of a group's pairs that are concordant and further apart than
// epsilon, or tied in the human scores and no further apart; then the mean over groups. It only
// changes at differences between metric scores of one group, so trying all of them is exact.
// Discordant pairs are never right, so they are not looked at.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace karat {

struct Calibrated {
    double epsilon = 0, accuracy = 0;
    int64_t groups = 0, pairs = 0;  // groups with at least one pair
};

class TieCalibration {
  public:
    // Room for so many pairs at once: growing would need it three times over.
    void reserve(size_t pairs) { steps_.reserve(pairs); }

    void group(const double* human, const double* metric, int64_t n) {
        if (n < 2) return;
        const int64_t pairs = n * (n - 1) / 2;
        const int32_t size = size_class(pairs);
        found_.pairs += pairs;
        ++found_.groups;
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < i; ++j) add(human[i] - human[j], metric[i] - metric[j], size);
    }

    // The smallest epsilon of those with the best accuracy, as if found by trying them in order.
    Calibrated best() {
        std::sort(steps_.begin(), steps_.end(),
                  [](const Step& a, const Step& b) { return a.gap < b.gap; });
        found_.accuracy = accuracy();
        for (size_t i = 0; i < steps_.size();) {
            const double gap = steps_[i].gap;
            for (; i < steps_.size() && steps_[i].gap == gap; ++i)
                right_[steps_[i].size] += steps_[i].change;
            const double now = accuracy();
            if (now <= found_.accuracy) continue;
            found_.accuracy = now;
            found_.epsilon = gap;
        }
        return found_;
    }

  private:
    struct Step {
        double gap;
        int32_t size;
        int32_t change;  // of the pairs that are right, once epsilon reaches the gap
    };

    // Groups of one size share a count: whole numbers are added up, so no order of pairs and no
    // rounding decides between thresholds that are equally good.
    int32_t size_class(int64_t pairs) {
        const auto [at, is_new] = classes_.emplace(pairs, static_cast<int32_t>(right_.size()));
        if (is_new) {
            right_.push_back(0);
            sizes_.push_back(static_cast<double>(pairs));
        }
        return at->second;
    }

    void add(double human, double metric, int32_t size) {
        if (human == 0) {
            if (metric == 0) ++right_[size];
            else steps_.push_back({std::fabs(metric), size, 1});
        } else if ((human > 0 && metric > 0) || (human < 0 && metric < 0)) {
            ++right_[size];
            steps_.push_back({std::fabs(metric), size, -1});
        }
    }

    double accuracy() const {
        double sum = 0;
        for (size_t k = 0; k < sizes_.size(); ++k)
            sum += static_cast<double>(right_[k]) / sizes_[k];
        return sum / static_cast<double>(found_.groups);
    }

    std::map<int64_t, int32_t> classes_;
    std::vector<int64_t> right_;
    std::vector<double> sizes_;
    std::vector<Step> steps_;
    Calibrated found_;
};

}  // namespace karat
