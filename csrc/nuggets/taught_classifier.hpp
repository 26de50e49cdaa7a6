// Nuggeteer's classifier where responses that carry a nugget describe it, too, and none is compared
// with those of its own fold (`classifier.hpp` has the formula).
//
//     score(g, i) = max over descriptions of g, and responses j outside the fold of i that carry g,
//                   of the sum of W(x) I(x) over the n-grams x of i that stand in this text
//
// A text is indexed once, whatever it carries and whoever asks. I(x) counts the nuggets whose texts
// outside the fold have x: only what stands in a text of the fold is counted anew for it, and put
// back afterwards.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"
#include "nuggets/classifier.hpp"

namespace karat {

class TaughtNuggets {
  public:
    // The descriptions of nugget g are `described` from nuggets[g] on; responses are those from
    // `start` on, `carried` has a row for each of them with a flag for each nugget, `fold` a
    // number.
    TaughtNuggets(const Ragged& described, const int64_t* nuggets, int64_t count,
                  const Ragged& responses, int64_t start, int64_t end, const uint8_t* carried,
                  const int64_t* fold, const double* weights, const NuggetRules& rules)
        : rules_(rules), count_(count), wide_((count + 63) / 64), responses_(responses),
          start_(start), end_(end), fold_(fold), texts_of_(count) {
        grams_.reset(1 << 10);
        value_.push_back(0.0);
        for (int64_t g = 0; g < count; ++g)
            for (int64_t t = nuggets[g]; t < nuggets[g + 1]; ++t) {
                const std::vector<int64_t> mine{g};
                add(described.begin(t), described.length(t), mine, -1, weights);
            }
        for (int64_t i = 0; i < end - start; ++i, carried += count) {
            std::vector<int64_t> mine;
            for (int64_t g = 0; g < count; ++g)
                if (carried[g]) mine.push_back(g);
            if (!mine.empty())
                add(responses.begin(start + i), responses.length(start + i), mine, i, weights);
        }
        post();
    }

    // Responses x nuggets.
    template <class Poll>
    void scores(double* rows, Poll&& poll) {
        std::vector<int64_t> order(end_ - start_);
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
        std::vector<int32_t> grams;  // as they stand there
    };

    bool outside(const Text& text, int64_t fold) const {
        return text.response < 0 || fold_[text.response] != fold;
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
                x = grams_.add(key(x, word));
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

    // The texts that have each n-gram, and what it is worth if none is left out.
    void post() {
        const size_t grams = value_.size();
        std::vector<int64_t> last(grams, -1);
        std::vector<int32_t> seen, whose;
        starts_.assign(grams + 1, 0);
        for (size_t t = 0; t < texts_.size(); ++t)
            for (const int32_t x : texts_[t].grams)
                if (last[x] != static_cast<int64_t>(t)) {
                    last[x] = static_cast<int64_t>(t);
                    seen.push_back(x);
                    whose.push_back(static_cast<int32_t>(t));
                    ++starts_[x + 1];
                }
        for (size_t x = 1; x < starts_.size(); ++x) starts_[x] += starts_[x - 1];
        posted_.resize(seen.size());
        std::vector<int64_t> next(starts_);
        for (size_t k = 0; k < seen.size(); ++k) posted_[next[seen[k]]++] = whose[k];
        used_.assign(grams, 0);
        sums_.resize(texts_.size());
        totals_.resize(texts_.size());
        weight_ = value_;
        for (size_t x = 1; x < grams; ++x) value_[x] = value(x, -1);
        whole_ = value_;
    }

    // W(x) I(x) without a fold's texts; no fold is below 0.
    double value(size_t x, int64_t fold) {
        if (count_ < 2) return weight_[x];
        mask_.assign(wide_, 0);
        for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k)
            if (outside(texts_[posted_[k]], fold))
                for (size_t m = 0; m < wide_; ++m) mask_[m] |= masks_[posted_[k] * wide_ + m];
        int64_t have = 0;
        for (uint64_t bits : mask_)
            for (; bits; bits &= bits - 1) ++have;
        return weight_[x] * (1.0 - static_cast<double>(have) / static_cast<double>(count_));
    }

    void leave_out(int64_t fold) {
        ++stamp_;
        for (const Text& text : texts_) {
            if (outside(text, fold)) continue;
            for (const int32_t x : text.grams) {
                if (used_[x] == stamp_) continue;
                used_[x] = stamp_;
                value_[x] = value(x, fold);
                changed_.push_back(x);
            }
        }
        for (size_t t = 0; rules_.share && t < texts_.size(); ++t) totals_[t] = own(texts_[t]);
    }

    void put_back() {
        for (const int32_t x : changed_) value_[x] = whole_[x];
        changed_.clear();
    }

    // What a text would score itself.
    double own(const Text& text) {
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
        sum(responses_.begin(start_ + i), responses_.length(start_ + i));
        for (size_t t = 0; rules_.share && t < sums_.size(); ++t)
            sums_[t] = totals_[t] > 0 ? sums_[t] / totals_[t] : 0.0;
        for (int64_t g = 0; g < count_; ++g) {
            double best = 0;
            for (const size_t t : texts_of_[g])
                if (outside(texts_[t], fold)) best = std::max(best, sums_[t]);
            row[g] = best;
        }
    }

    void sum(const int32_t* words, int64_t length) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        ++stamp_;
        for (int64_t i = 0; i < length; ++i) {
            int32_t x = 0;
            for (int n = 1; n <= rules_.order && i + n <= length; ++n) {
                x = grams_.find(key(x, words[i + n - 1]));
                if (!x) break;
                if (rules_.once && used_[x] == stamp_) continue;
                used_[x] = stamp_;
                for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k)
                    sums_[posted_[k]] += value_[x];
            }
        }
    }

    const NuggetRules rules_;
    const int64_t count_;  // nuggets
    const size_t wide_;    // words of 64 bits that hold a flag for each
    const Ragged responses_;
    const int64_t start_, end_;
    const int64_t* const fold_;
    std::vector<std::vector<size_t>> texts_of_;  // of each nugget
    std::vector<Text> texts_;
    std::vector<uint64_t> masks_;  // of each text: the nuggets that it describes
    Numbering grams_;
    std::vector<double> value_, whole_, weight_;  // of each n-gram: W I in a fold, in all; W
    std::vector<int64_t> starts_;
    std::vector<int32_t> posted_;
    std::vector<double> sums_, totals_;  // of each text
    std::vector<uint64_t> mask_;
    std::vector<int32_t> changed_;
    std::vector<uint64_t> used_;  // when each n-gram was last seen
    uint64_t stamp_ = 0;
};

}  // namespace karat
