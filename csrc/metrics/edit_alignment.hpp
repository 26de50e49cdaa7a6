// Edit alignments of a result with a reference, 64 cells of a column at a time.
//
// D[i][j] is the least cost of turning the first i reference tokens into the first j result tokens.
// Neighbouring cells differ by little, so a column is held as bits: the differences D[i][j] -
// D[i-1][j] of 64 rows in a few words. Ties between best alignments are broken by a fixed rule:
// walking back from the ends, prefer the diagonal (a match or a substitution), then an insertion,
// then a deletion.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "metrics/ngrams.hpp"

namespace karat {

enum class Edit : int32_t { keep, substitute, insert, remove };

// For 64 cells, bits of the cells whose best steps include the diagonal, and an insertion.
struct BestSteps {
    uint64_t diagonal, insertion;
};

// Every operation costs 1 (Myers 1999, in the form of Hyyrö 2003): differences are -1, 0 and 1.
struct UnitCosts {
    struct Column {
        uint64_t plus = ~0ull, minus = 0;
    };
    // D[i][j] - D[i][j-1] of the row above the 64 cells; 1 above the first row.
    struct Above {
        uint64_t plus = 1, minus = 0;
    };

    static BestSteps advance(uint64_t match, Column& column, Above& above) {
        const uint64_t x = match | above.minus;
        const uint64_t equal_diagonal =  // D[i][j] = D[i-1][j-1]
            (((x & column.plus) + column.plus) ^ column.plus) | x | column.minus;
        const uint64_t plus = column.minus | ~(equal_diagonal | column.plus);
        const uint64_t minus = equal_diagonal & column.plus;
        const uint64_t plus_above = plus << 1 | above.plus, minus_above = minus << 1 | above.minus;
        above = {plus >> 63, minus >> 63};
        column = {minus_above | ~(equal_diagonal | plus_above), plus_above & equal_diagonal};
        return {match | ~equal_diagonal, plus};
    }
};

// Insertion and deletion cost 3, a substitution 4. The same alignments have the greatest gain
// G = (3(i + j) - D) / 2: 3 for a match, 1 for a substitution, 0 for the rest. Differences of G are
// 0, 1, 2 and 3. With u = G[i-1][j] - G[i-1][j-1] (above), v = G[i][j-1] - G[i-1][j-1] (before) and
// z = max(3 or 1, u, v), the next differences are z - u down the column and z - v along the row.
struct AccuracyCosts {
    struct Column {
        uint64_t low = 0, high = 0;
    };
    struct Above {
        uint64_t is_one = 0, is_two = 0, is_three = 0;
    };

    static BestSteps advance(uint64_t match, Column& column, Above& above) {
        const uint64_t low = column.low, high = column.high;
        // z is the same as if v were w: 3 at a match, else v.
        const uint64_t w0 = ~(low | high | match), w1 = low & ~(high | match);
        const uint64_t w2 = high & ~(low | match), w3 = (low & high) | match;
        // Along the row, z - v is 3 for v = 0 and 2 for v = 1 at a match; where w = 0, it is u.
        const uint64_t from3 = match & ~(low | high);
        const uint64_t u3 = handed_down(w0, from3 << 1 | above.is_three);
        const uint64_t from2 = low & ~high & (match | u3);
        const uint64_t u2 = handed_down(w0, from2 << 1 | above.is_two);
        const uint64_t large = u2 | u3;
        const uint64_t h3 = from3 | (w0 & u3), h2 = from2 | (w0 & u2);
        const uint64_t h1 = (high & ~low & (match | u3)) | (w1 & u2) | (w0 & ~large);
        const uint64_t u1 = h1 << 1 | above.is_one;
        above = {h1 >> 63, h2 >> 63, h3 >> 63};
        // Down the column, z - u; the terms with u1 come last because it is known last.
        column.low = ((u2 & w3) | ~(large | w2)) ^ u1;
        column.high = ~large & (w2 | w3) & ~(u1 & w2);
        return {match | ~(large | high), ~(h1 | h2 | h3)};
    }

  private:
    // Propagates the bits of `start` down through the cells of `passing`, by the carry of an
    // addition.
    static uint64_t handed_down(uint64_t passing, uint64_t start) {
        return start | ((passing + (start & passing)) ^ passing);
    }
};

template <class Costs>
class EditAlignment {
  public:
    // Calls visit(edit, i, j) for every operation, the last one first: i and j are the positions of
    // its reference and result tokens, for an insertion or deletion, the missing one is the
    // position where it happens. `poll` is called regularly while a long pair is processed; it may
    // throw.
    template <class Visit, class Poll>
    void align(const int32_t* result, int64_t n, const int32_t* reference, int64_t m, Visit& visit,
               Poll& poll) {
        while (n && m && result[n - 1] == reference[m - 1]) visit(Edit::keep, --m, --n);
        int64_t n_common = 0;  // length of the common prefix
        while (n_common < std::min(n, m) && result[n_common] == reference[n_common]) ++n_common;
        if (n > n_common && m > n_common)
            walk_table(result, n, reference, m, n_common, visit, poll);
        // If one text is a prefix of the other, the remaining words are insertions or deletions.
        while (n && m) {
            if (result[n - 1] == reference[m - 1])
                visit(Edit::keep, --m, --n);
            else if (n > m)
                visit(Edit::insert, m, --n);
            else
                visit(Edit::remove, --m, n);
        }
        while (n) visit(Edit::insert, m, --n);
        while (m) visit(Edit::remove, --m, n);
    }

  private:
    static constexpr int64_t most_steps = 1 << 21;  // kept at a time: 32 MB
    static constexpr int64_t most_hits = 1 << 20;   // 8 MB
    static constexpr int64_t small_ids = 256;
    static constexpr int64_t most_work = 1 << 24;  // steps between calls of `poll`
    enum class Way { small, numbered, chained };

    // Walks back from the ends of both texts until one of them is `n_common` tokens long.
    template <class Visit, class Poll>
    void walk_table(const int32_t* result, int64_t& n, const int32_t* reference, int64_t& m,
                    int64_t n_common, Visit& visit, Poll& poll) {
        result += n_common, reference += n_common, n -= n_common, m -= n_common;
        auto shifted = [&](Edit edit, int64_t i, int64_t j) {
            visit(edit, i + n_common, j + n_common);
        };
        const int64_t length = m;
        index(reference, length);
        const int64_t block = block_size(n);
        save_columns(result, n, block, poll);
        for (int64_t begin = (n - 1) / block * block; begin >= 0 && m; begin -= block) {
            if (n <= begin) continue;
            std::copy_n(&saved_[begin / block * words_], words_, columns_.begin());
            steps_.resize(std::max<size_t>(steps_.size(), (n - begin) * words_));
            advance<true>(result + begin, n - begin, poll);
            walk_back(result, n, reference, m, begin, shifted);
        }
        forget(reference, length);
        n += n_common, m += n_common;
    }

    // All steps of a small table are stored. For a large table, only the steps of one block of
    // columns are stored, and the first column of each block, from which the block is recomputed.
    int64_t block_size(int64_t n) const {
        if (n * words_ <= most_steps) return n;
        return static_cast<int64_t>(std::sqrt(static_cast<double>(n))) + 1;
    }

    template <class Poll>
    void save_columns(const int32_t* result, int64_t n, int64_t block, Poll& poll) {
        columns_.assign(words_, typename Costs::Column{});
        saved_.clear();
        for (int64_t begin = 0; begin < n; begin += block) {
            saved_.insert(saved_.end(), columns_.begin(), columns_.end());
            if (begin + block < n) advance<false>(result + begin, block, poll);
        }
    }

    template <bool keep_steps, class Poll>
    void advance(const int32_t* tokens, int64_t n, Poll& poll) {
        switch (words_) {
            case 1: return advance<keep_steps, 1>(tokens, n, poll);
            case 2: return advance<keep_steps, 2>(tokens, n, poll);
            case 3: return advance<keep_steps, 3>(tokens, n, poll);
            case 4: return advance<keep_steps, 4>(tokens, n, poll);
            default: return advance<keep_steps, 0>(tokens, n, poll);
        }
    }

    // A column of a few machine words (0: any number) is held in registers while it advances.
    template <bool keep_steps, int fixed_words, class Poll>
    void advance(const int32_t* tokens, int64_t n, Poll& poll) {
        const int64_t words = fixed_words ? fixed_words : words_;
        typename Costs::Column held[fixed_words ? fixed_words : 1];
        typename Costs::Column* const columns = fixed_words ? held : columns_.data();
        if (fixed_words) std::copy_n(columns_.data(), fixed_words, held);
        BestSteps* steps = steps_.data();
        for (int64_t j = 0; j < n; ++j) {
            if (!fixed_words && (work_ += words + chained_) > most_work) work_ = 0, poll();
            const uint64_t* const hits = find(tokens[j]);
            typename Costs::Above above;
            for (int64_t w = 0; w < words; ++w) {
                const BestSteps best = Costs::advance(hits[w], columns[w], above);
                if (keep_steps) *steps++ = best;
            }
        }
        if (fixed_words) std::copy_n(held, fixed_words, columns_.data());
        if (fixed_words && (work_ += n * words) > most_work) work_ = 0, poll();
    }

    template <class Visit>
    void walk_back(const int32_t* result, int64_t& n, const int32_t* reference, int64_t& m,
                   int64_t begin, Visit& visit) {
        while (m && n > begin) {
            const BestSteps& best = steps_[(n - 1 - begin) * words_ + (m - 1) / 64];
            const int bit = (m - 1) % 64;
            if (best.diagonal >> bit & 1) {
                --m, --n;
                visit(result[n] == reference[m] ? Edit::keep : Edit::substitute, m, n);
            } else if (best.insertion >> bit & 1) {
                visit(Edit::insert, m, --n);
            } else {
                visit(Edit::remove, --m, n);
            }
        }
    }

    // The positions of each distinct reference token: as bits if memory allows, else as linked
    // lists, from which the bits of one token at a time are built. Small ids, as most characters
    // have, are used as their own numbers.
    void index(const int32_t* reference, int64_t m) {
        words_ = (m + 63) / 64;
        chained_ = 0;
        const auto is_small = [](int32_t id) { return static_cast<uint32_t>(id) < small_ids; };
        const bool fits = (small_ids + 1) * words_ <= most_hits;
        if (fits && std::all_of(reference, reference + m, is_small))
            return index_small(reference, m);
        lookup_ = Way::numbered;
        numbering_.reset(static_cast<size_t>(m));
        number_.resize(m);
        for (int64_t i = 0; i < m; ++i)
            number_[i] = numbering_.add(static_cast<uint32_t>(reference[i]));
        const int64_t tokens = numbering_.count() + 1;
        if (tokens * words_ > most_hits) return chain(m, tokens);
        hits_.assign(tokens * words_, 0);
        for (int64_t i = 0; i < m; ++i) hits_[number_[i] * words_ + i / 64] |= bit(i);
    }

    // `small_` is all zero before and after a call (an interrupted caller discards the whole
    // object); its last row, for all other ids, is always zero.
    void index_small(const int32_t* reference, int64_t m) {
        lookup_ = Way::small;
        small_.resize(std::max<size_t>(small_.size(), (small_ids + 1) * words_));
        for (int64_t i = 0; i < m; ++i) small_[reference[i] * words_ + i / 64] |= bit(i);
    }
    void forget(const int32_t* reference, int64_t m) {
        if (lookup_ != Way::small) return;
        for (int64_t i = 0; i < m; ++i) small_[reference[i] * words_ + i / 64] = 0;
    }

    void chain(int64_t m, int64_t tokens) {
        lookup_ = Way::chained;
        hits_.assign(words_, 0);
        marked_ = 0;
        next_.resize(m);
        head_.assign(tokens, -1);
        for (int64_t i = 0; i < m; ++i) {
            next_[i] = head_[number_[i]];
            head_[number_[i]] = i;
        }
    }

    const uint64_t* find(int32_t token) {
        if (lookup_ == Way::small)
            return &small_[std::min<int64_t>(static_cast<uint32_t>(token), small_ids) * words_];
        const int32_t number = numbering_.find(static_cast<uint32_t>(token));
        if (lookup_ == Way::numbered) return &hits_[number * words_];
        for (int64_t i = head_[marked_]; i >= 0; i = next_[i]) hits_[i / 64] = 0;
        chained_ = 0;
        for (int64_t i = head_[number]; i >= 0; i = next_[i], ++chained_) hits_[i / 64] |= bit(i);
        marked_ = number;
        return hits_.data();
    }

    static uint64_t bit(int64_t i) { return 1ull << (i % 64); }

    Numbering numbering_;
    std::vector<int64_t> head_, next_;
    std::vector<int32_t> number_;
    std::vector<uint64_t> hits_, small_;
    std::vector<typename Costs::Column> columns_, saved_;
    std::vector<BestSteps> steps_;
    int64_t words_ = 0, work_ = 0;
    int64_t chained_ = 0;  // positions of the last token, if stored as a list
    int32_t marked_ = 0;
    Way lookup_ = Way::numbered;
};

// The counts of an alignment. `moves`: tokens deleted in one place and inserted in another, each
// counted among the insertions and the deletions as well.
struct EditCounts {
    int64_t substitutions = 0, insertions = 0, deletions = 0, moves = 0;

    EditCounts& operator+=(const EditCounts& other) {
        substitutions += other.substitutions;
        insertions += other.insertions;
        deletions += other.deletions;
        moves += other.moves;
        return *this;
    }
};

template <class Costs>
class EditCounter {
  public:
    template <class Poll>
    EditCounts count(const int32_t* result, int64_t n, const int32_t* reference, int64_t m,
                     Poll& poll) {
        EditCounts counts;
        inserted_.clear();
        deleted_.clear();
        auto visit = [&](Edit edit, int64_t i, int64_t j) {
            if (edit == Edit::substitute) ++counts.substitutions;
            if (edit == Edit::insert) inserted_.push_back(result[j]);
            if (edit == Edit::remove) deleted_.push_back(reference[i]);
        };
        alignment_.align(result, n, reference, m, visit, poll);
        counts.insertions = static_cast<int64_t>(inserted_.size());
        counts.deletions = static_cast<int64_t>(deleted_.size());
        counts.moves = common();
        return counts;
    }

  private:
    // The size of the multiset intersection of both lists.
    int64_t common() {
        std::sort(inserted_.begin(), inserted_.end());
        std::sort(deleted_.begin(), deleted_.end());
        int64_t n_moves = 0;
        for (size_t a = 0, b = 0; a < inserted_.size() && b < deleted_.size();) {
            const bool is_equal = inserted_[a] == deleted_[b];
            const bool first = inserted_[a] < deleted_[b];
            n_moves += is_equal;
            a += is_equal || first;
            b += !first;
        }
        return n_moves;
    }

    EditAlignment<Costs> alignment_;
    std::vector<int32_t> inserted_, deleted_;
};

}  // namespace karat
