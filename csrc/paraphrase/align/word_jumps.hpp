// Jumps that depend on the word w at the place they leave (as in Och & Ney 2003, with words instead
// of classes):
//
//     c_w(b) ~ (made_w(b) + K made(b) / M) / (could_w(b) + K could(b) / M)
//
// where made(b) and could(b) are sums over all words, and M is the number of all jumps: a word's
// jumps are added to K jumps of an average word. The start of a sentence is treated as a word.
#pragma once
#include <cstdint>
#include <vector>

#include "paraphrase/align/jumps.hpp"

namespace karat::paraphrase {

class WordJumps {
  public:
    // For `words` distinct words, in a text with `generated` generated words.
    WordJumps(size_t words, double prior, int64_t generated)
        : prior_(prior),
          jumps_(words + 1),
          made_sums_((words + 1) * Jumps::buckets, Jumps::one_of(generated)),
          possible_sums_((words + 1) * Jumps::buckets, made_sums_.one_each()) {}

    static constexpr int32_t start = -1;  // the word at the start of a sentence
    const Jumps& operator[](int32_t word) const { return jumps_[word + 1]; }

    // The jumps of one sentence pair, whose words at the places from 1 are given.
    void add(const JumpsMade& of, const int32_t* words) {
        const double scale = 1.0 / of.likelihood;
        for (int64_t h = 0; h <= of.n; ++h) {
            const int32_t word = h ? words[h - 1] : start;
            const Jumps& jumps = (*this)[word];
            const double departures = of.left[h] * scale / jumps.total(h, of.n);
            const size_t first = (word + 1) * static_cast<size_t>(Jumps::buckets);
            const int out = Jumps::bucket(of.n + 1 - h);
            for (int b = 0; b < Jumps::buckets; ++b) {
                double n_made = of.row(b)[h] * scale * jumps.weight[b];
                if (b == out) n_made += of.ends[h] * scale;
                made_sums_.add(first + b, n_made);
                possible_sums_.add(first + b,
                                   departures * static_cast<double>(Jumps::reach(b, h, of.n)));
            }
        }
    }

    void update() {
        constexpr int B = Jumps::buckets;
        int64_t n_made[B] = {}, could[B] = {}, all = 0;
        for (size_t k = 0; k < made_sums_.size(); ++k) {
            n_made[k % B] += made_sums_.fixed_point(k);
            could[k % B] += possible_sums_.fixed_point(k);
            all += made_sums_.fixed_point(k);
        }
        for (size_t w = 0; all && w < jumps_.size(); ++w) {
            double shares[B];
            for (int b = 0; b < B; ++b)
                shares[b] =
                    share(made_sums_.fixed_point(w * B + b), possible_sums_.fixed_point(w * B + b),
                          n_made[b], could[b], static_cast<double>(all));
            jumps_[w].set(shares);
        }
        made_sums_.clear();
        possible_sums_.clear();
    }

  private:
    double share(int64_t n_made, int64_t could, int64_t all_made, int64_t all_could,
                 double all) const {
        const double of_all = prior_ / all * made_sums_.one_each();
        const double over = static_cast<double>(could) + of_all * static_cast<double>(all_could);
        const double under = static_cast<double>(n_made) + of_all * static_cast<double>(all_made);
        return over > 0 ? under / over : 0.0;
    }

    const double prior_;  // K
    std::vector<Jumps> jumps_;
    ExactSums made_sums_, possible_sums_;  // in this order: the second has the unit of the first
};

// The weights of jumps at every place of a sentence. Rows `u` and `w` have zeros on both sides.
class WordSteps {
  public:
    explicit WordSteps(const WordJumps& jumps) : jumps_(jumps) {}

    void set(const int32_t* words, int64_t n) {
        stride_ = n + 1 + 2 * Jumps::far;
        weights_.assign(Jumps::buckets * stride_, 0.0f);
        totals_.resize(n + 1);
        for (int64_t h = 0; h <= n; ++h) {
            const Jumps& jumps = jumps_[h ? words[h - 1] : WordJumps::start];
            for (int b = 0; b < Jumps::buckets; ++b)
                weights_[b * stride_ + Jumps::far + h] = jumps.weight[b];
            totals_[h] = jumps.total(h, n);
        }
    }
    double total(int64_t h, int64_t) const { return totals_[h]; }
    float weight(int64_t h, int64_t jump) const { return of(Jumps::bucket(jump) - Jumps::far)[h]; }

    // out[i] = sum over h of u[h] c_h(i - h)
    void arrive(const float* u, int64_t n, float* out) const {
        constexpr int F = Jumps::far;
        const float *const a = of(-4), *const b = of(-3), *const c = of(-2), *const d = of(-1),
                    *const e = of(0), *const f = of(1), *const g = of(2), *const h = of(3),
                    *const k = of(4), *const back = of(-F), *const ahead = of(F);
        for (int64_t i = 1; i <= n; ++i)
            out[i] = a[i + 4] * u[i + 4] + b[i + 3] * u[i + 3] + c[i + 2] * u[i + 2] +
                     d[i + 1] * u[i + 1] + e[i] * u[i] + f[i - 1] * u[i - 1] +
                     g[i - 2] * u[i - 2] + h[i - 3] * u[i - 3] + k[i - 4] * u[i - 4];
        float below = 0, above = 0;
        for (int64_t i = F; i <= n; ++i) out[i] += below += ahead[i - F] * u[i - F];
        for (int64_t i = n - F; i >= 1; --i) out[i] += above += back[i + F] * u[i + F];
    }

    // out[h] = sum over i of c_h(i - h) w[i]
    void depart(const float* w, int64_t n, float* out) const {
        constexpr int F = Jumps::far;
        const float *const a = of(-4), *const b = of(-3), *const c = of(-2), *const d = of(-1),
                    *const e = of(0), *const f = of(1), *const g = of(2), *const k = of(3),
                    *const l = of(4), *const back = of(-F), *const ahead = of(F);
        for (int64_t h = 0; h <= n; ++h)
            out[h] = a[h] * w[h - 4] + b[h] * w[h - 3] + c[h] * w[h - 2] + d[h] * w[h - 1] +
                     e[h] * w[h] + f[h] * w[h + 1] + g[h] * w[h + 2] + k[h] * w[h + 3] +
                     l[h] * w[h + 4];
        float below = 0, above = 0;
        for (int64_t h = F; h <= n; ++h) out[h] += back[h] * (below += w[h - F]);
        for (int64_t h = n - F; h >= 0; --h) out[h] += ahead[h] * (above += w[h + F]);
    }

  private:
    const float* of(int jump) const {
        return weights_.data() + (jump + Jumps::far) * stride_ + Jumps::far;
    }

    const WordJumps& jumps_;
    int64_t stride_ = 0;
    std::vector<float> weights_;  // one row of places for each bucket
    std::vector<double> totals_;
};

}  // namespace karat::paraphrase
