// Fertility: how many words a word generates (Brown et al. 1993), as an expectation.
//
// If place i generates word j with probability p_ij, the number phi_i of words that it generates
// has the Poisson-binomial distribution Q_i. Words e have the fertilities
//
//     nu_e(phi) ~ count_e(phi) + nu(phi),   count_e(phi) = sum over places i of e of Q_i(phi)
//
// where nu is the distribution over all words; the counts of a sentence itself are excluded.
// Generating one more word j changes the probability of a place's fertility by nu_e(phi + 1) /
// nu_e(phi). So t(f_j|e_i) is multiplied by
//
//     exp(weight E[log(nu_e(phi + 1) / nu_e(phi))])
//
// where phi is the number of words that i generates without j. Words with p_ij below .01 use the
// expectation over Q_i, which hardly differs.
#pragma once
#include <cstdint>
#include <vector>

#include "core/elementary_functions.hpp"
#include "paraphrase/align/exact_sums.hpp"

namespace karat::paraphrase {

// Probabilities of 0, 1, ..., 6, and of 7 or more.
struct PoissonBinomial {
    static constexpr int sizes = 8;
    float of[sizes] = {1.0f};

    // One more trial, with the probability p.
    void add(float p) {
        const float q = 1.0f - p, most = of[sizes - 1] + of[sizes - 2] * p;
        float before[sizes + 1] = {};
        for (int k = 0; k < sizes; ++k) before[k + 1] = of[k];
        for (int k = 0; k < sizes; ++k) of[k] = before[k + 1] * q + before[k] * p;
        of[sizes - 1] = most;
    }
};

// The fertilities of all words in one direction.
class Fertilities {
  public:
    static constexpr int sizes = PoissonBinomial::sizes;

    explicit Fertilities(size_t words) : counts_(words * sizes, 0), new_(words * sizes) {}

    void add(int32_t word, const PoissonBinomial& q) {
        for (int k = 0; k < sizes; ++k) new_.add(word * static_cast<size_t>(sizes) + k, q.of[k]);
    }

    // Every fertility is possible: 2^-phi is added to the counts of all words.
    void update() {
        double sums[sizes], all = 0;
        for (int k = 0; k < sizes; ++k) sums[k] = 1.0 / (1 << k);
        for (size_t i = 0; i < counts_.size(); ++i) counts_[i] = new_.fixed_point(i);
        for (size_t i = 0; i < counts_.size(); i += sizes)
            for (int k = 0; k < sizes; ++k)
                sums[k] += static_cast<double>(counts_[i + k]) / ExactSums::unit;
        for (const double sum : sums) all += sum;
        for (int k = 0; k < sizes; ++k) of_all_[k] = sums[k] / all;
        new_.clear();
    }

    // log(nu(phi + 1) / nu(phi)) of a word without the sentence's own counts; the largest phi uses
    // the value of the one before.
    void log_ratios(int32_t word, const int64_t* sentence_counts, double* ratios) const {
        double last = 0;
        for (int k = 0; k < sizes; ++k) {
            const double now = quick_log_of(nu(word, k, sentence_counts[k]));
            if (k) ratios[k - 1] = now - last;
            last = now;
        }
        ratios[sizes - 1] = ratios[sizes - 2];
    }

    // Not normalised.
    double nu(int32_t word, int phi, int64_t sentence_count) const {
        const int64_t count = counts_[word * static_cast<size_t>(sizes) + phi] - sentence_count;
        return static_cast<double>(count) / ExactSums::unit + of_all_[phi];
    }

  private:
    std::vector<int64_t> counts_;
    ExactSums new_;
    double of_all_[sizes] = {};  // nu
};

// The factors of one sentence pair in one direction.
class FertilityFactors {
  public:
    static constexpr float small = 0.01f;

    // `likely(i, j)` is p_ij of n places and m words.
    template <class Likely>
    void set(int64_t n, int64_t m, Likely likely) {
        n_ = n;
        m_ = m;
        places_.assign(n, {});
        large_.clear();
        for (int64_t i = 0; i < n; ++i) {
            Place& place = places_[i];
            place.begin = large_.size();
            for (int64_t j = 0; j < m; ++j) {
                const float p = likely(i, j);
                if (p >= small)
                    large_.push_back({j, p});
                else if (p > 0)
                    place.improbable.add(p);
            }
            place.end = large_.size();
            place.all = without(place, place.end);
        }
    }
    const PoissonBinomial& operator[](int64_t i) const { return places_[i].all; }

    // Counts the fertilities; `words` are the words at the places.
    void count(const int32_t* words, Fertilities& into) const {
        for (int64_t i = 0; i < n_; ++i) into.add(words[i], places_[i].all);
    }

    // Multiplies a table with rows of n + 1 places for each of m words. `first` is, for every
    // place, the first place of the same word.
    void apply(const int32_t* words, const std::vector<int64_t>& first, const Fertilities& of,
               double weight, float* table) {
        constexpr int sizes = Fertilities::sizes;
        own_counts_.assign(n_ * sizes, 0);
        for (int64_t i = 0; i < n_; ++i)
            for (int k = 0; k < sizes; ++k)
                own_counts_[first[i] * sizes + k] +=
                    ExactSums::to_fixed_point(places_[i].all.of[k]);
        for (int64_t i = 0; i < n_; ++i) {
            double ratios[sizes];
            of.log_ratios(words[i], own_counts_.data() + first[i] * sizes, ratios);
            factors_.assign(m_, factor(places_[i].all, ratios, weight));
            for (size_t k = places_[i].begin; k < places_[i].end; ++k)
                factors_[large_[k].word] = factor(without(places_[i], k), ratios, weight);
            for (int64_t j = 0; j < m_; ++j) table[j * (n_ + 1) + i + 1] *= factors_[j];
        }
    }

  private:
    struct Place {
        PoissonBinomial improbable, all;  // distributions of the improbable words, and of all
        size_t begin = 0, end = 0;  // range of the probable words
    };
    struct Large {
        int64_t word;
        float p;
    };

    PoissonBinomial without(const Place& place, size_t left_out) const {
        PoissonBinomial distribution = place.improbable;
        for (size_t k = place.begin; k < place.end; ++k)
            if (k != left_out) distribution.add(large_[k].p);
        return distribution;
    }

    static float factor(const PoissonBinomial& q, const double* ratios, double weight) {
        double sum = 0;
        for (int k = 0; k < Fertilities::sizes; ++k) sum += q.of[k] * ratios[k];
        return static_cast<float>(quick_exp_of(weight * sum));
    }

    int64_t n_ = 0, m_ = 0;
    std::vector<Place> places_;
    std::vector<Large> large_;
    std::vector<int64_t> own_counts_;
    std::vector<float> factors_;
};

}  // namespace karat::paraphrase
