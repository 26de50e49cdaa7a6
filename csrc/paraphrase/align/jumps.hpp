// The jumps of the alignment HMM (Vogel, Ney & Tillmann 1996): from place h to place i,
//
//     P(i | h) = c(i - h) / Z(h),   Z(h) = sum over i of c(i - h)
//
// Jumps share eleven weights c: <= -5, -4, ..., 4, >= 5. Place 0 is before a sentence of n places,
// and place n + 1 after it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "paraphrase/align/exact_sums.hpp"

namespace karat::paraphrase {

struct Jumps {
    static constexpr int far = 5;                // jumps this long or longer share a bucket
    static constexpr int buckets = 2 * far + 1;  // of jumps: bucket d + far for jump d
    static constexpr double even = 0.01;         // the share that is spread evenly
    float weight[buckets];

    Jumps() { std::fill(weight, weight + buckets, 1.0f / buckets); }

    static int bucket(int64_t jump) {
        return static_cast<int>(std::min<int64_t>(std::max<int64_t>(jump, -far), far)) + far;
    }
    float operator()(int64_t jump) const { return weight[bucket(jump)]; }

    // The number of places 1 … n + 1 whose distance from h is in a bucket.
    static int64_t reach(int b, int64_t h, int64_t n) {
        if (b == 0) return std::max<int64_t>(0, h - far);
        if (b == buckets - 1) return std::max<int64_t>(0, n + 2 - h - far);
        const int64_t to = h + b - far;
        return to >= 1 && to <= n + 1;
    }

    double total(int64_t h, int64_t n) const {
        double sum = 0;
        for (int b = 0; b < buckets; ++b) sum += weight[b] * static_cast<double>(reach(b, h, n));
        return sum;
    }

    // The fixed-point scale of one jump for `words` generated words. A sentence has a departure
    // for each word, and one out of the sentence; from each, a bucket's reach / Z is at most 1 /
    // c(b) <= buckets / even. So all counts fit into 64 bits.
    static double one_of(int64_t words) {
        return ExactSums::one_of(2.0 * static_cast<double>(words) * (buckets / even));
    }

    // One part in a hundred is spread evenly, so that no jump becomes impossible.
    void set(const double* shares) {
        double sum = 0;
        for (int b = 0; b < buckets; ++b) sum += shares[b];
        for (int b = 0; sum > 0 && b < buckets; ++b)
            weight[b] = static_cast<float>(0.99 * shares[b] / sum + even / buckets);
    }
};

// Expected jumps of one sentence pair, by the place that they leave: `made_jumps` (one row of
// places for each bucket, not yet multiplied by the weights of jumps), `left` (departures) and
// `ends` (jumps out of the sentence), all to be divided by the likelihood. Rows have padding on
// both sides.
struct JumpsMade {
    int64_t n = 0, stride = 0;
    double likelihood = 0;
    std::vector<float> made_jumps, left, ends;

    void clear(int64_t places) {
        n = places;
        stride = n + 1 + 2 * Jumps::far;
        made_jumps.assign(Jumps::buckets * stride, 0.0f);
        left.assign(n + 1, 0.0f);
        ends.assign(n + 1, 0.0f);
    }
    const float* row(int b) const { return made_jumps.data() + b * stride + Jumps::far; }
    float* row(int b) { return made_jumps.data() + b * stride + Jumps::far; }
};

// The statistics for the M-step of the jumps. Z depends on the weights, so it takes the step that
// raises the likelihood with Z replaced by its tangent (a majorisation, as in Hunter & Lange 2004):
//
//     c(b) = made(b) / could(b),   could(b) = sum over departures from h of reach(b, h) / Z(h)
class JumpCounts {
  public:
    // For a text with `words` words on its longer side.
    explicit JumpCounts(int64_t words)
        : made_sums_(Jumps::buckets, Jumps::one_of(words)),
          possible_sums_(Jumps::buckets, made_sums_.one_each()) {}

    void add(const JumpsMade& of, const Jumps& jumps) {
        double made_jumps[Jumps::buckets] = {}, could[Jumps::buckets] = {};
        const double scale = 1.0 / of.likelihood;
        for (int b = 0; b < Jumps::buckets; ++b) {
            const float* const row = of.row(b);
            double sum = 0;
            for (int64_t h = 0; h <= of.n; ++h) sum += row[h];
            made_jumps[b] = sum * scale * jumps.weight[b];
        }
        for (int64_t h = 0; h <= of.n; ++h) {
            const double departures = of.left[h] * scale, z = jumps.total(h, of.n);
            for (int b = 0; b < Jumps::buckets; ++b)
                could[b] += departures / z * static_cast<double>(Jumps::reach(b, h, of.n));
            made_jumps[Jumps::bucket(of.n + 1 - h)] += of.ends[h] * scale;
        }
        for (int b = 0; b < Jumps::buckets; ++b) {
            made_sums_.add(b, made_jumps[b]);
            possible_sums_.add(b, could[b]);
        }
    }
    void update(Jumps& jumps) {
        update(jumps, fixed_point());
        made_sums_.clear();
        possible_sums_.clear();
    }

    // Both counts of every bucket as integers, which can be added to the counts of other texts.
    using Whole = std::array<std::array<int64_t, Jumps::buckets>, 2>;
    Whole fixed_point() const {
        Whole sums;
        for (int b = 0; b < Jumps::buckets; ++b) {
            sums[0][b] = made_sums_.fixed_point(b);
            sums[1][b] = possible_sums_.fixed_point(b);
        }
        return sums;
    }

    static void update(Jumps& jumps, const Whole& counts) {
        double shares[Jumps::buckets];
        for (int b = 0; b < Jumps::buckets; ++b) {
            const auto made_jumps = static_cast<double>(counts[0][b]);
            const auto could = static_cast<double>(counts[1][b]);
            shares[b] = could > 0 ? made_jumps / could : 0.0;
        }
        jumps.set(shares);
    }

  private:
    ExactSums made_sums_, possible_sums_;  // in this order: the second has the unit of the first
};

}  // namespace karat::paraphrase
