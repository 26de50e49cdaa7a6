// Similarity of two responses to a question in the passages about a nugget.
//
//     near(g, i, j) = sum of w(u, g) over the units u that both have
//                     / sqrt(the same sum over the units of i, times the sum over the units of j)
//     w(u, g) = log((n + 1) / (c(u) + 1/2)) (max(a(u, g) - 1, 0) + 1/20 + 6 [u is in a text of g])
//     a(u, g) = (sum of r(s, g) over the k sentences s that have u + 2 r(g)) / ((k + 2) r(g))
//
// Units are n-grams within a sentence that occur in c(u) of the n responses, at least 2 and at most
// a given maximum. r(s, g), an input, is the relevance of a sentence to the nugget; r(g) is its
// mean over all sentences. So a unit has a large weight if it occurs in the nugget's text or next
// to its words, and a small weight otherwise.
//
// The evidence of the first responses for any other response is a sum over its units alone:
// v(u, g) = w(u, g) sum of a(j, g) / |j| over the first responses j that have u, and
//
//     sum of near(g, i, j) a(j, g) = (sum of v(u, g) over the units u of i) / |i|
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/bits.hpp"
#include "core/elementary_functions.hpp"
#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

class NuggetNearness {
  public:
    // The sentences of response i start at bounds[i]; `relevance` has a row for each sentence and a
    // column for each nugget; the texts of nugget g start at nuggets[g].
    NuggetNearness(const Ragged& sentences, const int64_t* bounds, int64_t responses,
                   const Ragged& texts, const int64_t* nuggets, size_t count,
                   const double* relevance, int order, int64_t most)
        : order_(order), count_(count), wide_((count + 3) / 4 * 4), has_(responses), cells_{0} {
        numbers_.reset(1 << 10);
        for (int64_t i = 0; i < responses; ++i)
            for (int64_t s = bounds[i]; s < bounds[i + 1]; ++s) read(sentences, s, i);
        keep(most);
        relate(relevance, static_cast<size_t>(bounds[responses]));
        add_nugget_texts(texts, nuggets);
        lengths();
    }

    size_t responses() const { return has_.size(); }
    size_t nuggets() const { return count_; }

    // First responses x first responses x nuggets.
    template <class Poll>
    void measure(size_t first, double* rows, Poll&& poll) const {
        const Flags flags(has_, first, idf_.size());
        std::vector<double> sums(wide_);
        for (size_t i = 0; i < first; ++i) {
            for (size_t j = 0; j <= i; ++j) {
                shared(flags, i, j, sums.data());
                double* const cells = rows + (i * first + j) * count_;
                for (size_t g = 0; g < count_; ++g)
                    cells[g] = sums[g] > 0 ? sums[g] / (norm(i)[g] * norm(j)[g]) : 0.0;
                std::copy_n(cells, count_, rows + (j * first + i) * count_);  // near(j, i)
            }
            if (i % 64 == 63) poll();
        }
    }

    // Responses x nuggets: the sums of near(g, i, j) a(j, g) over the first responses j.
    template <class Poll>
    void sum(const double* a, size_t first, double* rows, Poll&& poll) const {
        const std::vector<double> v = spread(a, first);
        std::vector<double> sums(wide_);
        for (size_t i = 0; i < has_.size(); ++i, rows += count_) {
            std::fill(sums.begin(), sums.end(), 0.0);
            for (const int32_t u : has_[i]) add(sums.data(), v.data() + u * wide_);
            for (size_t g = 0; g < count_; ++g)
                rows[g] = norm(i)[g] > 0 ? sums[g] / norm(i)[g] : 0.0;
            if (i % 1024 == 1023) poll();
        }
    }

  private:
    struct Seen {
        int64_t sentence = -1, response = -1;  // last sentence and response with the unit
        int64_t responses = 0;                 // number of responses with the unit
    };

    static constexpr int id_bits = 21;

    // Up to three tokens of 21 bits fill a key. Characters fit; larger tokens in units of several
    // tokens are rejected by `check`. A single token may use all of its 32 bits.
    uint64_t key(const int32_t* ids) const {
        uint64_t packed = 0;
        for (int k = 0; k < order_; ++k) packed = packed << id_bits | static_cast<uint32_t>(ids[k]);
        return packed;
    }

    void check(const int32_t* ids, int64_t count) const {
        if (order_ > 1 && std::any_of(ids, ids + count, [](int32_t id) {
                return static_cast<uint32_t>(id) >> id_bits != 0;
            }))
            throw std::invalid_argument("expected tokens below 2^21 where a unit has several");
    }

    // Records the distinct units of a sentence, and the responses that have them.
    void read(const Ragged& sentences, int64_t s, int64_t i) {
        check(sentences.begin(s), sentences.length(s));
        for (int64_t at = 0; at + order_ <= sentences.length(s); ++at) {
            const int32_t u = numbers_.add(key(sentences.begin(s) + at)) - 1;
            if (static_cast<size_t>(u) == units_seen_.size()) units_seen_.emplace_back();
            Seen& unit = units_seen_[u];
            if (unit.sentence == s) continue;
            unit.sentence = s;
            inside_.push_back(u);
            if (unit.response == i) continue;
            unit.response = i;
            ++unit.responses;
            has_[i].push_back(u);
        }
        cells_.push_back(inside_.size());
    }

    // Renumbers the units that discriminate between responses; -1 for the others.
    void keep(int64_t most) {
        const auto n = static_cast<double>(has_.size());
        new_number_.assign(units_seen_.size(), -1);
        int32_t next = 0;
        for (size_t u = 0; u < units_seen_.size(); ++u)
            if (units_seen_[u].responses > 1 && units_seen_[u].responses <= most) {
                new_number_[u] = next++;
                idf_.push_back(
                    log_of((n + 1) / (static_cast<double>(units_seen_[u].responses) + 0.5)));
            }
        weights_.assign(idf_.size() * wide_, 0.0);
        for (auto& units : has_) {
            for (int32_t& u : units) u = new_number_[u];
            units.erase(std::remove(units.begin(), units.end(), -1), units.end());
        }
    }

    // The weight of a unit from the sentences in which it occurs.
    void relate(const double* relevance, size_t sentences) {
        std::vector<double> mean(wide_, 0.0), sentence_relevance(wide_, 0.0),
            have(idf_.size(), 0.0);
        for (size_t s = 0; s < sentences; ++s, relevance += count_) {
            std::copy_n(relevance, count_, sentence_relevance.begin());
            add(mean.data(), sentence_relevance.data());
            for (size_t k = cells_[s]; k < cells_[s + 1]; ++k) {
                const int32_t u = new_number_[inside_[k]];
                if (u < 0) continue;
                ++have[u];
                add(weight(u), sentence_relevance.data());
            }
        }
        for (double& value : mean) value /= static_cast<double>(std::max<size_t>(sentences, 1));
        for (size_t u = 0; u < idf_.size(); ++u)
            for (size_t g = 0; g < count_; ++g) {
                double& sum = weight(u)[g];
                const double about =
                    mean[g] > 0 ? (sum + 2 * mean[g]) / ((have[u] + 2) * mean[g]) : 1.0;
                sum = idf_[u] * (std::max(about - 1, 0.0) + 0.05);
            }
    }

    // Adds the weight for occurring in a text of the nugget.
    void add_nugget_texts(const Ragged& texts, const int64_t* nuggets) {
        std::vector<int64_t> last(idf_.size(), -1);
        for (size_t g = 0; g < count_; ++g)
            for (int64_t t = nuggets[g]; t < nuggets[g + 1]; ++t) {
                check(texts.begin(t), texts.length(t));
                for (int64_t at = 0; at + order_ <= texts.length(t); ++at) {
                    const int32_t number = numbers_.find(key(texts.begin(t) + at));
                    const int32_t u = number ? new_number_[number - 1] : -1;
                    if (u < 0 || last[u] == static_cast<int64_t>(g)) continue;
                    last[u] = static_cast<int64_t>(g);
                    weight(u)[g] += 6 * idf_[u];
                }
            }
    }

    // One bit for each first response and unit: whether the response has the unit.
    struct Flags {
        Flags(const std::vector<std::vector<int32_t>>& has, size_t first, size_t units)
            : wide((units + 63) / 64), bits(first * wide, 0) {
            for (size_t i = 0; i < first; ++i)
                for (const int32_t u : has[i]) bits[i * wide + u / 64] |= uint64_t{1} << u % 64;
        }
        const uint64_t* row(size_t i) const { return bits.data() + i * wide; }
        const size_t wide;
        std::vector<uint64_t> bits;
    };

    // The weights of shared units of two responses, in blocks of nuggets, so that their sums stay
    // in registers.
    void shared(const Flags& flags, size_t i, size_t j, double* sums) const {
        size_t g = 0;
        for (; g + 16 <= wide_; g += 16) shared_block<16>(flags, i, j, g, sums);
        if (wide_ - g >= 8) shared_block<8>(flags, i, j, g, sums), g += 8;
        if (wide_ - g >= 4) shared_block<4>(flags, i, j, g, sums);
    }

    template <size_t N>
    void shared_block(const Flags& flags, size_t i, size_t j, size_t first, double* sums) const {
        double lane_sums[N] = {};
        const uint64_t *a = flags.row(i), *b = flags.row(j);
        for (size_t w = 0; w < flags.wide; ++w)
            for (uint64_t both = a[w] & b[w]; both; both &= both - 1) {
                const double* const unit_weights = weight(w * 64 + lowest(both)) + first;
                for (size_t g = 0; g < N; ++g) lane_sums[g] += unit_weights[g];
            }
        std::copy_n(lane_sums, N, sums + first);
    }

    // Responses x nuggets: the root of the sum of weights.
    void lengths() {
        norms_.assign(has_.size() * wide_, 0.0);
        for (size_t i = 0; i < has_.size(); ++i)
            for (const int32_t u : has_[i]) add(norms_.data() + i * wide_, weight(u));
        for (double& norm_value : norms_) norm_value = std::sqrt(norm_value);
    }

    // v(u, g): units x nuggets.
    std::vector<double> spread(const double* a, size_t first) const {
        std::vector<double> spread_values(weights_.size(), 0.0), scaled(wide_);
        for (size_t j = 0; j < first; ++j, a += count_) {
            for (size_t g = 0; g < count_; ++g)
                scaled[g] = norm(j)[g] > 0 ? a[g] / norm(j)[g] : 0.0;
            for (const int32_t u : has_[j]) add(spread_values.data() + u * wide_, scaled.data());
        }
        for (size_t k = 0; k < spread_values.size(); ++k) spread_values[k] *= weights_[k];
        return spread_values;
    }

    // Four at a time: the padding after the last nugget is 0.
    void add(double* sums, const double* more) const {
        for (size_t g = 0; g < wide_; g += 4)
            for (size_t k = g; k < g + 4; ++k) sums[k] += more[k];
    }

    double* weight(size_t u) { return weights_.data() + u * wide_; }
    const double* weight(size_t u) const { return weights_.data() + u * wide_; }
    const double* norm(size_t i) const { return norms_.data() + i * wide_; }

    const int order_;
    const size_t count_;  // nuggets
    const size_t wide_;   // row width, with padding
    Numbering numbers_;
    std::vector<Seen> units_seen_;
    std::vector<std::vector<int32_t>> has_;  // units of each response
    std::vector<int32_t> inside_;            // the units of each sentence, from cells_[s] on
    std::vector<size_t> cells_;
    std::vector<int32_t> new_number_;
    std::vector<double> idf_;
    std::vector<double> weights_;  // units x nuggets
    std::vector<double> norms_;    // responses x nuggets
};

}  // namespace karat
