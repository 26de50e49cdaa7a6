// Phrases of one language with their counts and their translations into another, in flat arrays,
// stored and used in the same form, which may be mapped from a file. `slots` is an open-addressing
// hash table over the phrases whose size is a power of two; -1 marks an empty slot.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/mapped_files.hpp"
#include "core/ragged.hpp"
#include "core/watch.hpp"

namespace karat::paraphrase {

// Phrases as ragged ids of words; every one has at least one word.
struct Phrases {
    Ragged rows;
    int64_t size;

    const int32_t* begin(int64_t i) const { return rows.begin(i); }
    int64_t length(int64_t i) const { return rows.length(i); }

    // Throws if the arrays are not valid phrases over `words` words; returns the length of the
    // longest phrase.
    int64_t check(size_t n_ids, int64_t words, Watch& watch) const {
        int64_t longest = 0;
        if (size < 0 || rows.offsets[0] != 0 || rows.offsets[size] != static_cast<int64_t>(n_ids))
            throw std::invalid_argument("the offsets of the phrases do not fit their words");
        for (int64_t i = 0; i < size; ++i) {
            if (rows.offsets[i] >= rows.offsets[i + 1])
                throw std::invalid_argument("a phrase has no words");
            longest = std::max(longest, length(i));
            watch.worked(1);
        }
        for (size_t k = 0; k < n_ids; ++k) {
            if (rows.ids[k] < 0 || rows.ids[k] >= words)
                throw std::invalid_argument("a phrase has a word that is not in the table");
            watch.worked(1);
        }
        return longest;
    }
};

// The hash of a phrase, extended word by word.
struct PhraseHash {
    uint64_t state = 0x51ED270B0903AC43ull;
    void add(int32_t word) {
        state = (state ^ static_cast<uint32_t>(word)) * 0x9E3779B97F4A7C15ull;
        state ^= state >> 29;
    }
    size_t place(size_t mask) const { return static_cast<size_t>(state ^ state >> 32) & mask; }
};

// The hash table of distinct phrases, which are added in pieces; it has at least twice as many
// slots as phrases.
class PhraseSlots {
  public:
    explicit PhraseSlots(size_t phrases) : phrases_(phrases) {
        size_t size = 16;
        while (size < 2 * phrases) size *= 2;
        slots_.assign(size, -1);
    }
    void add(const Phrases& phrases) {
        if (held_ + phrases.size > phrases_) throw std::invalid_argument("too many phrases");
        const size_t mask = slots_.size() - 1;
        for (int64_t i = 0; i < phrases.size; ++i) {
            PhraseHash hash;
            for (int64_t k = 0; k < phrases.length(i); ++k) hash.add(phrases.begin(i)[k]);
            size_t at = hash.place(mask);
            while (slots_[at] >= 0) at = (at + 1) & mask;
            slots_[at] = static_cast<int32_t>(held_++);
        }
    }
    std::vector<int32_t> take() { return std::move(slots_); }

  private:
    const size_t phrases_;
    size_t held_ = 0;
    std::vector<int32_t> slots_;
};

class PhraseTable {
  public:
    struct Edges {
        const int64_t* offsets;     // start of each phrase's translations
        const int32_t* pivots;      // which pivot phrase
        const double* probability;  // Pr(f|e), in descending order
        size_t size;
    };

    // Throws if the arrays are not a valid table: a foreign or damaged file must not cause reads
    // out of bounds. The arrays of phrases have `phrases.size` counts and one more offset.
    PhraseTable(Phrases phrases, size_t n_words, int64_t words, const double* counts, Edges edges,
                Phrases pivots, size_t n_pivot_words, int64_t pivot_words, const int32_t* slots,
                size_t n_slots, Watch& watch)
        : phrases_(phrases), pivots_(pivots), counts_(counts), edges_(edges), slots_(slots),
          mask_(n_slots - 1) {
        longest_ = phrases.check(n_words, words, watch);
        pivots.check(n_pivot_words, pivot_words, watch);
        check_counts(watch);
        check_edges(watch);
        check_slots(n_slots, watch);
    }

    int64_t size() const { return phrases_.size; }
    int64_t longest() const { return longest_; }
    // N(p), and its sum over all phrases.
    double count(int64_t phrase) const { return counts_[phrase]; }
    double total() const { return total_; }

    const Phrases& pivots() const { return pivots_; }
    int64_t first_edge(int64_t phrase) const { return edges_.offsets[phrase]; }
    int64_t last_edge(int64_t phrase) const { return edges_.offsets[phrase + 1]; }
    int32_t pivot(int64_t edge) const { return edges_.pivots[edge]; }
    double probability(int64_t edge) const { return edges_.probability[edge]; }

    // The number of a phrase of `length` words, or -1; `hash` is the hash of its words. The search
    // also stops if a truncated file has lost its empty slots.
    int32_t find(const int32_t* words, int64_t length, const PhraseHash& hash) const {
        size_t at = hash.place(mask_);
        for (size_t tried = 0; tried <= mask_; ++tried, at = (at + 1) & mask_) {
            const int32_t phrase = slots_[at];
            if (phrase < 0 || is_phrase(phrase, words, length)) return phrase;
            if (is_lost(tried)) return -1;
        }
        return -1;
    }
    int32_t find(const int32_t* words, int64_t length) const {
        PhraseHash hash;
        for (int64_t i = 0; i < length; ++i) hash.add(words[i]);
        return find(words, length, hash);
    }

  private:
    bool is_phrase(int32_t phrase, const int32_t* words, int64_t length) const {
        return phrases_.length(phrase) == length &&
               std::equal(words, words + length, phrases_.begin(phrase));
    }

    void check_counts(Watch& watch) {
        for (int64_t i = 0; i < phrases_.size; ++i) {
            if (!(counts_[i] > 0) || !std::isfinite(counts_[i]))
                throw std::invalid_argument("a phrase has no count");
            total_ += counts_[i];
            watch.worked(1);
        }
    }

    void check_edges(Watch& watch) const {
        const int64_t n = phrases_.size;
        if (edges_.offsets[0] != 0 || edges_.offsets[n] != static_cast<int64_t>(edges_.size))
            throw std::invalid_argument("the offsets of the translations do not fit them");
        for (int64_t i = 0; i < n; ++i) {
            if (edges_.offsets[i] >= edges_.offsets[i + 1])
                throw std::invalid_argument("a phrase has no translation");
            double last = 1;
            for (int64_t k = first_edge(i); k < last_edge(i); ++k) {
                if (edges_.pivots[k] < 0 || edges_.pivots[k] >= pivots_.size)
                    throw std::invalid_argument("a translation points outside of the table");
                if (!(edges_.probability[k] > 0 && edges_.probability[k] <= last))
                    throw std::invalid_argument("probabilities are not in falling order");
                last = edges_.probability[k];
            }
            watch.worked(1 + last_edge(i) - first_edge(i));
        }
    }

    void check_slots(size_t n_slots, Watch& watch) const {
        if (n_slots < 2 || (n_slots & mask_) || n_slots < static_cast<size_t>(phrases_.size) + 1)
            throw std::invalid_argument("the index of the phrases has a wrong size");
        int64_t used = 0;
        for (size_t i = 0; i < n_slots; ++i) {
            if (slots_[i] < -1 || slots_[i] >= phrases_.size)
                throw std::invalid_argument("the index of the phrases points outside of it");
            used += slots_[i] >= 0;
            watch.worked(1);
        }
        if (used != phrases_.size)
            throw std::invalid_argument("the index of the phrases is incomplete");
    }

    Phrases phrases_, pivots_;
    const double* counts_;
    Edges edges_;
    const int32_t* slots_;
    size_t mask_;
    double total_ = 0;
    int64_t longest_ = 0;
};

}  // namespace karat::paraphrase
