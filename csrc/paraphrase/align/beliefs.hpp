// Link posteriors of two aligners, one per direction, for one sentence pair, and links from them.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace karat::paraphrase {

struct LinkRows {
    std::vector<int32_t> source, pivot;
    std::vector<int64_t> ends;  // end of every sentence pair
};

enum class Decode { mean, forward, backward };

// The weight of a link, given its posteriors in the two directions. Liang, Taskar & Klein (2006)
// use the product; if both are uncertain it is very small, so that a few easy sentences outweigh
// all others. The root of the product minimises the sum of the (generalised Kullback-Leibler)
// divergences from the two posteriors.
enum class Agreement { product, root, min };

inline float agreed(Agreement agreement, float forward, float backward) {
    if (agreement == Agreement::min) return forward < backward ? forward : backward;
    return agreement == Agreement::root ? std::sqrt(forward * backward) : forward * backward;
}

struct Beliefs {
    int64_t n = 0, m = 0;                // source and pivot words
    std::vector<float> ahead, backward;  // P(a_j = i) at j n + i, P(b_i = j) at i m + j

    void resize(int64_t source, int64_t pivot) {
        n = source;
        m = pivot;
        ahead.resize(n * m);
        backward.resize(n * m);
    }
    float of_source(int64_t i, int64_t j) const { return ahead[j * n + i]; }
    float of_pivot(int64_t i, int64_t j) const { return backward[i * m + j]; }

    void links(Decode rule, double threshold, LinkRows& out) {
        if (rule != Decode::mean) choose(rule == Decode::forward);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < m; ++j) {
                if (!linked(rule, i, j, threshold)) continue;
                out.source.push_back(static_cast<int32_t>(i));
                out.pivot.push_back(static_cast<int32_t>(j));
            }
    }

  private:
    // The most probable place of every generated word; -1 for the null word.
    void choose(bool forward) {
        const auto& beliefs = forward ? ahead : backward;
        const int64_t words = forward ? m : n, places = forward ? n : m;
        best_.assign(words, -1);
        for (int64_t j = 0; j < words; ++j) {
            double null = 1.0;
            for (int64_t i = 0; i < places; ++i) null -= beliefs[j * places + i];
            double most = null;
            for (int64_t i = 0; i < places; ++i) {
                if (beliefs[j * places + i] <= most) continue;
                most = beliefs[j * places + i];
                best_[j] = i;
            }
        }
    }

    bool linked(Decode rule, int64_t i, int64_t j, double threshold) const {
        if (rule == Decode::forward) return best_[j] == i;
        if (rule == Decode::backward) return best_[i] == j;
        return (static_cast<double>(of_source(i, j)) + of_pivot(i, j)) / 2 >= threshold;
    }

    std::vector<int64_t> best_;
};

}  // namespace karat::paraphrase
