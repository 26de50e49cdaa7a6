// Nuggeteer's classifier: scores all nuggets of a question by the n-grams of a response.
//
//     score(g, response) = max over texts t of g of the sum of W(x) I(x)
//                          over the n-grams x of the response that occur in t
//
// W is the sum of the weights of x's words, or 1; I(x) = 1 - (nuggets whose texts have x) / |G|, or
// 1 if there is only one nugget, for which it would always be 0.
//
// The texts of a question's nuggets are indexed once; responses are then read word by word, in time
// proportional to their length and hits, and not stored. An n-gram is identified by the number of
// its first n-1 words and its last word, so no n-gram is hashed as a whole; if an n-gram is not in
// the index, no longer one is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

struct NuggetRules {
    int order = 1;         // the longest n-grams
    bool sum = true;       // W is the sum of the words' weights; else 1
    bool once = false;     // an n-gram counts once in a response, however often it occurs
    bool share = false;    // divide by the score of the text itself
};

class NuggetIndex {
  public:
    // The texts of nugget g are nuggets[g] to nuggets[g + 1] - 1.
    NuggetIndex(const Ragged& texts, const int64_t* nuggets, int64_t count, const double* weights,
                const NuggetRules& rules)
        : rules_(rules), first_(nuggets[0]), sizes_(count) {
        grams_.reset(1 << 10);
        for (int64_t g = 0; g < count; ++g) {
            sizes_[g] = nuggets[g + 1] - nuggets[g];
            for (int64_t t = nuggets[g]; t < nuggets[g + 1]; ++t)
                add(texts.begin(t), texts.length(t), static_cast<int32_t>(g),
                    static_cast<int32_t>(t - first_), weights);
        }
        post(nuggets[count] - first_);
        for (int32_t x = 1; count > 1 && x <= grams_.count(); ++x)
            value_[x] *= 1.0 - static_cast<double>(nuggets_[x]) / static_cast<double>(count);
        own_totals(texts);
    }

    // The score of every nugget.
    void scores(const int32_t* response, int64_t length, double* row) {
        sums(response, length);
        size_t t = 0;
        for (const int64_t size : sizes_) {
            double best = 0;
            for (const size_t end = t + static_cast<size_t>(size); t < end; ++t)
                best = std::max(best, rules_.share ? divide(sums_[t], totals_[t]) : sums_[t]);
            *row++ = best;
        }
    }

  private:
    static double divide(double a, double b) { return b > 0 ? a / b : 0; }
    static uint64_t key(int32_t prefix, int32_t word) {
        return static_cast<uint64_t>(prefix) << 32 | static_cast<uint32_t>(word);
    }

    void add(const int32_t* text, int64_t length, int32_t nugget, int32_t number,
             const double* weights) {
        for (int64_t i = 0; i < length; ++i) {
            int32_t x = 0;
            double weight = 0;
            for (int n = 1; n <= rules_.order && i + n <= length; ++n) {
                const int32_t word = text[i + n - 1];
                weight += rules_.sum ? weights[word] : 0.0;
                x = grams_.add(key(x, word));
                see(x, nugget, number, rules_.sum ? weight : 1.0);
            }
        }
    }

    // Texts arrive in order, so an n-gram is new in a text if it was last seen in another one.
    void see(int32_t x, int32_t nugget, int32_t text, double weight) {
        if (static_cast<size_t>(x) >= value_.size()) {
            value_.resize(x + 1, 0.0);
            nuggets_.resize(x + 1, 0);
            last_nugget_.resize(x + 1, -1);
            last_text_.resize(x + 1, -1);
        }
        value_[x] = weight;
        nuggets_[x] += last_nugget_[x] != nugget;
        last_nugget_[x] = nugget;
        if (last_text_[x] != text) occurrences_.push_back({x, text});
        last_text_[x] = text;
    }

    // Sorts occurrences by n-gram: the texts of x are texts_[starts_[x]] to texts_[starts_[x+1]].
    void post(int64_t texts) {
        starts_.assign(grams_.count() + 2, 0);
        for (const auto& [x, text] : occurrences_) ++starts_[x + 1];
        for (size_t x = 1; x < starts_.size(); ++x) starts_[x] += starts_[x - 1];
        texts_.resize(occurrences_.size());
        std::vector<int64_t> next(starts_);
        for (const auto& [x, text] : occurrences_) texts_[next[x]++] = text;
        value_.resize(grams_.count() + 1, 0.0);
        used_.assign(grams_.count() + 1, 0);
        sums_.resize(texts);
    }

    void own_totals(const Ragged& texts) {
        totals_.resize(sums_.size());
        for (size_t t = 0; rules_.share && t < totals_.size(); ++t) {
            sums(texts.begin(first_ + t), texts.length(first_ + t));
            totals_[t] = sums_[t];
        }
    }

    // The sum of every text; an n-gram adds its value to all texts that have it.
    void sums(const int32_t* response, int64_t length) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        ++stamp_;
        for (int64_t i = 0; i < length; ++i) {
            int32_t x = 0;
            for (int n = 1; n <= rules_.order && i + n <= length; ++n) {
                x = grams_.find(key(x, response[i + n - 1]));
                if (!x) break;
                if (rules_.once && used_[x] == stamp_) continue;
                used_[x] = stamp_;
                for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k) sums_[texts_[k]] += value_[x];
            }
        }
    }

    struct Seen {
        int32_t gram, text;
    };
    const NuggetRules rules_;
    const int64_t first_;
    std::vector<int64_t> sizes_;  // number of texts of each nugget
    Numbering grams_;
    std::vector<double> value_;     // W I of each n-gram
    std::vector<int32_t> nuggets_;  // number of nuggets with the n-gram
    std::vector<int32_t> last_nugget_, last_text_;
    std::vector<Seen> occurrences_;
    std::vector<int64_t> starts_;
    std::vector<int32_t> texts_;
    std::vector<double> sums_, totals_;  // of each text
    std::vector<uint64_t> used_;         // last response with each n-gram
    uint64_t stamp_ = 0;
};

}  // namespace karat
