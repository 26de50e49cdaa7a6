// The bitext grid of GTM (Melamed, Green and Turian 2003): words of the candidate against words of
// the references, which stand one after the other with a barrier after each.
//
// A hit is a cell whose two words are equal; a run is a diagonal of hits. Hits are never stored: a
// row's hits are the columns of its word.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ngrams.hpp"

namespace karat::gtm {

struct Run {
    int32_t row, column, length;
};

// The order of the original tool: longer first, then the larger row * W + column of the start.
inline bool after(const Run& a, const Run& b) {
    if (a.length != b.length) return a.length < b.length;
    return a.row != b.row ? a.row < b.row : a.column < b.column;
}

class Grid {
  public:
    void set(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
             int64_t last) {
        numbering_.reset(static_cast<size_t>(length));
        row_word_.resize(length);
        for (int64_t i = 0; i < length; ++i)
            row_word_[i] = numbering_.add(static_cast<uint32_t>(candidate[i]));
        const int64_t tokens = references.offsets[last] - references.offsets[first];
        column_word_.resize(tokens + last - first);
        int32_t* column = column_word_.data();
        for (int64_t k = first; k < last; ++k) {
            const int32_t* const reference = references.begin(k);
            for (int64_t j = 0; j < references.length(k); ++j)
                *column++ = numbering_.find(static_cast<uint32_t>(reference[j]));
            *column++ = 0;  // the barrier
        }
        index();
        mean_length = static_cast<double>(tokens) /
                      static_cast<double>(std::max<int64_t>(last - first, 1));
    }

    int32_t rows() const { return static_cast<int32_t>(row_word_.size()); }
    int32_t columns() const { return static_cast<int32_t>(column_word_.size()); }
    int32_t words() const { return numbering_.count(); }
    // Words are numbered from 1; 0 is a column without hits: a barrier or another word.
    int32_t row_word(int32_t i) const { return row_word_[i]; }
    int32_t column_word(int32_t j) const { return column_word_[j]; }
    const std::vector<int32_t>& row_words() const { return row_word_; }
    const std::vector<int32_t>& column_words() const { return column_word_; }

    // The columns of a word, in ascending order.
    const int32_t* begin(int32_t word) const { return places_.data() + starts_[word]; }
    const int32_t* end(int32_t word) const { return places_.data() + starts_[word + 1]; }
    int32_t in_candidate(int32_t word) const { return in_candidate_[word]; }
    int32_t in_references(int32_t word) const { return starts_[word + 1] - starts_[word]; }

    bool hit(int32_t i, int32_t j) const { return row_word_[i] == column_word_[j]; }
    bool starts_run(int32_t i, int32_t j) const { return !i || !j || !hit(i - 1, j - 1); }
    // The length of the run from a hit on.
    int32_t run_from(int32_t i, int32_t j) const {
        int32_t length = 1;
        while (i + length < rows() && j + length < columns() && hit(i + length, j + length))
            ++length;
        return length;
    }

    double hits() const {
        double total = 0;
        for (int32_t w = 1; w <= words(); ++w)
            total += static_cast<double>(in_candidate_[w]) * in_references(w);
        return total;
    }
    // The number of hits of a maximum matching.
    int64_t most_matches() const {
        int64_t total = 0;
        for (int32_t w = 1; w <= words(); ++w)
            total += std::min(in_candidate_[w], in_references(w));
        return total;
    }

    double mean_length = 0;  // of the references, barriers not counted
    // How many hits may count: min(|C|, mean |R|), which may be fractional.
    double cap() const { return std::min(static_cast<double>(rows()), mean_length); }

  private:
    void index() {
        in_candidate_.assign(words() + 1, 0);
        for (const int32_t word : row_word_) ++in_candidate_[word];
        starts_.assign(words() + 2, 0);
        for (const int32_t word : column_word_)
            if (word) ++starts_[word + 1];
        for (int32_t w = 1; w <= words(); ++w) starts_[w + 1] += starts_[w];
        places_.resize(starts_.back());
        next_.assign(starts_.begin(), starts_.end());
        for (int32_t j = 0; j < columns(); ++j)
            if (column_word_[j]) places_[next_[column_word_[j]]++] = j;
    }

    Numbering numbering_;
    std::vector<int32_t> row_word_, column_word_, in_candidate_, starts_, places_, next_;
};

// length^e and its inverse. Whole exponents are products, so that they are the same on every
// machine; other exponents are as good as the machine's pow.
class Power {
  public:
    explicit Power(double e) : e_(e), whole_(e == std::floor(e) && e <= 16) {}

    double operator()(double length) const {
        if (!whole_) return std::pow(length, e_);
        double product = length;
        for (int k = 1; k < static_cast<int>(e_); ++k) product *= length;
        return product;
    }
    double root(double sum) const {
        if (e_ == 1) return sum;
        return e_ == 2 ? std::sqrt(sum) : std::pow(sum, 1 / e_);
    }
    bool whole() const { return whole_; }
    double exponent() const { return e_; }

  private:
    double e_;
    bool whole_;
};

// The sum of length^e over runs, of which no more than `cap` hits count: the longest runs are kept,
// the last one as much of it as is left, which is the best choice because length^e is convex.
// `runs` are sorted; the part of each that counts goes to `kept`.
inline double weigh(std::vector<Run>& runs, double cap, const Power& power,
                    std::vector<double>* kept = nullptr) {
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return after(b, a); });
    double left = cap, sum = 0;
    for (const Run& run : runs) {
        const double length = std::min(static_cast<double>(run.length), std::max(left, 0.0));
        if (kept) kept->push_back(length);
        if (length > 0) sum += power(length);
        left -= length;
    }
    return sum;
}

// A matching: for every row its column, or -1; `runs` are its maximal diagonals.
struct Matching {
    std::vector<int32_t> column;

    void clear(int32_t rows) { column.assign(rows, -1); }
    void add(const Run& run) {
        for (int32_t k = 0; k < run.length; ++k) column[run.row + k] = run.column + k;
    }
    void runs(std::vector<Run>& out) const {
        out.clear();
        for (int32_t i = 0; i < static_cast<int32_t>(column.size()); ++i) {
            if (column[i] < 0) continue;
            if (i && column[i - 1] >= 0 && column[i - 1] + 1 == column[i])
                ++out.back().length;
            else
                out.push_back({i, column[i], 1});
        }
    }
};

}  // namespace karat::gtm
