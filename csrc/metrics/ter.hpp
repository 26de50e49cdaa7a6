// Translation edit rate (Snover et al. 2006) as sacreBLEU, after Tercom, computes it.
//
// Blocks of words are shifted in the hypothesis for as long as the best shift lowers its edit
// distance to the reference; every shift is one edit. The limits are part of the definition: the
// size of shifts (at most 10 words over at most 50 positions), the number of shifts tried (1000 in
// total), and the beam: the distance only uses cells within 25 of the pseudo-diagonal j = i m / n.
//
// Most distances come from bit vectors (edit_alignment.hpp). They have no beam; but a best path
// with d edits stays within (|m - n| + d) / 2 of the pseudo-diagonal, so if that is small enough,
// or the beam covers the whole table, both distances are equal. Otherwise the cells in the beam are
// computed one by one.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "core/watch.hpp"
#include "metrics/edit_alignment.hpp"

namespace karat {

namespace ter {

constexpr int64_t most_words = 10, most_places = 50, most_tries = 1000, beam = 25;

// Swaps words [first, middle) with [middle, last).
struct Swap {
    int64_t first, middle, last;

    // Moves the block of `length` words at `start` before the word at `target`; if `target` lies
    // within the block, the block moves right by `target` - `start` positions.
    static Swap shift(int64_t start, int64_t length, int64_t target, int64_t n) {
        if (target < start) return {target, start, start + length};
        const int64_t last = target > start + length ? target : std::min(n, length + target);
        return {start, start + length, last};
    }
    // The start, after the swap, of the block that was at `start`.
    int64_t landing(int64_t start) const { return start == middle ? first : first + last - middle; }
    // The position before the swap of the word that is at i after it.
    int64_t source(int64_t i) const {
        const int64_t second = last - middle;
        return i < first + second ? i + middle - first : i - second;
    }
};

template <class T>
void rotate(std::vector<T>& items, const Swap& swap) {
    const auto begin = items.begin();
    std::rotate(begin + swap.first, begin + swap.middle, begin + swap.last);
}

inline int count_bits(uint64_t x) {
    int count = 0;
    for (; x; x &= x - 1) ++count;
    return count;
}

// Distances without a beam, for references of up to 64 words.
class Bits {
  public:
    using Column = UnitCosts::Column;

    void start(const std::vector<int32_t>& words, const int32_t* reference, int64_t m) {
        n_ = static_cast<int64_t>(words.size());
        rows_ = m == 64 ? ~0ull : (1ull << m) - 1;
        hits_.assign(n_, 0);
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = 0; j < m; ++j)
                hits_[i] |= static_cast<uint64_t>(words[i] == reference[j]) << j;
    }
    void perform(const Swap& swap) {
        rotate(hits_, swap);
    }

    // The distance of the current words; all columns are stored.
    int64_t distance() {
        columns_.resize(n_ + 1);
        steps_.resize(n_);
        columns_[0] = Column{};
        for (int64_t i = 0; i < n_; ++i) {
            UnitCosts::Above above;
            columns_[i + 1] = columns_[i];
            steps_[i] = UnitCosts::advance(hits_[i], columns_[i + 1], above);
        }
        return distance_ = value(columns_[n_]);
    }

    // The distance after a swap; columns before it are reused, and columns after it once they
    // agree.
    int64_t distance(const Swap& swap) const {
        Column column = columns_[swap.first];
        for (int64_t i = swap.first; i < swap.last; ++i) step(hits_[swap.source(i)], column);
        for (int64_t i = swap.last; i < n_; ++i) {
            if (column.plus == columns_[i].plus && column.minus == columns_[i].minus)
                return distance_;
            step(hits_[i], column);
        }
        return value(column);
    }

    Edit last_step(int64_t i, int64_t j) const {
        const BestSteps& best = steps_[i - 1];
        if (best.diagonal >> (j - 1) & 1) return Edit::substitute;
        return best.insertion >> (j - 1) & 1 ? Edit::insert : Edit::remove;
    }

  private:
    static void step(uint64_t hits, Column& column) {
        UnitCosts::Above above;
        UnitCosts::advance(hits, column, above);
    }
    int64_t value(const Column& column) const {
        return n_ + count_bits(column.plus & rows_) - count_bits(column.minus & rows_);
    }

    std::vector<uint64_t> hits_;
    std::vector<Column> columns_;
    std::vector<BestSteps> steps_;
    uint64_t rows_ = 0;
    int64_t n_ = 0, distance_ = 0;
};

// Distances within the beam: row i, for i hypothesis words, has the cells j in [low, high).
class Beam {
  public:
    void start(int64_t n, const int32_t* reference, int64_t m) {
        m_ = m;
        reference_ = reference;
        lines_.assign(1, Line{0, m + 1, 0});
        const double ratio = n ? static_cast<double>(m) / static_cast<double>(n) : 1.0;
        int64_t width = beam;
        if (beam < ratio / 2) width = static_cast<int64_t>(std::ceil(ratio / 2 + beam));
        covers_ = true;
        for (int64_t i = 1; i <= n; ++i) {
            const auto middle = static_cast<int64_t>(std::floor(static_cast<double>(i) * ratio));
            const int64_t low = std::max<int64_t>(0, middle - width);
            const int64_t high = i == n ? m + 1 : std::min(m + 1, middle + width);
            covers_ = covers_ && low == 0 && high == m + 1;
            // Each row has space for a missing cell before it and for all cells that the next row
            // reads.
            const Line& before = lines_.back();
            const int64_t most = std::max(high, before.high);
            lines_.push_back({low, high, before.at + 1 + most - before.low});
        }
        ready_ = false;
    }
    bool covers() const { return covers_; }
    // The maximum number of cells that a distance visits.
    int64_t cells() const { return static_cast<int64_t>(room()); }

    int64_t distance(const std::vector<int32_t>& words) {
        const auto n = static_cast<int64_t>(words.size());
        base_rows_.assign(room(), missing);
        for (int64_t j = 0; j <= m_; ++j) cell(base_rows_, 0, j) = static_cast<int32_t>(j);
        for (int64_t i = 1; i <= n; ++i) fill(base_rows_, base_rows_, i, words[i - 1]);
        ready_ = true;
        return cell(base_rows_, n, m_);
    }

    int64_t distance(const std::vector<int32_t>& words, const Swap& swap) {
        const auto n = static_cast<int64_t>(words.size());
        if (!ready_) distance(words);
        if (swap.first == n) return cell(base_rows_, n, m_);
        tried_.resize(room());
        for (int64_t i = swap.first + 1; i <= n; ++i) {
            const bool moved = i <= swap.last;
            clear(i);
            fill(i == swap.first + 1 ? base_rows_ : tried_, tried_, i,
                 words[moved ? swap.source(i - 1) : i - 1]);
            if (i >= swap.last && is_base_row(i)) return cell(base_rows_, n, m_);
        }
        return cell(tried_, n, m_);
    }
    void forget() { ready_ = false; }

    Edit last_step(int64_t i, int64_t j, bool equal) const {
        const int32_t cost = cell(base_rows_, i, j);
        if (cell(base_rows_, i - 1, j - 1) + !equal == cost) return Edit::substitute;
        return cell(base_rows_, i - 1, j) + 1 == cost ? Edit::insert : Edit::remove;
    }

  private:
    static constexpr int32_t missing = 1 << 30;
    struct Line {
        int64_t low, high, at;  // `at`: index of the missing cell before `low`
    };

    size_t room() const {
        const Line& last = lines_.back();
        return static_cast<size_t>(last.at + 1 + last.high - last.low);
    }
    int32_t& cell(std::vector<int32_t>& rows, int64_t i, int64_t j) const {
        return rows[lines_[i].at + 1 + j - lines_[i].low];
    }
    // A cell that may lie outside the beam.
    int32_t cell(const std::vector<int32_t>& rows, int64_t i, int64_t j) const {
        const Line& line = lines_[i];
        return j < line.low || j >= line.high ? missing : rows[line.at + 1 + j - line.low];
    }
    void clear(int64_t i) {
        const int64_t end = i + 1 < static_cast<int64_t>(lines_.size())
                                ? lines_[i + 1].at
                                : static_cast<int64_t>(tried_.size());
        std::fill(tried_.begin() + lines_[i].at, tried_.begin() + end, missing);
    }
    bool is_base_row(int64_t i) const {
        const Line& line = lines_[i];
        return !std::memcmp(&tried_[line.at], &base_rows_[line.at],
                            sizeof(int32_t) * (line.high - line.low + 1));
    }

    void fill(const std::vector<int32_t>& before, std::vector<int32_t>& rows, int64_t i,
              int32_t word) const {
        const Line &line = lines_[i], &above = lines_[i - 1];
        const int32_t* const up = &before[above.at + 1] - above.low;
        int32_t* const row = &rows[line.at + 1] - line.low;
        int64_t j = line.low;
        if (j == 0) row[j] = up[j] + 1, ++j;
        for (; j < line.high; ++j) {
            const int32_t diagonal = up[j - 1] + (word != reference_[j - 1]);
            const int32_t best = std::min(diagonal, std::min(up[j], row[j - 1]) + 1);
            row[j] = std::min(best, missing);
        }
    }

    std::vector<Line> lines_;
    std::vector<int32_t> base_rows_, tried_;
    const int32_t* reference_ = nullptr;
    int64_t m_ = 0;
    bool covers_ = false, ready_ = false;
};

}  // namespace ter

// A block of `length` words at `start` was taken out and put back before word `target` of the rest.
struct TerShift {
    int64_t start, length, target;
};

class Ter {
  public:
    explicit Ter(Watch& watch) : watch_(watch) {}

    // The number of edits, shifts included.
    int64_t edits(const int32_t* hypothesis, int64_t n, const int32_t* reference, int64_t m) {
        start(hypothesis, n, reference, m);
        if (!m) return n;
        for (;;) {
            const int64_t before = align();
            const Shift best = best_shift(before);
            if (tries_ >= ter::most_tries || best.gain <= 0)
                return static_cast<int64_t>(shifts_.size()) + before;
            const ter::Swap swap = ter::Swap::shift(best.start, best.length, -best.target, n);
            shifts_.push_back({best.start, best.length, swap.landing(best.start)});
            rotate(words_, swap);
            if (short_) bits_.perform(swap);
            beam_.forget();
        }
    }

    // Details of the last call of `edits`: the shifts in order, the words after them, and, by
    // visit(edit, j, i), the final alignment in reverse order: reference word j, hypothesis word i.
    const std::vector<TerShift>& shifts() const { return shifts_; }
    const std::vector<int32_t>& words() const { return words_; }

    template <class Visit>
    void walk_back(const Visit& visit) const {
        for (int64_t i = n_, j = m_; i || j;) {
            const bool equal = i && j && words_[i - 1] == reference_[j - 1];
            Edit edit = !i ? Edit::remove : Edit::insert;
            if (i && j) edit = by_bits_ ? bits_.last_step(i, j) : beam_.last_step(i, j, equal);
            if (edit == Edit::substitute && equal) edit = Edit::keep;
            j -= edit != Edit::insert;
            i -= edit != Edit::remove;
            visit(edit, j, i);
        }
    }

  private:
    struct Shift {
        int64_t gain = 0, length = 0, start = 0, target = 0;  // `target` is negated, so that
        bool exists = false;  // greater is better: gain, length, then the earliest start and target
        bool better_than(const Shift& o) const {
            return !o.exists || std::make_tuple(gain, length, -start, target) >
                                    std::make_tuple(o.gain, o.length, -o.start, o.target);
        }
    };

    void start(const int32_t* hypothesis, int64_t n, const int32_t* reference, int64_t m) {
        words_.assign(hypothesis, hypothesis + n);
        reference_ = reference;
        n_ = n;
        m_ = m;
        tries_ = 0;
        shifts_.clear();
        beam_.start(n, reference, m);
        short_ = m <= 64;
        if (short_) bits_.start(words_, reference, m);
    }

    // Whether a distance without a beam equals the one within it (see the top of this file), with a
    // margin for the rounding of the pseudo-diagonal.
    bool beam_is_idle(int64_t distance) const {
        return beam_.covers() || std::abs(m_ - n_) + distance <= 2 * (ter::beam - 3);
    }

    // The distance and the alignment: `target_[j + 1]` is the position after the hypothesis word
    // that reference word j is aligned with, or follows.
    int64_t align() {
        watch_.worked(beam_.cells() + n_ + m_);
        int64_t distance = short_ ? bits_.distance() : 0;
        by_bits_ = short_ && beam_is_idle(distance);
        if (!by_bits_) distance = beam_.distance(words_);
        target_.assign(m_ + 1, 0);
        hypothesis_errors_.assign(n_ + 1, 0);
        reference_errors_.assign(m_ + 1, 0);
        walk_back([&](Edit edit, int64_t j, int64_t i) {
            const bool in_hypothesis = edit != Edit::remove, in_reference = edit != Edit::insert;
            if (in_hypothesis) hypothesis_errors_[i + 1] = edit != Edit::keep;
            if (in_reference) reference_errors_[j + 1] = edit != Edit::keep;
            if (in_reference) target_[j + 1] = i + in_hypothesis;
        });
        for (int64_t i = 0; i < n_; ++i) hypothesis_errors_[i + 1] += hypothesis_errors_[i];
        for (int64_t j = 0; j < m_; ++j) reference_errors_[j + 1] += reference_errors_[j];
        return distance;
    }

    int64_t distance(const ter::Swap& swap) {
        watch_.worked(beam_.cells());
        if (short_) {
            const int64_t edits = bits_.distance(swap);
            if (beam_is_idle(edits)) return edits;
        }
        return beam_.distance(words_, swap);
    }

    Shift best_shift(int64_t before) {
        Shift best;
        for (int64_t h = 0; h < n_; ++h) {
            watch_.worked(2 * ter::most_places);
            const int64_t from = std::max<int64_t>(0, h - ter::most_places);
            const int64_t to = std::min(m_, h + ter::most_places + 1);
            for (int64_t r = from; r < to; ++r) {
                if (words_[h] != reference_[r]) continue;
                const int64_t longest = std::min({ter::most_words, n_ - h, m_ - r});
                watch_.worked(longest);
                for (int64_t length = 1;; ++length) {
                    if (worth_trying(h, r, length)) try_targets(h, r, length, before, best);
                    if (tries_ >= ter::most_tries) return best;
                    if (length == longest || words_[h + length] != reference_[r + length]) break;
                }
            }
        }
        return best;
    }

    // Both the source and the target of the shift contain an error, and the block would not only
    // move within itself.
    bool worth_trying(int64_t h, int64_t r, int64_t length) const {
        const int64_t aligned = target_[r + 1] - 1;
        return hypothesis_errors_[h + length] > hypothesis_errors_[h] &&
               reference_errors_[r + length] > reference_errors_[r] &&
               !(h <= aligned && aligned < h + length);
    }

    void try_targets(int64_t h, int64_t r, int64_t length, int64_t before, Shift& best) {
        int64_t last = -1;
        for (int64_t j = r; j <= r + length; ++j) {
            const int64_t target = target_[j];
            if (target == last) continue;
            last = target;
            const ter::Swap swap = ter::Swap::shift(h, length, target, n_);
            const Shift shift{before - distance(swap), length, h, -target, true};
            ++tries_;
            if (shift.better_than(best)) best = shift;
        }
    }

    Watch& watch_;
    ter::Bits bits_;
    ter::Beam beam_;
    std::vector<int32_t> words_;
    std::vector<TerShift> shifts_;
    const int32_t* reference_ = nullptr;
    std::vector<int64_t> target_, hypothesis_errors_, reference_errors_;
    int64_t n_ = 0, m_ = 0, tries_ = 0;
    bool short_ = false, by_bits_ = false;
};

}  // namespace karat
