// How alike two responses to a question are where they speak of a nugget.
//
//     near(g, i, j) = sum of w(u, g) over the units u that both have
//                     / sqrt(the same sum over the units of i, times that over those of j)
//     w(u, g) = log((n + 1) / (c(u) + 1/2)) (max(a(u, g) - 1, 0) + 1/20 + 6 [u is in a text of g])
//     a(u, g) = (sum of r(s, g) over the k sentences s that have u + 2 r(g)) / ((k + 2) r(g))
//
// Units are n-grams of a sentence's tokens that c(u) >= 2 of the n responses have; r(s, g) is given:
// how much a sentence is about the nugget; r(g) is its mean over all sentences. So a unit weighs
// much if it stands in the nugget's text, or beside words that do, and hardly anything elsewhere.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "numbering.hpp"
#include "ragged.hpp"

namespace karat {

class NuggetNearness {
  public:
    // Response i has the sentences from bounds[i] on; `relevance` has a row for each sentence and
    // a column for each nugget; nugget g has the texts from nuggets[g] on.
    NuggetNearness(const Ragged& sentences, const int64_t* bounds, int64_t responses,
                   const Ragged& texts, const int64_t* nuggets, size_t count,
                   const double* relevance, int order)
        : order_(order), count_(count), has_(responses) {
        numbers_.reset(1 << 12);
        for (int64_t i = 0; i < responses; ++i)
            for (int64_t s = bounds[i]; s < bounds[i + 1]; ++s)
                read(sentences, s, i, relevance + (s - bounds[0]) * count);
        weigh(means(relevance, bounds[responses] - bounds[0]), owned(texts, nuggets));
    }

    // Responses x the first of them x nuggets.
    template <class Poll>
    void measure(size_t first, double* rows, Poll&& poll) const {
        const auto posted = postings(first);
        const std::vector<double> norms = lengths();
        for (size_t i = 0; i < has_.size(); ++i) {
            double* const row = rows + i * first * count_;
            add_shared(i, posted, row);
            for (size_t j = 0; j < std::min(first, i + 1); ++j)
                divide(row + j * count_, norms.data() + i * count_, norms.data() + j * count_);
            if (i % 64 == 63) poll();
        }
        for (size_t i = 0; i < first; ++i)  // near(i, j) = near(j, i)
            for (size_t j = 0; j < i; ++j)
                std::copy_n(rows + (i * first + j) * count_, count_,
                            rows + (j * first + i) * count_);
    }

  private:
    struct Unit {
        int64_t sentence = -1, response = -1;  // that had it last
        double sentences = 0, responses = 0;   // that have it
    };

    uint64_t key(const int32_t* ids) const {
        uint64_t found = 0;
        for (int k = 0; k < order_; ++k) found = found << 21 | static_cast<uint32_t>(ids[k]);
        return found;
    }

    void read(const Ragged& sentences, int64_t s, int64_t i, const double* relevance) {
        for (int64_t at = 0; at + order_ <= sentences.length(s); ++at) {
            const auto u = static_cast<size_t>(numbers_.add(key(sentences.begin(s) + at)) - 1);
            if (u == units_.size()) {
                units_.emplace_back();
                weights_.resize(weights_.size() + count_, 0.0);
            }
            Unit& unit = units_[u];
            if (unit.sentence == s) continue;
            unit.sentence = s;
            ++unit.sentences;
            for (size_t g = 0; g < count_; ++g) weights_[u * count_ + g] += relevance[g];
            if (unit.response == i) continue;
            unit.response = i;
            ++unit.responses;
            has_[i].push_back(static_cast<int32_t>(u));
        }
    }

    std::vector<double> means(const double* relevance, int64_t sentences) const {
        std::vector<double> found(count_, 0.0);
        for (int64_t s = 0; s < sentences; ++s)
            for (size_t g = 0; g < count_; ++g) found[g] += relevance[s * count_ + g];
        for (double& one : found) one /= static_cast<double>(std::max<int64_t>(sentences, 1));
        return found;
    }

    // Units x nuggets: whether a text of the nugget has it.
    std::vector<char> owned(const Ragged& texts, const int64_t* nuggets) const {
        std::vector<char> found(weights_.size(), 0);
        for (size_t g = 0; g < count_; ++g)
            for (int64_t t = nuggets[g]; t < nuggets[g + 1]; ++t)
                for (int64_t at = 0; at + order_ <= texts.length(t); ++at)
                    if (const int32_t u = numbers_.find(key(texts.begin(t) + at)))
                        found[static_cast<size_t>(u - 1) * count_ + g] = 1;
        return found;
    }

    // The sums of relevance become weights; what one response alone has weighs nothing.
    void weigh(const std::vector<double>& mean, const std::vector<char>& own) {
        const auto n = static_cast<double>(has_.size());
        for (size_t u = 0; u < units_.size(); ++u) {
            const Unit& unit = units_[u];
            const double idf =
                unit.responses > 1 ? std::log((n + 1) / (unit.responses + 0.5)) : 0.0;
            for (size_t g = 0; g < count_; ++g) {
                double& weight = weights_[u * count_ + g];
                const double about =
                    mean[g] > 0 ? (weight + 2 * mean[g]) / ((unit.sentences + 2) * mean[g]) : 1.0;
                weight = idf * (std::max(about - 1, 0.0) + 0.05 + 6.0 * own[u * count_ + g]);
            }
        }
    }

    // The first responses that have each unit, in their order.
    std::vector<std::vector<int32_t>> postings(size_t first) const {
        std::vector<std::vector<int32_t>> found(units_.size());
        for (size_t j = 0; j < first; ++j)
            for (const int32_t u : has_[j])
                if (units_[u].responses > 1) found[u].push_back(static_cast<int32_t>(j));
        return found;
    }

    // Responses x nuggets: the root of the sum of weights.
    std::vector<double> lengths() const {
        std::vector<double> found(has_.size() * count_, 0.0);
        for (size_t i = 0; i < has_.size(); ++i)
            for (const int32_t u : has_[i])
                for (size_t g = 0; g < count_; ++g)
                    found[i * count_ + g] += weights_[u * count_ + g];
        for (double& one : found) one = std::sqrt(one);
        return found;
    }

    // With those up to itself.
    void add_shared(size_t i, const std::vector<std::vector<int32_t>>& posted, double* row) const {
        for (const int32_t u : has_[i]) {
            const double* const weight = weights_.data() + static_cast<size_t>(u) * count_;
            for (const int32_t j : posted[u]) {
                if (static_cast<size_t>(j) > i) break;
                double* const sums = row + static_cast<size_t>(j) * count_;
                for (size_t g = 0; g < count_; ++g) sums[g] += weight[g];
            }
        }
    }

    void divide(double* sums, const double* a, const double* b) const {
        for (size_t g = 0; g < count_; ++g)
            sums[g] = sums[g] > 0 ? sums[g] / (a[g] * b[g]) : 0.0;
    }

    const int order_;
    const size_t count_;  // nuggets
    Numbering numbers_;
    std::vector<Unit> units_;
    std::vector<double> weights_;            // units x nuggets
    std::vector<std::vector<int32_t>> has_;  // the units of each response
};

}  // namespace karat
