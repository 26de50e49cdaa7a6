// The bitext grid of GTM (Melamed, Green and Turian 2003): words of the candidate against words of
// the references, which are concatenated with a barrier after each.
//
// A hit is a cell whose two words are equal; a run is a diagonal of hits. Hits are never stored: a
// row's hits are the columns of its word.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/elementary_functions.hpp"
#include "core/ragged.hpp"
#include "core/watch.hpp"

namespace karat::gtm {

struct Run {
    int32_t row, column, length;
};

// The order of the original tool: longer first, then the larger row * W + column of the start.
inline bool after(const Run& a, const Run& b) {
    if (a.length != b.length) return a.length < b.length;
    return a.row != b.row ? a.row < b.row : a.column < b.column;
}

// The mean length of the references, barriers not counted.
inline double mean(int64_t tokens, int64_t references) {
    return static_cast<double>(tokens) / static_cast<double>(std::max<int64_t>(references, 1));
}

// The maximum number of hits that count: min(|C|, mean |R|), which may be fractional, or its
// integer part.
inline double cap(int64_t rows, double mean_length, bool is_integral) {
    const double most = std::min(static_cast<double>(rows), mean_length);
    return is_integral ? std::floor(most) : most;
}

// Maps ids to 1, 2, 3, … in order of first occurrence, with a plain table: ids come from a
// vocabulary.
class WordNumbers {
  public:
    // If the number of ids is known, the table is allocated once, at the first insertion.
    explicit WordNumbers(size_t ids) : ids_(ids) {}
    void reset() {
        if (++epoch_ == 0) {  // the stamps have wrapped around
            std::fill(slots_.begin(), slots_.end(), Slot{});
            epoch_ = 1;
        }
        count_ = 0;
    }
    int32_t count() const { return count_; }
    int32_t add(int32_t id) {
        const auto at = static_cast<size_t>(static_cast<uint32_t>(id));
        if (at >= slots_.size()) slots_.resize(std::max({at + 1, 2 * slots_.size(), ids_}));
        if (slots_[at].epoch != epoch_) slots_[at] = {epoch_, ++count_};
        return slots_[at].number;
    }
    // The number of an id, or 0 if it is unknown.
    int32_t find(int32_t id) const {
        const auto at = static_cast<size_t>(static_cast<uint32_t>(id));
        return at < slots_.size() && slots_[at].epoch == epoch_ ? slots_[at].number : 0;
    }

  private:
    struct Slot {
        uint32_t epoch = 0;
        int32_t number = 0;
    };
    size_t ids_;
    std::vector<Slot> slots_;
    uint32_t epoch_ = 0;
    int32_t count_ = 0;
};

class Grid {
  public:
    // All ids are below `ids`, if it is known.
    explicit Grid(size_t ids = 0) : numbers_(ids) {}

    void set(const int32_t* candidate, int64_t length, const Ragged& references, int64_t first,
             int64_t last) {
        numbers_.reset();
        row_word_.resize(length);
        words_.assign(1, Word{});
        for (int64_t i = 0; i < length; ++i) {
            row_word_[i] = numbers_.add(candidate[i]);
            if (row_word_[i] == static_cast<int32_t>(words_.size())) words_.emplace_back();
            ++words_[row_word_[i]].in_candidate;
        }
        const int64_t tokens = references.offsets[last] - references.offsets[first];
        column_word_.resize(tokens + last - first);
        before_.resize(tokens + last - first);
        hits_ = 0;
        int32_t column = 0;
        for (int64_t k = first; k < last; ++k) {
            const int32_t* const reference = references.begin(k);
            for (int64_t j = 0; j < references.length(k); ++j)
                add_column(column++, numbers_.find(reference[j]));
            column_word_[column++] = 0;  // the barrier
        }
        mean_length = mean(tokens, last - first);
    }

    int32_t rows() const { return static_cast<int32_t>(row_word_.size()); }
    int32_t columns() const { return static_cast<int32_t>(column_word_.size()); }
    int32_t words() const { return numbers_.count(); }
    // Words are numbered from 1; 0 is a column without hits: a barrier, or a word that the
    // candidate lacks.
    int32_t row_word(int32_t i) const { return row_word_[i]; }
    int32_t column_word(int32_t j) const { return column_word_[j]; }
    const std::vector<int32_t>& row_words() const { return row_word_; }
    const std::vector<int32_t>& column_words() const { return column_word_; }

    // The columns of a word, from the last to the first, ending with -1.
    int32_t last(int32_t word) const { return words_[word].last; }
    int32_t before(int32_t column) const { return before_[column]; }
    int32_t in_candidate(int32_t word) const { return words_[word].in_candidate; }
    int32_t in_references(int32_t word) const { return words_[word].in_references; }

    bool hit(int32_t i, int32_t j) const { return row_word_[i] == column_word_[j]; }
    bool starts_run(int32_t i, int32_t j) const { return !i || !j || !hit(i - 1, j - 1); }
    // The length of the run that starts at a hit.
    int32_t run_from(int32_t i, int32_t j) const {
        int32_t length = 1;
        while (i + length < rows() && j + length < columns() && hit(i + length, j + length))
            ++length;
        return length;
    }

    // All maximal runs of two hits or more.
    void maximal_runs(std::vector<Run>& out, Watch& watch) const {
        out.clear();
        for (int32_t i = 0; i + 1 < rows(); ++i) {
            const int32_t next = row_word_[i + 1];
            for (int32_t j = last(row_word_[i]); j >= 0; j = before_[j])
                if (column_word_[j + 1] == next && starts_run(i, j))  // a barrier is last
                    out.push_back({i, j, run_from(i, j)});
            watch.worked(4 * in_references(row_word_[i]));
        }
    }

    int64_t hits() const { return hits_; }
    // The number of hits of a maximum matching.
    int64_t most_matches() const {
        int64_t total = 0;
        for (const Word& word : words_) total += std::min(word.in_candidate, word.in_references);
        return total;
    }

    double mean_length = 0;  // of the references, barriers not counted
    bool whole_cap = false;
    double cap() const { return gtm::cap(rows(), mean_length, whole_cap); }

  private:
    struct Word {
        int32_t in_candidate = 0, in_references = 0, last = -1;
    };

    void add_column(int32_t j, int32_t number) {
        column_word_[j] = number;
        if (!number) return;
        Word& word = words_[number];
        before_[j] = word.last;
        word.last = j;
        ++word.in_references;
        hits_ += word.in_candidate;
    }

    WordNumbers numbers_;
    std::vector<Word> words_;
    std::vector<int32_t> row_word_, column_word_, before_;
    int64_t hits_ = 0;
};

// length^e and its inverse. Integer powers are computed as products.
class Power {
  public:
    explicit Power(double e) : e_(e), is_integral_(e == std::floor(e) && e <= 16) {
        for (int length = 0; length < kTabled; ++length) powers_[length] = (*this)(length);
    }

    double operator()(double length) const {
        if (!is_integral_) return power_of(length, e_);
        double product = length;
        for (int k = 1; k < static_cast<int>(e_); ++k) product *= length;
        return product;
    }
    // length^e for an integer length.
    double of(int32_t length) const { return length < kTabled ? powers_[length] : (*this)(length); }
    // The inverse. A single run that fills the cap gets exactly the cap as its size, despite
    // rounding.
    double root(double sum, double cap) const {
        if (e_ == 1) return sum;
        if (e_ == 2) return std::sqrt(sum);
        return sum == (*this)(cap) ? cap : power_of(sum, 1 / e_);
    }
    bool is_integral() const { return is_integral_; }
    double exponent() const { return e_; }

  private:
    static constexpr int kTabled = 65;
    double e_;
    bool is_integral_;
    double powers_[kTabled];
};

inline void sort_runs(std::vector<Run>& runs) {
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return after(b, a); });
}

// The sum of length^e over sorted runs, limited to `cap` hits: the longest runs are kept and the
// last one is truncated, which is optimal because length^e is convex.
class Weight {
  public:
    Weight(const Power& power, double cap) : power_(power), left_(cap) {}

    void run(const Run& run) { add(run.length); }
    void singles(const Run*, size_t count) {
        for (size_t k = 0; k < count; ++k) add(1);
    }
    double sum() const { return sum_; }

    // Returns the length of the run that counts.
    double add(int32_t length) {
        const auto all = static_cast<double>(length);
        const double counted = std::min(all, std::max(left_, 0.0));
        if (counted == all)
            sum_ += power_.of(length);
        else if (counted > 0)
            sum_ += power_(counted);
        left_ -= counted;
        return counted;
    }

  private:
    const Power& power_;
    double left_, sum_ = 0;
};

// The sum for a list of runs; stores the counted length of each in `counted_lengths`.
inline double weigh(const std::vector<Run>& runs, double cap, const Power& power,
                    std::vector<double>* counted_lengths = nullptr) {
    Weight weight(power, cap);
    for (const Run& run : runs) {
        const double counts = weight.add(run.length);
        if (counted_lengths) counted_lengths->push_back(counts);
    }
    return weight.sum();
}

// Collects the runs of a matching.
struct List {
    std::vector<Run>& runs;
    void run(const Run& run) { runs.push_back(run); }
    void singles(const Run* cells, size_t count) { runs.insert(runs.end(), cells, cells + count); }
};

}  // namespace karat::gtm
