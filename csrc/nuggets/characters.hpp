// The share of a text's character 4-grams that occur in a window of a response, and in the whole
// response.
//
//     share(w) = max over windows of w 4-grams: distinct 4-grams of the text in it
//                / distinct 4-grams of the text;                     1 for a text without any
//
// The window is twice as long as the text, plus 10 4-grams. All 4-grams have equal weight, so
// counts replace the sums of `windows.hpp`. A 4-gram is a pair of letter pairs: if no text has the
// first pair, nothing is looked up.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

class NuggetCharacters {
  public:
    static constexpr int64_t gram_length = 4;
    static constexpr size_t columns = 2;

    // Texts first … last - 1, as letters.
    NuggetCharacters(const Ragged& texts, int64_t first, int64_t last)
        : slots_(last - first), windows_(last - first), hits_(last - first) {
        pairs_.reset(1 << 10);
        grams_.reset(1 << 10);
        for (int64_t t = first; t < last; ++t) add(texts.begin(t), texts.length(t), t - first);
        post();
    }

    // For every text, the share in the best window and in the whole response.
    void measure(const int32_t* response, int64_t length, double* rows) {
        find(response, length);
        for (size_t t = 0; t < slots_.size(); ++t, rows += columns) slide(t, rows);
    }

  private:
    struct Seen {
        int32_t gram, text, slot;
    };
    struct Hit {
        int64_t at;
        int32_t slot;
    };

    static uint64_t both(int32_t a, int32_t b) {
        return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
    }

    void add(const int32_t* letters, int64_t length, int64_t t) {
        windows_[t] = 2 * std::max<int64_t>(length - gram_length + 1, 0) + 10;
        for (int64_t i = 0; i + gram_length <= length; ++i) {
            const int32_t left = pairs_.add(both(letters[i], letters[i + 1]));
            const int32_t right = pairs_.add(both(letters[i + 2], letters[i + 3]));
            const int32_t x = grams_.add(both(left, right));
            if (static_cast<size_t>(x) >= last_.size()) last_.resize(x + 1, -1);
            if (last_[x] == t) continue;
            last_[x] = t;
            occurrences_.push_back({x, static_cast<int32_t>(t), slots_[t]++});
        }
    }

    // Sorts the postings by 4-gram: x has posted_[starts_[x]] to posted_[starts_[x+1]].
    void post() {
        starts_.assign(grams_.count() + 2, 0);
        for (const Seen& occurrence : occurrences_) ++starts_[occurrence.gram + 1];
        for (size_t x = 1; x < starts_.size(); ++x) starts_[x] += starts_[x - 1];
        posted_.resize(occurrences_.size());
        std::vector<int64_t> next(starts_);
        for (const Seen& occurrence : occurrences_) posted_[next[occurrence.gram]++] = occurrence;
    }

    void find(const int32_t* response, int64_t length) {
        for (auto& hits : hits_) hits.clear();
        if (length < gram_length) return;
        pair_numbers_.resize(length - 1);
        for (int64_t i = 0; i + 1 < length; ++i)
            pair_numbers_[i] = pairs_.find(both(response[i], response[i + 1]));
        for (int64_t i = 0; i + gram_length <= length; ++i) {
            if (!pair_numbers_[i] || !pair_numbers_[i + 2]) continue;
            const int32_t x = grams_.find(both(pair_numbers_[i], pair_numbers_[i + 2]));
            if (!x) continue;
            for (int64_t k = starts_[x]; k < starts_[x + 1]; ++k)
                hits_[posted_[k].text].push_back({i, posted_[k].slot});
        }
    }

    void slide(size_t t, double* shares) {
        const auto& hits = hits_[t];
        inside_.assign(slots_[t], 0);
        ever_.assign(slots_[t], 0);
        int32_t now = 0, best = 0, all = 0;
        size_t low = 0;
        for (const Hit& hit : hits) {
            now += ++inside_[hit.slot] == 1;
            all += !ever_[hit.slot];
            ever_[hit.slot] = 1;
            for (; hits[low].at <= hit.at - windows_[t]; ++low)
                now -= --inside_[hits[low].slot] == 0;
            best = std::max(best, now);
        }
        const auto total = static_cast<double>(slots_[t]);
        shares[0] = slots_[t] ? best / total : 1.0;
        shares[1] = slots_[t] ? all / total : 1.0;
    }

    std::vector<int32_t> slots_;    // distinct 4-grams of each text
    std::vector<int64_t> windows_;  // of each text
    std::vector<std::vector<Hit>> hits_;
    Numbering pairs_, grams_;
    std::vector<int64_t> last_;  // last text with each 4-gram
    std::vector<Seen> occurrences_, posted_;
    std::vector<int64_t> starts_;
    std::vector<int32_t> pair_numbers_, inside_;
    std::vector<uint8_t> ever_;
};

}  // namespace karat
