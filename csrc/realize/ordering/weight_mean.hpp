// The mean of several snapshots of weights during training, which is more accurate than the last
// one.
#pragma once
#include <cstddef>
#include <vector>

namespace karat::ordering {

class WeightMean {
  public:
    explicit WeightMean(size_t size) : sums_(size) {}

    void remember(const std::vector<float>& weights) {
        for (size_t i = 0; i < weights.size(); ++i) sums_[i] += weights[i];
        ++remembered_;
    }

    // The mean, or the current weights if there are no snapshots.
    std::vector<float> mean(const std::vector<float>& weights) const {
        if (!remembered_) return weights;
        const float scale = 1.0f / static_cast<float>(remembered_);
        std::vector<float> out(sums_);
        for (float& w : out) w *= scale;
        return out;
    }

  private:
    std::vector<float> sums_;
    int remembered_ = 0;
};

}  // namespace karat::ordering
