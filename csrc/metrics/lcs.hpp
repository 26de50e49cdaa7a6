// Longest common subsequences, 64 cells of a row at a time (Hyyrö 2004).
//
// Row j is a bit vector over the reference: bit i is 0 where T[i+1][j] = T[i][j] + 1, T being the
// usual table of LCS lengths of prefixes. The length is the number of zeros in the last row.
#pragma once
#include <cstdint>
#include <vector>

#include "core/numbering.hpp"
#include "core/ragged.hpp"

namespace karat {

class Lcs {
  public:
    // `poll` is called regularly while a long pair is processed; it may throw. Returns -1 for a
    // table of more than `most` cells.
    template <class Poll>
    int64_t length(const int32_t* candidate, int64_t n, const int32_t* reference, int64_t m,
                   int64_t most, Poll& poll) {
        int64_t common = 0;  // common prefix and suffix, part of every LCS
        while (n && m && *candidate == *reference) ++candidate, ++reference, --n, --m, ++common;
        while (n && m && candidate[n - 1] == reference[m - 1]) --n, --m, ++common;
        if (!n || !m) return common;
        if (n > most / m) return -1;
        index(reference, m);
        row_.assign(words_, ~0ull);
        for (int64_t j = 0; j < n; ++j) advance(candidate[j], row_.data(), poll);
        return common + zeros(row_.data(), m);
    }

    // The positions in the indexed reference of one longest common subsequence: the one found by
    // walking back from the end, taking equal tokens, else moving left in the candidate where that
    // keeps the length, else up in the reference (the rule of the original tool).
    template <class Poll>
    void positions(const int32_t* candidate, int64_t n, const int32_t* reference, int64_t m,
                   std::vector<char>& marked, Poll& poll) {
        if (worked(words_ * (n + 1) + 64)) poll();  // also for short sentences
        if (!n || !m) return;
        rows_.assign(static_cast<size_t>(words_) * (n + 1), ~0ull);
        for (int64_t j = 0; j < n; ++j) {
            uint64_t* row = &rows_[(j + 1) * words_];
            std::copy(row - words_, row, row);
            advance(candidate[j], row, poll);
        }
        int64_t i = m, j = n;
        while (i > 0 && j > 0) {
            if (reference[i - 1] == candidate[j - 1]) {
                marked[--i] = 1;
                --j;
            } else if (rows_[j * words_ + (i - 1) / 64] >> ((i - 1) % 64) & 1) {
                --i;
            } else {
                --j;
            }
        }
    }

    // The positions of each distinct reference token: as a list, and as bits if memory allows.
    void index(const int32_t* reference, int64_t m) {
        words_ = (m + 63) / 64;
        numbering_.reset(static_cast<size_t>(m));
        next_.resize(m);
        head_.assign(1, -1);
        for (int64_t i = 0; i < m; ++i) {
            const int32_t number = numbering_.add(static_cast<uint32_t>(reference[i]));
            if (static_cast<size_t>(number) == head_.size()) head_.push_back(-1);
            next_[i] = head_[number];
            head_[number] = i;
        }
        const auto types = static_cast<int64_t>(head_.size());
        dense_ = types * words_ <= most_words;
        bits_.assign((dense_ ? types : 1) * words_, 0);
        for (int64_t t = 1; dense_ && t < types; ++t) set_bits(t, &bits_[t * words_]);
    }

  private:
    static constexpr int64_t most_words = 1 << 22;  // 32 MB of bits

    // V <- (V + (V & M)) | (V & ~M), M being the positions of this token.
    template <class Poll>
    void advance(int32_t token, uint64_t* row, Poll& poll) {
        const int32_t number = numbering_.find(static_cast<uint32_t>(token));
        if (!number) return;
        uint64_t* const hits = bits_.data() + (dense_ ? number * words_ : 0);
        int64_t work = words_;
        if (!dense_) work += 16 * set_bits(number, hits);
        uint64_t carry = 0;
        for (int64_t w = 0; w < words_; ++w) {
            const uint64_t v = row[w], u = v & hits[w];
            const uint64_t sum = v + u;
            const uint64_t total = sum + carry;
            carry = static_cast<uint64_t>(sum < v) | static_cast<uint64_t>(total < sum);
            row[w] = total | (v & ~hits[w]);
        }
        for (int64_t i = head_[number]; !dense_ && i >= 0; i = next_[i]) hits[i / 64] = 0;
        if (worked(work)) poll();
    }

    int64_t set_bits(int64_t number, uint64_t* hits) const {
        int64_t count = 0;
        for (int64_t i = head_[number]; i >= 0; i = next_[i], ++count)
            hits[i / 64] |= 1ull << (i % 64);
        return count;
    }

    bool worked(int64_t words) {
        work_ += words;
        if (work_ < (1 << 26)) return false;
        work_ = 0;
        return true;
    }

    static int64_t zeros(const uint64_t* row, int64_t m) {
        int64_t count = 0;
        for (int64_t i = 0; i < m; i += 64) {
            uint64_t bits = ~row[i / 64];
            if (m - i < 64) bits &= (1ull << (m - i)) - 1;
            for (; bits; bits &= bits - 1) ++count;
        }
        return count;
    }

    Numbering numbering_;
    std::vector<int64_t> head_, next_;
    std::vector<uint64_t> bits_, row_, rows_;
    bool dense_ = true;
    int64_t words_ = 0;
    int64_t work_ = 0;
};

// Summary-level LCS (ROUGE-Lsum): for every reference sentence the union of its LCS with each
// candidate sentence; a token counts no more often than it occurs in either summary.
class SummaryLcs {
  public:
    template <class Poll>
    int64_t hits(const Ragged& candidate, int64_t c0, int64_t c1, const Ragged& reference,
                 int64_t r0, int64_t r1, Poll& poll) {
        const int32_t* const c = candidate.ids + candidate.offsets[c0];
        const int64_t n = candidate.offsets[c1] - candidate.offsets[c0];
        const int64_t m = reference.offsets[r1] - reference.offsets[r0];
        numbering_.reset(static_cast<size_t>(n + m));
        in_candidate_.assign(n + m + 1, 0);
        in_reference_.assign(n + m + 1, 0);
        for (int64_t i = 0; i < n; ++i) ++in_candidate_[number(c[i])];
        const int32_t* const r = reference.ids + reference.offsets[r0];
        for (int64_t i = 0; i < m; ++i) ++in_reference_[number(r[i])];
        int64_t hits = 0;
        for (int64_t k = r0; k < r1; ++k) hits += sentence(candidate, c0, c1, reference, k, poll);
        return hits;
    }

  private:
    int32_t number(int32_t token) { return numbering_.add(static_cast<uint32_t>(token)); }

    template <class Poll>
    int64_t sentence(const Ragged& candidate, int64_t c0, int64_t c1, const Ragged& reference,
                     int64_t k, Poll& poll) {
        const int32_t* const r = reference.begin(k);
        const int64_t m = reference.length(k);
        marked_.assign(m, 0);
        lcs_.index(r, m);
        for (int64_t s = c0; s < c1; ++s)
            lcs_.positions(candidate.begin(s), candidate.length(s), r, m, marked_, poll);
        int64_t hits = 0;
        for (int64_t i = 0; i < m; ++i) {
            if (!marked_[i]) continue;
            const int32_t t = number(r[i]);
            if (in_candidate_[t] > 0 && in_reference_[t] > 0) {
                ++hits;
                --in_candidate_[t];
                --in_reference_[t];
            }
        }
        return hits;
    }

    Lcs lcs_;
    Numbering numbering_;
    std::vector<int64_t> in_candidate_, in_reference_;
    std::vector<char> marked_;
};

}  // namespace karat
