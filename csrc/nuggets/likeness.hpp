// Similarity of whole responses to a question, and the evidence of their words for its nuggets.
//
//     cosine(i, j) = sum of v(u, i) v(u, j)
//     v(u, i) = log(1 + count of u in i) log((n + 1) / c(u))
//
// over words u and pairs of adjacent words that occur in c(u) >= 2 of the n responses; response
// vectors have length 1. Naive Bayes uses words that occur in at least 2 responses, but not in all.
// If a word occurs in y of the Y judged responses that carry a nugget, and in z of the Z others,
// then
//
//     p = (y + 1/2) / (Y + 1)      q = (z + 1/2) / (Z + 1)
//     a = log(p / q)      b = log((1 - p) / (1 - q))
//     found = (sum of a over words that are there, and of b over the others)
//             / sqrt(1 + the same sum of squares)
//
// and each fold is predicted from the judgements of the others. The implementation sums b over all
// words, and a - b over the words that are present.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/elementary_functions.hpp"
#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

// Judgements: rows are responses, columns are nuggets.
struct NuggetVerdicts {
    const int64_t* rows;  // the judged responses
    size_t count;
    const double *yes, *judged;  // 0 or 1: count x nuggets
    size_t nuggets;
    const int64_t* fold;  // of every response
};

class NuggetLikeness {
  public:
    // The responses are rows start … end - 1.
    NuggetLikeness(const Ragged& words, int64_t start, int64_t end) : has_(end - start) {
        numbers_.reset(1 << 12);
        for (int64_t i = start; i < end; ++i)
            read(words.begin(i), words.length(i), static_cast<size_t>(i - start));
        post();
        weigh();
    }

    size_t responses() const { return has_.size(); }

    // Responses x first responses.
    void cosines(size_t first, double* rows) const {
        for (const auto& units : has_) {
            for (const Unit& unit : units)
                for (size_t k = starts_[unit.number]; k < starts_[unit.number + 1]; ++k) {
                    if (posted_[k].response >= first) break;
                    rows[posted_[k].response] += unit.value * posted_[k].value;
                }
            rows += first;
        }
    }

    // Responses x nuggets.
    void bayes(const NuggetVerdicts& verdicts, double* rows) const {
        const size_t G = verdicts.nuggets;
        std::vector<double> squares(has_.size() * G, 0.0), logs(verdicts.count + 1);
        for (size_t k = 0; k < logs.size(); ++k) logs[k] = log_of(static_cast<double>(k) + 0.5);
        const std::vector<int64_t> counts = count_words(verdicts);
        std::vector<int64_t> folds(verdicts.fold, verdicts.fold + has_.size());
        std::sort(folds.begin(), folds.end());
        folds.erase(std::unique(folds.begin(), folds.end()), folds.end());
        for (const int64_t fold : folds)
            Fold(*this, verdicts, counts, logs, fold).add(rows, squares.data());
        for (size_t k = 0; k < squares.size(); ++k)
            rows[k] /= std::sqrt(std::max(squares[k], 0.0) + 1);
    }

  private:
    struct Unit {
        int32_t number;
        double value;
    };
    struct Posted {
        size_t response;
        double value;
    };

    static uint64_t key(int32_t before, int32_t word) {
        return static_cast<uint64_t>(static_cast<uint32_t>(before)) << 32 |
               static_cast<uint32_t>(word);
    }

    void read(const int32_t* words, int64_t length, size_t i) {
        for (int64_t k = 0; k < length; ++k) see(key(0, words[k]), true, i);
        for (int64_t k = 1; k < length; ++k) see(key(words[k - 1] + 1, words[k]), false, i);
    }

    void see(uint64_t unit, bool word, size_t i) {
        const int32_t x = numbers_.add(unit) - 1;
        if (static_cast<size_t>(x) == last_.size()) {
            last_.push_back(-1);
            place_.push_back(0);
            word_.push_back(word);
            have_.push_back(0);
        }
        if (last_[x] != static_cast<int64_t>(i)) {
            last_[x] = static_cast<int64_t>(i);
            place_[x] = has_[i].size();
            ++have_[x];
            has_[i].push_back({x, 0.0});
        }
        has_[i][place_[x]].value += 1;
    }

    // Keeps the units that occur in at least two responses.
    void post() {
        std::vector<int32_t> new_number(have_.size(), -1);
        size_t next = 0;
        for (size_t x = 0; x < have_.size(); ++x)
            if (have_[x] > 1) {
                new_number[x] = static_cast<int32_t>(next);
                have_[next] = have_[x];
                word_[next++] = word_[x];
            }
        have_.resize(next);
        word_.resize(next);
        for (auto& units : has_) {
            for (Unit& unit : units) unit.number = new_number[unit.number];
            units.erase(std::remove_if(units.begin(), units.end(),
                                       [](const Unit& unit) { return unit.number < 0; }),
                        units.end());
        }
    }

    void weigh() {
        const auto n = static_cast<double>(has_.size());
        starts_.assign(have_.size() + 1, 0);
        for (size_t x = 0; x < have_.size(); ++x) starts_[x + 1] = starts_[x] + have_[x];
        posted_.resize(starts_.back());
        std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
        for (size_t i = 0; i < has_.size(); ++i) {
            double norm = 0;
            for (Unit& unit : has_[i]) {
                unit.value = log1p_of(unit.value) *
                             log_of((n + 1) / static_cast<double>(have_[unit.number]));
                norm += unit.value * unit.value;
            }
            for (Unit& unit : has_[i]) {
                unit.value /= std::sqrt(norm);
                posted_[next[unit.number]++] = {i, unit.value};
            }
        }
    }

    bool is_informative(size_t x) const { return word_[x] && have_[x] < has_.size(); }

    // Units x nuggets x (carried, not carried): numbers of judged responses with the unit.
    std::vector<int64_t> count_words(const NuggetVerdicts& verdicts) const {
        std::vector<int64_t> counts(have_.size() * verdicts.nuggets * 2, 0);
        for (size_t k = 0; k < verdicts.count; ++k)
            for (const Unit& unit : has_[verdicts.rows[k]])
                if (is_informative(unit.number))
                    add(verdicts, k, counts.data() + unit.number * verdicts.nuggets * 2, 1);
        return counts;
    }

    static void add(const NuggetVerdicts& verdicts, size_t k, int64_t* counts, int64_t by) {
        const double *yes = verdicts.yes + k * verdicts.nuggets,
                     *judged = verdicts.judged + k * verdicts.nuggets;
        for (size_t g = 0; g < verdicts.nuggets; ++g) {
            counts[2 * g] += yes[g] > 0 ? by : 0;
            counts[2 * g + 1] += judged[g] > yes[g] ? by : 0;
        }
    }

    // Predicts the responses of one fold from the judgements of the others.
    class Fold {
      public:
        Fold(const NuggetLikeness& all, const NuggetVerdicts& verdicts,
             const std::vector<int64_t>& counts, const std::vector<double>& logs, int64_t fold)
            : all_(all),
              verdicts_(verdicts),
              counts_(counts),
              logs_(logs),
              fold_(fold),
              judged_index_(all.responses(), -1),
              nugget_counts_(2 * verdicts.nuggets, 0),
              word_counts_(nugget_counts_),
              absent_sums_(2 * verdicts.nuggets, 0.0),
              present_extra_(absent_sums_),
              shift_(verdicts.nuggets) {
            for (size_t k = 0; k < verdicts.count; ++k) {
                judged_index_[verdicts.rows[k]] = static_cast<int64_t>(k);
                if (verdicts.fold[verdicts.rows[k]] != fold)
                    NuggetLikeness::add(verdicts, k, nugget_counts_.data(), 1);
            }
            for (size_t g = 0; g < verdicts.nuggets; ++g)
                shift_[g] = log_of(static_cast<double>(nugget_counts_[2 * g + 1] + 1)) -
                            log_of(static_cast<double>(nugget_counts_[2 * g] + 1));
        }

        void add(double* sums, double* squares) {
            for (size_t x = 0; x < all_.have_.size(); ++x)
                if (all_.is_informative(x)) weigh(x, sums, squares);
            const size_t G = verdicts_.nuggets;
            for (size_t i = 0; i < all_.responses(); ++i)
                for (size_t g = 0; verdicts_.fold[i] == fold_ && g < G; ++g) {
                    sums[i * G + g] += absent_sums_[2 * g];
                    squares[i * G + g] += absent_sums_[2 * g + 1];
                }
        }

      private:
        void weigh(size_t x, double* sums, double* squares) {
            const size_t G = verdicts_.nuggets;
            std::copy_n(counts_.data() + x * G * 2, G * 2, word_counts_.begin());
            have_.clear();
            for (size_t k = all_.starts_[x]; k < all_.starts_[x + 1]; ++k) {
                const size_t i = all_.posted_[k].response;
                if (verdicts_.fold[i] != fold_) continue;
                have_.push_back(i);
                if (judged_index_[i] >= 0)
                    NuggetLikeness::add(verdicts_, judged_index_[i], word_counts_.data(), -1);
            }
            for (size_t g = 0; g < G; ++g) {
                const int64_t y = word_counts_[2 * g], z = word_counts_[2 * g + 1];
                const double a = logs_[y] - logs_[z] + shift_[g];
                const double b = logs_[nugget_counts_[2 * g] - y] -
                                 logs_[nugget_counts_[2 * g + 1] - z] + shift_[g];
                absent_sums_[2 * g] += b;
                absent_sums_[2 * g + 1] += b * b;
                present_extra_[2 * g] = a - b;
                present_extra_[2 * g + 1] = a * a - b * b;
            }
            for (const size_t i : have_)
                for (size_t g = 0; g < G; ++g) {
                    sums[i * G + g] += present_extra_[2 * g];
                    squares[i * G + g] += present_extra_[2 * g + 1];
                }
        }

        const NuggetLikeness& all_;
        const NuggetVerdicts& verdicts_;
        const std::vector<int64_t>& counts_;
        const std::vector<double>& logs_;
        const int64_t fold_;
        std::vector<int64_t> judged_index_;  // index of each response among the judged, or -1
        std::vector<int64_t> nugget_counts_,
            word_counts_;  // Y and Z of each nugget; y and z of a word
        std::vector<double> absent_sums_,
            present_extra_;                  // sums of b and its square; a - b and a^2 - b^2
        std::vector<double> shift_;          // log((Z + 1) / (Y + 1))
        std::vector<size_t> have_;           // responses of the fold with each word
    };

    Numbering numbers_;
    std::vector<int64_t> last_;   // last response with each unit
    std::vector<size_t> place_;   // its index in that response
    std::vector<uint8_t> word_;   // whether each unit is a word (else a pair)
    std::vector<size_t> have_;    // c(u)
    std::vector<std::vector<Unit>> has_;
    std::vector<size_t> starts_;
    std::vector<Posted> posted_;  // responses with each unit
};

}  // namespace karat
