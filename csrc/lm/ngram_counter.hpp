// How often each n-gram occurs in a text, for all lengths at once.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/watch.hpp"
#include "lm/trie.hpp"

namespace karat::lm {

class Counter {
  public:
    explicit Counter(int order)
        : levels_(static_cast<size_t>(order) - 1), counts_(levels_.size()) {}

    int order() const { return static_cast<int>(levels_.size()) + 1; }
    const Level& level(int n) const { return levels_[static_cast<size_t>(n) - 2]; }
    const std::vector<int64_t>& counts(int n) const {
        return n == 1 ? words_ : counts_[static_cast<size_t>(n) - 2];
    }

    size_t bytes() const {
        size_t total = words_.capacity() * 8;
        for (size_t i = 0; i < levels_.size(); ++i)
            total += levels_[i].bytes() + counts_[i].capacity() * 8;
        return total;
    }

    // A sentence: <s> is the first history and predicted by nothing, </s> is predicted like a word.
    void add(const int32_t* ids, int64_t length, Watch& watch) {
        uint32_t before[MAX_ORDER] = {BOS};  // the n-grams that end at the last word
        int known = 1;                       // how many of them there are
        count_word(BOS);
        for (int64_t i = 0; i <= length; ++i) {
            const int32_t word = i < length ? ids[i] : EOS;
            count_word(word);
            uint32_t here[MAX_ORDER] = {static_cast<uint32_t>(word)};
            const int longest = known < order() ? known + 1 : order();
            for (int n = 2; n <= longest; ++n) {
                const int64_t first = i - n + 1;
                here[n - 1] = count(n, here[n - 2], first < 0 ? BOS : ids[first], before[n - 2]);
            }
            watch.worked(counting * longest);
            std::copy(here, here + longest, before);
            known = longest;
        }
    }

  private:
    static constexpr int64_t counting = 64;  // steps for an n-gram: it is far away

    void count_word(int32_t word) {
        if (static_cast<size_t>(word) >= words_.size())
            words_.resize(static_cast<size_t>(word) + 1);
        ++words_[static_cast<size_t>(word)];
    }
    uint32_t count(int n, uint32_t suffix, int32_t first, uint32_t context) {
        const size_t at = static_cast<size_t>(n) - 2;
        const uint32_t i = levels_[at].add(suffix, first, context);
        if (i == counts_[at].size()) counts_[at].push_back(0);
        ++counts_[at][i];
        return i;
    }

    std::vector<Level> levels_;
    std::vector<int64_t> words_;
    std::vector<std::vector<int64_t>> counts_;
};

}  // namespace karat::lm
