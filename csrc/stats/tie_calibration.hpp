// The tie threshold that makes a metric agree best with humans (Deutsch, Foster, Freitag 2023).
//
// Accuracy at epsilon: the share of a group's pairs that are concordant and further apart than
// epsilon, or tied in the human scores and no further apart; then the mean over groups. It only
// changes at differences between metric scores of one group, so trying all of them is exact.
// Discordant pairs are never correct, so they are skipped.
//
// There can be many more pairs than fit into memory. They are taken in bands of rising difference:
// with points sorted by metric score, the pairs of one point in a band are its next neighbours.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "stats/ranks.hpp"

namespace karat {

struct Calibrated {
    double epsilon = 0, accuracy = 0;
    int64_t groups = 0, pairs = 0;  // groups with at least one pair
};

class TieCalibration {
  public:
    explicit TieCalibration(int64_t band) : band_(band) {}

    // In a resample, `copies` pairs consist of a point and its own copy, and do not count.
    void group(const double* human, const double* metric, int64_t n, int64_t copies) {
        const int64_t pairs = n * (n - 1) / 2 - copies;
        if (pairs < 1) return;
        best_.pairs += pairs;
        ++best_.groups;
        const int32_t size = size_class(pairs);
        const PairCounts counts = counter_.count(human, metric, n, 0);
        if (copies > counts.both_ties)
            throw std::invalid_argument("there are more pairs of copies than ties");
        right_[size] += counts.concordant + counts.both_ties - copies;
        const auto begin = static_cast<int64_t>(human_.size());
        order_of(metric, n, order_);
        for (const Place& place : order_) {
            metric_.push_back(place.value);
            human_.push_back(human[place.at]);
        }
        groups_.push_back({begin, begin + n, best_.pairs, size});
    }

    // The smallest epsilon with the best accuracy. `poll` is called after each band; it may throw.
    template <class Poll>
    Calibrated best(Poll& poll) {
        best_.accuracy = accuracy();
        next_.clear();
        for (size_t i = 0; i < metric_.size(); ++i) next_.push_back(static_cast<int64_t>(i) + 1);
        for (const double highest : bands()) {
            collect(highest);
            merge();
            walk();
            poll();
        }
        return best_;
    }

  private:
    // Thresholds that are equally good may differ by the rounding of their sums over size classes.
    static constexpr double rounding = 1e-12;

    struct Group {
        int64_t begin, end;
        int64_t pairs;  // of this group and all before
        int32_t size;
    };
    struct Step {
        double gap;
        int32_t size;
        int64_t change;  // in correct pairs once epsilon reaches the gap
    };

    // Groups of one size share a count: whole numbers are added up, so the order of
    // pairs does not matter.
    int32_t size_class(int64_t pairs) {
        const auto [at, is_new] = classes_.emplace(pairs, static_cast<int32_t>(right_.size()));
        if (is_new) {
            right_.push_back(0);
            sizes_.push_back(static_cast<double>(pairs));
        }
        return at->second;
    }

    double accuracy() const {
        double sum = 0;
        for (size_t k = 0; k < sizes_.size(); ++k)
            sum += static_cast<double>(right_[k]) / sizes_[k];
        return sum / static_cast<double>(best_.groups);
    }

    // The highest difference of each band: quantiles of a sample, so that bands have about the
    // intended size. The boundaries do not affect the result.
    std::vector<double> bands() const {
        std::vector<double> sample, highest;
        const int64_t count = best_.pairs / band_;
        uint64_t state = 1;
        for (int64_t k = 0; k < 32 * count; ++k) sample.push_back(some_gap(state));
        std::sort(sample.begin(), sample.end());
        for (int64_t k = 1; k <= count; ++k) {
            const double edge = sample[32 * k - 1];
            if (highest.empty() || edge > highest.back()) highest.push_back(edge);
        }
        highest.push_back(std::numeric_limits<double>::infinity());
        return highest;
    }

    double some_gap(uint64_t& state) const {
        const auto pair = static_cast<int64_t>(random(state) % static_cast<uint64_t>(best_.pairs));
        const auto in = std::upper_bound(groups_.begin(), groups_.end(), pair,
                                         [](int64_t p, const Group& g) { return p < g.pairs; });
        const auto n = static_cast<uint64_t>(in->end - in->begin);
        const double gap = metric_[in->begin + static_cast<int64_t>(random(state) % n)] -
                           metric_[in->begin + static_cast<int64_t>(random(state) % n)];
        return gap < 0 ? -gap : gap;
    }

    static uint64_t random(uint64_t& state) {  // SplitMix64 (Steele, Lea, Flood 2014)
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    void collect(double highest) {
        steps_.clear();
        size_t most = 2 * static_cast<size_t>(band_);
        for (const Group& group : groups_)
            for (int64_t i = group.begin; i < group.end; ++i) {
                for (int64_t& j = next_[i]; j < group.end; ++j) {
                    const double gap = metric_[j] - metric_[i];
                    if (gap > highest) break;
                    if (gap > 0 && human_[j] >= human_[i])
                        steps_.push_back({gap, group.size, human_[j] == human_[i] ? 1 : -1});
                }
                if (steps_.size() > most) {  // many equal differences: one step for all of them
                    merge();
                    most = std::max(most, 2 * steps_.size());
                }
            }
    }

    void merge() {
        std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
            return a.gap < b.gap || (a.gap == b.gap && a.size < b.size);
        });
        size_t n_merged = 0;
        for (const Step& step : steps_) {
            if (n_merged && steps_[n_merged - 1].gap == step.gap &&
                steps_[n_merged - 1].size == step.size)
                steps_[n_merged - 1].change += step.change;
            else
                steps_[n_merged++] = step;
        }
        steps_.resize(n_merged);
    }

    void walk() {
        for (size_t i = 0; i < steps_.size();) {
            const double gap = steps_[i].gap;
            for (; i < steps_.size() && steps_[i].gap == gap; ++i)
                right_[steps_[i].size] += steps_[i].change;
            const double now = accuracy();
            if (now <= best_.accuracy + rounding) continue;
            best_.accuracy = now;
            best_.epsilon = gap;
        }
    }

    int64_t band_;  // pairs
    PairCounter counter_;
    Order order_;
    std::vector<Group> groups_;
    std::vector<double> human_, metric_;  // group after group, by rising metric score
    std::vector<int64_t> next_;           // first unvisited neighbour of each point
    std::map<int64_t, int32_t> classes_;
    std::vector<int64_t> right_;
    std::vector<double> sizes_;
    std::vector<Step> steps_;
    Calibrated best_;
};

}  // namespace karat
