// The share of a text's words that occur in a window of a response, for several weightings at once.
//
//     share(k, w) = max over windows of w tokens: sum of weight k of the text's words in it
//                   / sum of weight k of the text's words
//
// and the longest common run of tokens. A response is read once for all texts of a question: each
// token is linked to the texts that contain it, and windows move over these hits only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

class NuggetWindows {
  public:
    // weights: one row for each token of all texts, `kinds` columns; for a token that occurs in a
    // text more than once, the first row counts. Windows: their lengths in tokens, by text; 0 means
    // unlimited.
    NuggetWindows(const Ragged& texts, int64_t first, int64_t last, const double* weights,
                  size_t kinds, const int64_t* windows, size_t sizes)
        : first_(first), kinds_(kinds), windows_(windows), sizes_(sizes) {
        words_.reset(1 << 10);
        for (int64_t t = first; t < last; ++t) add(texts, t, weights);
        post();
        hits_.resize(last - first);
    }

    size_t columns() const { return kinds_ * sizes_ + 2; }

    // For every text: the shares, window by window; the longest run divided by the text's length;
    // and the largest weight of the first kind among tokens missing from the response.
    void measure(const int32_t* response, int64_t length, double* rows) {
        find(response, length);
        for (size_t t = 0; t < texts_.size(); ++t, rows += columns()) {
            for (size_t w = 0; w < sizes_; ++w)
                look(t, windows_[(first_ + t) * sizes_ + w], rows + w * kinds_);
            rows[columns() - 2] = longest_run(t, response, length);
            rows[columns() - 1] = heaviest_miss(t);
        }
    }

    // The same measures over all runs of a given number of sentences, the best of each: the largest
    // shares and run, the smallest missing weight. Sentences first … last - 1 form the response.
    void measure_sentences(const Ragged& sentences, int64_t first, int64_t last, int64_t together,
                           double* rows) {
        measure(sentences.ids + sentences.offsets[first], reach(sentences, first, last, together),
                rows);
        const size_t numbers = texts_.size() * columns();
        part_.resize(numbers);
        for (int64_t i = first + 1; i + together <= last; ++i) {
            measure(sentences.begin(i), reach(sentences, i, last, together), part_.data());
            for (size_t k = 0; k < numbers; ++k)
                rows[k] = (k + 1) % columns() ? std::max(rows[k], part_[k])
                                              : std::min(rows[k], part_[k]);
        }
    }

  private:
    static int64_t reach(const Ragged& sentences, int64_t i, int64_t last, int64_t together) {
        return sentences.offsets[std::min(i + together, last)] - sentences.offsets[i];
    }

    struct Text {
        const int32_t* ids;
        int64_t length;
        std::vector<double> weights;  // by slot, `kinds_` each: a slot is a distinct token
        std::vector<double> totals;
        double heaviest = 0;  // weight of the first kind
        bool below = false;   // some weight is below 0
        std::vector<int64_t> place;  // position of a slot's first token
        std::vector<int64_t> again;  // next occurrence of each token; -1 for the last
        size_t slots = 0;
    };
    struct Seen {
        int32_t word, text, slot;
    };
    struct Hit {
        int64_t at;
        int32_t slot;
    };

    void add(const Ragged& texts, int64_t t, const double* weights) {
        Text text;
        text.ids = texts.begin(t);
        text.length = texts.length(t);
        text.totals.assign(kinds_, 0.0);
        text.again.assign(text.length, -1);
        for (int64_t i = 0; i < text.length; ++i) {
            int64_t previous = i - 1;
            while (previous >= 0 && text.ids[previous] != text.ids[i]) --previous;
            if (previous >= 0) {
                text.again[previous] = i;
                continue;
            }
            const double* const word_weights = weights + (texts.offsets[t] + i) * kinds_;
            text.weights.insert(text.weights.end(), word_weights, word_weights + kinds_);
            for (size_t k = 0; k < kinds_; ++k) {
                text.totals[k] += word_weights[k];
                text.below = text.below || word_weights[k] < 0;
            }
            text.heaviest = std::max(text.heaviest, word_weights[0]);
            const int32_t word = words_.add(static_cast<uint32_t>(text.ids[i]));
            const auto number = static_cast<int32_t>(t - first_);
            occurrences_.push_back({word, number, static_cast<int32_t>(text.slots)});
            text.place.push_back(i);
            ++text.slots;
        }
        texts_.push_back(std::move(text));
    }

    void post() {
        starts_.assign(words_.count() + 2, 0);
        for (const Seen& occurrence : occurrences_) ++starts_[occurrence.word + 1];
        for (size_t x = 1; x < starts_.size(); ++x) starts_[x] += starts_[x - 1];
        posted_.resize(occurrences_.size());
        std::vector<int64_t> next(starts_);
        for (const Seen& occurrence : occurrences_) posted_[next[occurrence.word]++] = occurrence;
    }

    void find(const int32_t* response, int64_t length) {
        for (auto& hits : hits_) hits.clear();
        for (int64_t i = 0; i < length; ++i) {
            const int32_t x = words_.find(static_cast<uint32_t>(response[i]));
            if (!x) continue;
            for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k)
                hits_[posted_[k].text].push_back({i, posted_[k].slot});
        }
    }

    // Sums are recomputed from the slots inside the window, in slot order: running sums would
    // accumulate rounding errors. They are recomputed only if the running sum is not below the best
    // so far by more than rounding could explain.
    void slide(size_t t, int64_t window, double* best) {
        const Text& text = texts_[t];
        const auto& hits = hits_[t];
        std::fill(best, best + kinds_, 0.0);
        inside_.assign(text.slots, 0);
        rough_.assign(kinds_, 0.0);
        size_t low = 0;
        for (const Hit& hit : hits) {
            const bool fresh = ++inside_[hit.slot] == 1;
            if (fresh) shift(text, hit.slot, 1.0);
            for (; window && hits[low].at <= hit.at - window; ++low)
                if (--inside_[hits[low].slot] == 0) shift(text, hits[low].slot, -1.0);
            if (fresh && may_raise(text, best)) raise(text, best);
        }
        divide(text, best);
    }

    // Without a bound the last window is the best, unless a weight is below 0.
    void look(size_t t, int64_t window, double* best) {
        if (window || texts_[t].below)
            slide(t, window, best);
        else
            take_all(t, best);
    }

    void take_all(size_t t, double* best) {
        const Text& text = texts_[t];
        std::fill(best, best + kinds_, 0.0);
        if (!hits_[t].empty()) {
            inside_.assign(text.slots, 0);
            for (const Hit& hit : hits_[t]) inside_[hit.slot] = 1;
            raise(text, best);
        }
        divide(text, best);
    }

    void divide(const Text& text, double* best) const {
        for (size_t k = 0; k < kinds_; ++k)
            best[k] = text.totals[k] > 0 ? best[k] / text.totals[k] : 1.0;
    }

    void shift(const Text& text, int32_t slot, double by) {
        const double* const weights = text.weights.data() + slot * kinds_;
        for (size_t k = 0; k < kinds_; ++k) rough_[k] += by * weights[k];
    }

    bool may_raise(const Text& text, const double* best) const {
        for (size_t k = 0; k < kinds_; ++k)
            if (rough_[k] > best[k] - rounding * text.totals[k]) return true;
        return false;
    }

    void raise(const Text& text, double* best) {
        sums_.assign(kinds_, 0.0);
        for (size_t s = 0; s < text.slots; ++s)
            if (inside_[s])
                for (size_t k = 0; k < kinds_; ++k) sums_[k] += text.weights[s * kinds_ + k];
        for (size_t k = 0; k < kinds_; ++k) best[k] = std::max(best[k], sums_[k]);
    }

    double longest_run(size_t t, const int32_t* response, int64_t length) const {
        const Text& text = texts_[t];
        int64_t longest = 0;
        for (const Hit& hit : hits_[t])
            for (int64_t i = text.place[hit.slot]; i >= 0; i = text.again[i]) {
                if (i > 0 && hit.at > 0 && text.ids[i - 1] == response[hit.at - 1])
                    continue;  // part of a longer run
                int64_t run = 1;
                while (i + run < text.length && hit.at + run < length &&
                       text.ids[i + run] == response[hit.at + run])
                    ++run;
                longest = std::max(longest, run);
            }
        return text.length ? static_cast<double>(longest) / static_cast<double>(text.length) : 0.0;
    }

    double heaviest_miss(size_t t) {
        const Text& text = texts_[t];
        if (hits_[t].empty()) return text.heaviest;
        inside_.assign(text.slots, 0);
        for (const Hit& hit : hits_[t]) inside_[hit.slot] = 1;
        double heaviest = 0;
        for (size_t s = 0; s < text.slots; ++s)
            if (!inside_[s]) heaviest = std::max(heaviest, text.weights[s * kinds_]);
        return heaviest;
    }

    // Relative to a total: far above the rounding error of thousands of steps, far below any
    // weight.
    static constexpr double rounding = 1e-9;

    const int64_t first_;
    const size_t kinds_;
    const int64_t* const windows_;
    const size_t sizes_;
    Numbering words_;
    std::vector<Text> texts_;
    std::vector<Seen> occurrences_, posted_;
    std::vector<int64_t> starts_;
    std::vector<std::vector<Hit>> hits_;  // of each text, in the order of the response
    std::vector<int32_t> inside_;         // how often each slot is in the window
    std::vector<double> sums_, rough_, part_;
};

}  // namespace karat
