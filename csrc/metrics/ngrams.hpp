// Clipped n-gram matches between a candidate and its references, orders 1..N, compared exactly.
//
// No n-gram is ever hashed as a whole. Each order numbers the candidate's n-grams 1, 2, 3, …; an
// n-gram of the next order is the number of its first n-1 tokens and the number of its last token,
// so a key is two small numbers, and equal keys mean equal n-grams. An n-gram can only match if
// both of its (n-1)-grams do; all others are skipped.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"
#include "core/watch.hpp"

namespace karat {

// A numbering of pairs of small numbers, as a plain table.
class Grid {
  public:
    static bool fits(int64_t rows, int64_t columns) { return (rows + 1) * (columns + 1) <= limit; }

    void reset(int32_t columns) {
        base_ += count_;
        if (cells_.empty() || base_ > UINT32_MAX - 2 * limit) {
            cells_.assign(limit, 0);
            base_ = 0;
        }
        columns_ = static_cast<size_t>(columns) + 1;
        count_ = 0;
    }
    int32_t count() const { return static_cast<int32_t>(count_); }

    int32_t add(int32_t row, int32_t column) {
        uint32_t& cell = cells_[static_cast<size_t>(row) * columns_ + column];
        const uint32_t held = cell;
        const bool fresh = held <= base_;
        count_ += fresh;
        cell = fresh ? base_ + count_ : held;
        return static_cast<int32_t>(cell - base_);
    }
    int32_t find(int32_t row, int32_t column) const {
        const uint32_t held = cells_[static_cast<size_t>(row) * columns_ + column];
        return static_cast<int32_t>(held > base_ ? held - base_ : 0);
    }

  private:
    static constexpr uint32_t limit = 1 << 14;
    std::vector<uint32_t> cells_;  // base_ + number; values up to base_ are from earlier segments
    uint32_t base_ = 0, count_ = 0;
    size_t columns_ = 1;
};

// A numbering of pairs of any numbers.
class Pairs {
  public:
    void reset(size_t at_most) { numbering_.reset(at_most); }
    int32_t count() const { return numbering_.count(); }
    int32_t add(int32_t a, int32_t b) { return numbering_.add(key(a, b)); }
    int32_t find(int32_t a, int32_t b) const { return numbering_.find(key(a, b)); }

  private:
    static uint64_t key(int32_t a, int32_t b) {
        return static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b);
    }
    Numbering numbering_;
};

// Whether a word of one text occurs in the other is effectively random to a branch predictor, so
// the inner loops have no branches: they write every position to a list, and advance in the list
// only if the position is kept.
class Overlap {
  public:
    explicit Overlap(Watch& watch) : watch_(watch) {}

    // matches[k*N + n-1]: sum over n-grams of min(count in candidate, count in reference k).
    // clipped[n-1]: the same with the largest count over all references.
    void segment(const int32_t* candidate, int64_t length, const Ragged& references,
                 int64_t first, int64_t last, int N, int32_t* matches, int32_t* clipped) {
        std::fill(matches, matches + (last - first) * N, 0);
        std::fill(clipped, clipped + N, 0);
        start(length, references, first, last);
        words_.reset(static_cast<size_t>(length));
        order(Unigrams{words_, candidate, references.begin(first)}, N, matches, clipped);
        candidate_.words = candidate_.number;
        reference_.words = reference_.number;
        const int32_t words = words_.count();
        int32_t shorter = words;
        for (int n = 2; n <= N && clipped[n - 2]; ++n) {
            if (Grid::fits(shorter, words)) {
                grid_.reset(words);
                order(longer(grid_, n), N, matches + n - 1, clipped + n - 1);
                shorter = grid_.count();
            } else {
                pairs_.reset(static_cast<size_t>(length));
                order(longer(pairs_, n), N, matches + n - 1, clipped + n - 1);
                shorter = pairs_.count();
            }
        }
    }

  private:
    static constexpr int64_t part = 1 << 18;
    static constexpr int64_t looking = 32;  // steps per n-gram of a long text (cache misses)

    // One side: the numbers of its n-grams by start, the numbers of its words, and the starts that
    // can still match, in order (for references, concatenated).
    struct Side {
        std::vector<int32_t> number, words, live;
    };
    struct Count {
        int32_t candidate;  // in the candidate
        int32_t reference;  // in the current reference, up to the candidate's count
        int32_t most;       // in any reference so far, up to the candidate's count
    };

    // How the n-gram at a position is numbered: by id for n = 1 …
    struct Unigrams {
        Numbering& table;
        const int32_t *candidate, *reference;
        int32_t add(int32_t i) const { return table.add(static_cast<uint32_t>(candidate[i])); }
        int32_t find(int32_t j) const { return table.find(static_cast<uint32_t>(reference[j])); }
    };
    // … and by the (n-1)-gram there and the last word for n > 1.
    template <class Table>
    struct Longer {
        Table& table;
        const int32_t *candidate, *candidate_last, *reference, *reference_last;
        int32_t add(int32_t i) const { return table.add(candidate[i], candidate_last[i]); }
        int32_t find(int32_t j) const { return table.find(reference[j], reference_last[j]); }
    };
    template <class Table>
    Longer<Table> longer(Table& table, int n) {
        return {table, candidate_.number.data(), candidate_.words.data() + n - 1,
                reference_.number.data(), reference_.words.data() + n - 1};
    }

    void start(int64_t length, const Ragged& references, int64_t first, int64_t last) {
        const int64_t from = references.offsets[first], total = references.offsets[last] - from;
        for (auto [side, n] : {std::pair(&candidate_, length), std::pair(&reference_, total)}) {
            side->number.resize(n);
            side->live.resize(n);
            for (int64_t i = 0; i < n; ++i) side->live[i] = static_cast<int32_t>(i);
        }
        runs_.clear();
        for (int64_t k = first; k <= last; ++k) runs_.push_back(references.offsets[k] - from);
    }

    template <class Grams>
    void order(const Grams& grams, int N, int32_t* matches, int32_t* clipped) {
        auto& positions = candidate_.live;
        in_parts(positions.data(), positions.data() + positions.size(),
                 [&](const int32_t* p, const int32_t* end) {
                     for (; p < end; ++p) candidate_.number[*p] = grams.add(*p);
                 });
        counts_.assign(static_cast<size_t>(grams.table.count()) + 1, Count{0, 0, 0});
        for (const int32_t i : positions) ++counts_[candidate_.number[i]].candidate;
        int32_t* const live = reference_.live.data();
        int64_t n_live = 0;
        for (size_t k = 0; k + 1 < runs_.size(); ++k) {
            const int32_t *begin = live + runs_[k], *end = live + runs_[k + 1];
            runs_[k] = n_live;
            Neighbours stay(live + n_live);
            const int64_t hits = find(grams, begin, end, stay);
            if (runs_.size() == 2)
                count_only(hits, matches, clipped);
            else
                count_next(hits, &matches[k * N], clipped);
            n_live = stay.count(live);
        }
        runs_.back() = n_live;
        Neighbours stay(positions.data());
        for (const int32_t i : positions) stay.next(i, counts_[candidate_.number[i]].most != 0);
        positions.resize(stay.count(positions.data()));
    }

    // Receives starts in order, with whether the n-gram there matches, and writes the starts whose
    // successor matches too: a longer n-gram can match there. It may write in place.
    class Neighbours {
      public:
        explicit Neighbours(int32_t* out) : out_(out) {}
        void next(int32_t start, bool match) {
            *out_ = last_;
            out_ += match & (last_ + 1 == start);
            last_ = match ? start : none;
        }
        int64_t count(const int32_t* begin) const { return out_ - begin; }

      private:
        static constexpr int32_t none = -2;
        int32_t* out_;
        int32_t last_ = none;
    };

    // Numbers the n-grams of one reference; numbers of n-grams in the candidate are added to
    // `hits_`.
    template <class Grams>
    int64_t find(const Grams& grams, const int32_t* begin, const int32_t* end, Neighbours& stay) {
        if (hits_.size() <= static_cast<size_t>(end - begin)) hits_.resize(end - begin + 1);
        int32_t* hit = hits_.data();
        in_parts(begin, end, [&](const int32_t* p, const int32_t* stop) {
            for (; p < stop; ++p) {
                const int32_t j = *p, number = grams.find(j);
                reference_.number[j] = *hit = number;
                hit += number != 0;
                stay.next(j, number != 0);
            }
        });
        return hit - hits_.data();
    }

    // Calls `work` on chunks of the starts, and can be interrupted between them.
    template <class Work>
    void in_parts(const int32_t* begin, const int32_t* end, const Work& work) {
        while (begin < end) {
            const int32_t* const stop = begin + std::min<int64_t>(end - begin, part);
            work(begin, stop);
            watch_.worked(looking * (stop - begin));
            begin = stop;
        }
    }

    // Counts the hits of the only reference …
    void count_only(int64_t hits, int32_t* matches, int32_t* clipped) {
        int32_t matched = 0;
        for (int64_t k = 0; k < hits; ++k) {
            Count& count = counts_[hits_[k]];
            const bool match = count.most < count.candidate;
            count.most += match;
            matched += match;
        }
        *matches = *clipped = matched;
    }

    // … or of one of several.
    void count_next(int64_t hits, int32_t* matches, int32_t* clipped) {
        int32_t matched = 0, grown = 0;
        for (int64_t k = 0; k < hits; ++k) {
            Count& count = counts_[hits_[k]];
            const bool match = count.reference < count.candidate;
            count.reference += match;
            matched += match;
            const bool more = count.reference > count.most;
            count.most += more;
            grown += more;
        }
        *matches = matched;
        *clipped += grown;
        for (int64_t k = 0; k < hits; ++k) counts_[hits_[k]].reference = 0;
    }

    Watch& watch_;
    Numbering words_;
    Grid grid_;
    Pairs pairs_;
    Side candidate_, reference_;
    std::vector<int64_t> runs_;  // start of each reference's live starts
    std::vector<Count> counts_;
    std::vector<int32_t> hits_;
};

}  // namespace karat
