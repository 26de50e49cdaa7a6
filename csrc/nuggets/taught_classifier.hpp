// Nuggeteer's classifier trained on responses that carry a nugget; no response is compared with
// responses of its own fold (`classifier.hpp` has the formula).
//
//     score(g, i) = max over the texts of g, of the sum of W(x) I(x) over the n-grams x of i that
//                   occur in this text
//
// The texts of g are its descriptions and, if `describe`, the responses outside the fold of i that
// carry g. I(x) counts the nuggets whose texts have x; or, if `inform` (the paper's equations 1
// and 2), the nuggets that some response outside the fold carries and whose carriers have x. For
// nuggets without such a response, descriptions are used.
//
// A model trained on the scores of all other folds must not depend on the fold that it predicts, so
// a fold can be left out for all responses.
//
// Every text is indexed once. For each fold, only the n-grams affected by leaving it out are
// recounted, and restored afterwards: n-grams in its texts, and in the descriptions of nuggets that
// no response outside it carries.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"
#include "nuggets/classifier.hpp"

namespace karat {

struct TaughtRules : NuggetRules {
    bool describe = true;  // responses describe the nuggets that they carry
    bool inform = false;   // if there are any, they alone determine I(x)
};

class TaughtNuggets {
  public:
    // The descriptions of nugget g start at nuggets[g] in `described`; responses start at `start`.
    // For each response, `carried` has a row with a flag for each nugget, and `fold` a number.
    TaughtNuggets(const Ragged& described, const int64_t* nuggets, int64_t count,
                  const Ragged& responses, int64_t start, int64_t end, const uint8_t* carried,
                  const int64_t* fold, const double* weights, const TaughtRules& rules)
        : rules_(rules), count_(count), wide_((count + 63) / 64),
          fold_(fold), texts_of_(count) {
        grams_.reset(1 << 10);
        value_.push_back(0.0);
        for (int64_t g = 0; g < count; ++g)
            for (int64_t t = nuggets[g]; t < nuggets[g + 1]; ++t) {
                const std::vector<int64_t> carried_nuggets{g};
                add(described.begin(t), described.length(t), carried_nuggets, -1, weights);
            }
        described_ = texts_.size();
        // Responses that neither describe nor inform are not texts: I(x) counts descriptions alone.
        const bool taught = rules.describe || rules.inform;
        for (int64_t i = 0; taught && i < end - start; ++i, carried += count) {
            std::vector<int64_t> carried_nuggets;
            for (int64_t g = 0; g < count; ++g)
                if (carried[g]) carried_nuggets.push_back(g);
            if (!carried_nuggets.empty())
                add(responses.begin(start + i), responses.length(start + i), carried_nuggets, i,
                    weights);
        }
        describing_ = rules.describe ? texts_.size() : described_;
        post();
        for (int64_t i = start; i < end; ++i) read(responses.begin(i), responses.length(i));
    }

    // Responses x nuggets, each without its own fold, and all without the fold `without`; -1: none.
    template <class Poll>
    void scores(int64_t without, double* rows, Poll&& poll) {
        begin(without);
        std::vector<int64_t> order(hits_.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return fold_[a] < fold_[b]; });
        for (size_t a = 0, b = 0; a < order.size(); a = b) {
            const int64_t fold = fold_[order[a]];
            leave_out(fold);
            for (; b < order.size() && fold_[order[b]] == fold; ++b) {
                score(order[b], fold, rows + order[b] * count_);
                if (b % 256 == 255) poll();
            }
            put_back();
        }
    }

  private:
    struct Text {
        int64_t response;            // counted from the question's first; -1 for a description
        std::vector<int32_t> grams;  // in text order
    };

    bool outside(const Text& text, int64_t fold) const {
        if (text.response < 0) return true;
        return fold_[text.response] != fold && fold_[text.response] != without_;
    }
    static uint64_t key(int32_t prefix, int32_t word) {
        return static_cast<uint64_t>(prefix) << 32 | static_cast<uint32_t>(word);
    }

    void add(const int32_t* words, int64_t length, const std::vector<int64_t>& carried,
             int64_t response, const double* weights) {
        Text text{response, {}};
        for (int64_t i = 0; i < length; ++i) {
            int32_t x = 0;
            double weight = 0;
            for (int n = 1; n <= rules_.order && i + n <= length; ++n) {
                const int32_t word = words[i + n - 1];
                weight += rules_.sum ? weights[word] : 0.0;
                const bool counts = response < 0 || rules_.describe;
                x = counts ? grams_.add(key(x, word)) : grams_.find(key(x, word));
                if (!x) break;  // W is 0: not in any description
                if (static_cast<size_t>(x) == value_.size())
                    value_.push_back(rules_.sum ? weight : 1.0);
                text.grams.push_back(x);
            }
        }
        masks_.resize(masks_.size() + wide_, 0);
        for (const int64_t g : carried) {
            texts_of_[g].push_back(texts_.size());
            masks_[texts_.size() * wide_ + g / 64] |= uint64_t{1} << g % 64;
        }
        texts_.push_back(std::move(text));
    }

    // The texts of each n-gram, and its value if no fold is left out.
    void post() {
        const size_t grams = value_.size();
        std::vector<int64_t> last(grams, -1);
        std::vector<int32_t> units, whose;
        starts_.assign(grams + 1, 0);
        for (size_t t = 0; t < texts_.size(); ++t)
            for (const int32_t x : texts_[t].grams)
                if (last[x] != static_cast<int64_t>(t)) {
                    last[x] = static_cast<int64_t>(t);
                    units.push_back(x);
                    whose.push_back(static_cast<int32_t>(t));
                    ++starts_[x + 1];
                }
        for (size_t x = 1; x < starts_.size(); ++x) starts_[x] += starts_[x - 1];
        posted_.resize(units.size());
        std::vector<int64_t> next(starts_);
        for (size_t k = 0; k < units.size(); ++k) posted_[next[units[k]]++] = whose[k];
        used_.assign(grams, 0);
        sums_.resize(describing_);
        totals_.resize(describing_);
        weight_ = value_;
        unheard_ = base_unheard_ = unheard(-1);
        for (size_t x = 1; x < grams; ++x) value_[x] = value(x, -1);
        base_ = value_;
    }

    // Every n-gram of a response that occurs in a text.
    void read(const int32_t* words, int64_t length) {
        std::vector<int32_t> units;
        ++stamp_;
        for (int64_t i = 0; i < length; ++i) {
            int32_t x = 0;
            for (int n = 1; n <= rules_.order && i + n <= length; ++n) {
                x = grams_.find(key(x, words[i + n - 1]));
                if (!x) break;
                if (rules_.once && used_[x] == stamp_) continue;
                used_[x] = stamp_;
                units.push_back(x);
            }
        }
        hits_.push_back(std::move(units));
    }

    // W(x) I(x) without the texts of a fold; a negative fold leaves out none.
    double value(size_t x, int64_t fold) {
        if (count_ < 2) return weight_[x];
        mask_.assign(wide_, 0);
        for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k)
            if (informs(posted_[k], fold))
                for (size_t m = 0; m < wide_; ++m) mask_[m] |= masks_[posted_[k] * wide_ + m];
        int64_t have = 0;
        for (uint64_t bits : mask_)
            for (; bits; bits &= bits - 1) ++have;
        return weight_[x] * (1.0 - static_cast<double>(have) / static_cast<double>(count_));
    }

    // Whether a text counts in I(x).
    bool informs(size_t t, int64_t fold) const {
        if (!rules_.inform || t >= described_) return outside(texts_[t], fold);
        for (size_t m = 0; m < wide_; ++m)
            if (unheard_[m] & masks_[t * wide_ + m]) return true;
        return false;
    }

    // The nuggets that no response outside the fold carries.
    std::vector<uint64_t> unheard(int64_t fold) const {
        std::vector<uint64_t> mask(wide_, ~uint64_t{0});
        for (size_t t = described_; t < texts_.size(); ++t)
            if (outside(texts_[t], fold))
                for (size_t m = 0; m < wide_; ++m) mask[m] &= ~masks_[t * wide_ + m];
        return mask;
    }

    void begin(int64_t without) {
        value_ = base_;
        without_ = without;
        unheard_ = whole_unheard_ = unheard(-1);
        recount(-1, base_unheard_);
        changed_.clear();
        all_values_ = value_;
    }

    void leave_out(int64_t fold) {
        unheard_ = unheard(fold);
        recount(fold, whole_unheard_);
        for (size_t t = 0; rules_.share && t < describing_; ++t) totals_[t] = own_total(texts_[t]);
    }

    void put_back() {
        for (const int32_t x : changed_) value_[x] = all_values_[x];
        changed_.clear();
    }

    // Recounts the n-grams of texts that are left out, or that count in I(x) only as a result.
    void recount(int64_t fold, const std::vector<uint64_t>& before) {
        ++stamp_;
        for (size_t t = 0; t < texts_.size(); ++t) {
            if (t < described_ ? !newly(t, before) : outside(texts_[t], fold)) continue;
            for (const int32_t x : texts_[t].grams) {
                if (used_[x] == stamp_) continue;
                used_[x] = stamp_;
                value_[x] = value(x, fold);
                changed_.push_back(x);
            }
        }
    }

    // Whether a description newly counts in I(x).
    bool newly(size_t t, const std::vector<uint64_t>& before) const {
        for (size_t m = 0; rules_.inform && m < wide_; ++m)
            if (unheard_[m] & ~before[m] & masks_[t * wide_ + m]) return true;
        return false;
    }

    // The score of a text against itself.
    double own_total(const Text& text) {
        double sum = 0;
        ++stamp_;
        for (const int32_t x : text.grams) {
            if (rules_.once && used_[x] == stamp_) continue;
            used_[x] = stamp_;
            sum += value_[x];
        }
        return sum;
    }

    void score(int64_t i, int64_t fold, double* row) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        for (const int32_t x : hits_[i])
            for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k) {
                if (static_cast<size_t>(posted_[k]) >= describing_) break;  // sorted
                sums_[posted_[k]] += value_[x];
            }
        for (size_t t = 0; rules_.share && t < sums_.size(); ++t)
            sums_[t] = totals_[t] > 0 ? sums_[t] / totals_[t] : 0.0;
        for (int64_t g = 0; g < count_; ++g) {
            double best = 0;
            for (const size_t t : texts_of_[g])
                if (t < describing_ && outside(texts_[t], fold)) best = std::max(best, sums_[t]);
            row[g] = best;
        }
    }

    const TaughtRules rules_;
    const int64_t count_;  // nuggets
    const size_t wide_;    // 64-bit words with one flag per nugget
    const int64_t* const fold_;
    int64_t without_ = -1;
    std::vector<std::vector<size_t>> texts_of_;  // of each nugget
    std::vector<Text> texts_;
    std::vector<uint64_t> masks_;  // nuggets that each text describes
    Numbering grams_;
    // For each n-gram, W I now, without the fold left out for all, and with all folds; and W.
    std::vector<double> value_, all_values_, base_, weight_;
    std::vector<int64_t> starts_;
    std::vector<int32_t> posted_;
    std::vector<double> sums_, totals_;  // of each text
    size_t described_ = 0, describing_ = 0;  // numbers of descriptions (first), of texts with sums
    std::vector<uint64_t> mask_, unheard_, whole_unheard_, base_unheard_;
    std::vector<std::vector<int32_t>> hits_;  // of each response
    std::vector<int32_t> changed_;
    std::vector<uint64_t> used_;  // last use of each n-gram
    uint64_t stamp_ = 0;
};

}  // namespace karat
