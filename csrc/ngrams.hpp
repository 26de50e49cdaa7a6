// Clipped n-gram matches between a candidate and its references, orders 1..N, compared exactly.
//
// No n-gram is ever hashed as a whole. Each order numbers the n-grams of the candidate 0, 1, 2, …;
// an n-gram of the next order is the number of its first n-1 tokens and the number of its last
// token, so a key is two small numbers, and equal keys mean equal n-grams. An n-gram can only match
// if both shorter ones in it do; all others are not looked at again.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace karat {

struct Ragged {
    const int32_t* ids;
    const int64_t* offsets;
    const int32_t* begin(int64_t i) const { return ids + offsets[i]; }
    int64_t length(int64_t i) const { return offsets[i + 1] - offsets[i]; }
};

// 64-bit keys to 1, 2, 3, … in order of first sight; emptied in constant time.
class Numbering {
  public:
    void reset(size_t at_most) {
        size_t capacity = 16;
        shift_ = 60;
        while (capacity < 4 * at_most) capacity *= 2, --shift_;
        if (capacity > slots_.size()) {
            slots_.assign(capacity, Slot{});
            epoch_ = 0;
        }
        if (++epoch_ == 0) {  // the stamps have wrapped around
            std::fill(slots_.begin(), slots_.end(), Slot{});
            epoch_ = 1;
        }
        mask_ = capacity - 1;
        count_ = 0;
    }
    int32_t count() const { return count_; }

    int32_t add(uint64_t key) {
        for (size_t at = place(key);; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.epoch != epoch_) {
                slot = {key, epoch_, ++count_};
                return count_;
            }
            if (slot.key == key) return slot.number;
        }
    }
    // The number of a key, or 0.
    int32_t find(uint64_t key) const {
        size_t at = place(key);
        while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask_;
        return slots_[at].epoch == epoch_ ? slots_[at].number : 0;
    }

  private:
    struct Slot {
        uint64_t key = 0;
        uint32_t epoch = 0;
        int32_t number = 0;
    };
    size_t place(uint64_t key) const { return (key * 0x9E3779B97F4A7C15ull) >> shift_; }

    std::vector<Slot> slots_;
    uint32_t epoch_ = 0;
    int shift_ = 60;
    size_t mask_ = 15;
    int32_t count_ = 0;
};

// The same for pairs of small numbers, as a plain table.
class Grid {
  public:
    static bool fits(int64_t rows, int64_t columns) { return (rows + 1) * (columns + 1) <= limit; }

    void reset(int32_t columns) {
        if (cells_.empty()) cells_.assign(limit, Cell{});
        if (++epoch_ == 0) {
            std::fill(cells_.begin(), cells_.end(), Cell{});
            epoch_ = 1;
        }
        columns_ = static_cast<size_t>(columns) + 1;
        count_ = 0;
    }
    int32_t count() const { return count_; }

    int32_t add(int32_t row, int32_t column) {
        Cell& cell = cells_[static_cast<size_t>(row) * columns_ + column];
        if (cell.epoch != epoch_) cell = {epoch_, ++count_};
        return cell.number;
    }
    int32_t find(int32_t row, int32_t column) const {
        const Cell& cell = cells_[static_cast<size_t>(row) * columns_ + column];
        return cell.epoch == epoch_ ? cell.number : 0;
    }

  private:
    static constexpr int64_t limit = 1 << 14;
    struct Cell {
        uint32_t epoch = 0;
        int32_t number = 0;
    };
    std::vector<Cell> cells_;
    uint32_t epoch_ = 0;
    size_t columns_ = 1;
    int32_t count_ = 0;
};

// The same for pairs of any numbers.
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

// Whether a word of one text stands in the other is as good as random to a branch predictor, so
// the inner loops have no branches: they write every position to a list and move on in the list
// only if the position is to stay.
class Overlap {
  public:
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
    // One side: the numbers of the n-grams by where they start, the numbers of its words, and the
    // starts that can still match, in order (for references, one run after the other).
    struct Side {
        std::vector<int32_t> number, words, live;
    };
    struct Count {
        int32_t candidate;  // in the candidate
        int32_t reference;  // in the reference at hand, up to the candidate's count
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
        counts_.assign(candidate_.live.size() + 1, Count{0, 0, 0});
        for (const int32_t i : candidate_.live)
            ++counts_[candidate_.number[i] = grams.add(i)].candidate;
        int32_t* const live = reference_.live.data();
        int64_t kept = 0;
        for (size_t k = 0; k + 1 < runs_.size(); ++k) {
            int32_t* const run = live + runs_[k];
            const int64_t hits = find(grams, run, live + runs_[k + 1]);
            count(run, run + hits, &matches[k * N], clipped);
            runs_[k] = kept;
            kept += keep_neighbours(run, hits, live + kept);
        }
        runs_.back() = kept;
        const auto matched = [&](int32_t i) { return counts_[candidate_.number[i]].most != 0; };
        auto& mine = candidate_.live;
        const int64_t hits = keep_if(mine.data(), mine.data() + mine.size(), matched);
        mine.resize(keep_neighbours(mine.data(), hits, mine.data()));
    }

    template <class Keep>
    static int64_t keep_if(int32_t* begin, int32_t* end, const Keep& keep) {
        int32_t* out = begin;
        for (const int32_t* p = begin; p < end; ++p) {
            const int32_t i = *p;
            *out = i;
            out += keep(i);
        }
        return out - begin;
    }

    // Of `n` starts those whose next start is there too: where a longer n-gram can match.
    static int64_t keep_neighbours(const int32_t* in, int64_t n, int32_t* out) {
        int32_t* const begin = out;
        for (int64_t k = 0; k + 1 < n; ++k) {
            const int32_t i = in[k];
            const bool keep = in[k + 1] == i + 1;
            *out = i;
            out += keep;
        }
        return out - begin;
    }

    // Numbers the n-grams of one reference; those that stand in the candidate stay in the list.
    template <class Grams>
    int64_t find(const Grams& grams, int32_t* begin, int32_t* end) {
        return keep_if(begin, end, [&](int32_t j) {
            return (reference_.number[j] = grams.find(j)) != 0;
        });
    }

    void count(const int32_t* begin, const int32_t* end, int32_t* matches, int32_t* clipped) {
        int32_t matched = 0, grown = 0;
        for (const int32_t* p = begin; p < end; ++p) {
            Count& count = counts_[reference_.number[*p]];
            const bool match = count.reference < count.candidate;
            count.reference += match;
            matched += match;
            const bool more = count.reference > count.most;
            count.most += more;
            grown += more;
        }
        *matches += matched;
        *clipped += grown;
        if (runs_.size() == 2) return;
        for (const int32_t* p = begin; p < end; ++p) counts_[reference_.number[*p]].reference = 0;
    }

    Numbering words_;
    Grid grid_;
    Pairs pairs_;
    Side candidate_, reference_;
    std::vector<int64_t> runs_;  // where each reference's live starts begin
    std::vector<Count> counts_;
};

}  // namespace karat
