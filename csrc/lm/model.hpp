// N-gram language models for queries: flat arrays that may be mapped from a file.
//
// The n-grams form a reversed trie: the children of `c` are the words that precede it, `b c`, then
// `a b c`. So one walk from a word into its history visits all n-grams that can predict it, and
// their back-offs are the ones that the next word needs. Each order has a hash table; a key
// consists of the slot of the n-gram without its first word, and that word. Keys are exact for
// every order.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/mapped_files.hpp"

namespace karat::lm {

constexpr int MAX_ORDER = 8;
constexpr int32_t UNK = 0, BOS = 1, EOS = 2;  // the first words of every model
constexpr uint64_t EMPTY = ~0ull;
constexpr uint64_t MOST_NGRAMS = 2'863'311'529;  // per length: slots have 32-bit numbers
constexpr const char* TOO_MANY_NGRAMS = "more than 2,863,311,529 n-grams of a length";
constexpr uint32_t NO_CONTEXT = 0x80000000u;  // -0.0: back-off of an n-gram that is no context

struct State {
    int32_t words[MAX_ORDER - 1];   // most recent word first
    float backoffs[MAX_ORDER - 1];  // of the last word, of the last two, …
    int32_t length;

    bool operator==(const State& other) const {
        return length == other.length &&
               !std::memcmp(words, other.words, sizeof(int32_t) * static_cast<size_t>(length));
    }
};

// One slot of a table.
struct Cell {
    uint64_t key;
    float p, backoff;  // log10
};
static_assert(sizeof(Cell) == 16, "cells are stored as they are");

inline uint64_t cell_key(uint32_t parent, int32_t word) {
    return static_cast<uint64_t>(parent) << 32 | static_cast<uint32_t>(word);
}

// The first slot depends on the words alone, not on the slots of shorter n-grams, so that all
// lengths can be prefetched at once. `hash` is the hash of the n-gram without its first word; it is
// 0 for no words.
inline uint64_t cell_hash(uint64_t hash, int32_t first) {
    const uint64_t x = (hash + static_cast<uint32_t>(first) + 1) * 0x9E3779B97F4A7C15ull;
    return (x ^ x >> 32) * 0xD6E8FEB86659FD93ull;
}

// The slot of a hash in a table of `slots` slots (fewer than 2^32).
inline size_t cell_place(uint64_t hash, size_t slots) {
    return static_cast<size_t>((hash >> 32) * static_cast<uint64_t>(slots) >> 32);
}

inline bool is_context(float backoff) {
    uint32_t bits;
    std::memcpy(&bits, &backoff, 4);
    return bits != NO_CONTEXT;
}

// All n-grams of one length.
struct Cells {
    const Cell* cells;
    size_t slots;

    // The slot of a key, or -1. The search also ends in a damaged table without an empty slot.
    int64_t find(uint64_t hash, uint64_t key) const {
        size_t at = cell_place(hash, slots);
        for (size_t tried = 0; tried < slots; ++tried) {
            if (cells[at].key == key) return static_cast<int64_t>(at);
            if (cells[at].key == EMPTY || is_lost(tried)) return -1;
            if (++at == slots) at = 0;
        }
        return -1;
    }
    void prefetch(uint64_t hash) const {
#if defined(__GNUC__) || defined(__clang__)
        __builtin_prefetch(cells + cell_place(hash, slots));
#else
        (void)hash;
#endif
    }
};

class Model {
  public:
    // Throws if the arrays are not a valid model. Whatever they contain, nothing is read out of
    // bounds.
    Model(const float* p, const float* backoff, size_t words, std::vector<Cells> longer)
        : p_(p), backoff_(backoff), size_(static_cast<int32_t>(words)), longer_(std::move(longer)) {
        if (words < 3 || words > INT32_MAX)
            throw std::invalid_argument("a model has at least three words");
        if (order() > MAX_ORDER) throw std::invalid_argument("the order is too high");
        for (const Cells& cells : longer_)
            if (!cells.slots || cells.slots > UINT32_MAX)
                throw std::invalid_argument("a table has a wrong size");
    }

    int order() const { return static_cast<int>(longer_.size()) + 1; }
    int32_t unk() const { return UNK; }
    int32_t eos() const { return EOS; }
    // The id if this model has it, else the unknown word.
    int32_t in_vocabulary(int32_t word) const { return word >= 0 && word < size_ ? word : UNK; }

    // Whether all probabilities and back-offs are finite. Reads the whole model, so call it only
    // where scores are sorted, which NaN would break.
    bool finite() const {
        for (int32_t word = 0; word < size_; ++word)
            if (!std::isfinite(p_[word]) || !std::isfinite(backoff_[word])) return false;
        for (const Cells& cells : longer_)
            for (size_t at = 0; at < cells.slots; ++at) {
                const Cell& cell = cells.cells[at];
                if (cell.key != EMPTY && !(std::isfinite(cell.p) && std::isfinite(cell.backoff)))
                    return false;
            }
        return true;
    }

    // The state before the first word: after <s>.
    State begin() const {
        State state{};
        if (order() > 1) state.words[0] = BOS, state.backoffs[0] = backoff_[BOS], state.length = 1;
        return state;
    }
    // The state without any history.
    State empty() const { return State{}; }

    // log10 Pr(word | in). `out` is the state after the word, shortened to the context that the
    // model can use; `length` is the length of the matched n-gram. `out` may alias `in`.
    float score(const State& in, int32_t word, State& out, int& length) const {
        word = in_vocabulary(word);
        float p = p_[word], backoffs[MAX_ORDER];
        backoffs[0] = backoff_[word];
        uint32_t place = static_cast<uint32_t>(word);
        uint64_t hash = cell_hash(0, word);
        length = 1;
        while (length <= in.length) {
            const Cells& cells = longer_[length - 1];
            const int32_t first = in.words[length - 1];
            hash = cell_hash(hash, first);
            const int64_t at = cells.find(hash, cell_key(place, first));
            if (at < 0) break;
            place = static_cast<uint32_t>(at);
            p = cells.cells[at].p;
            backoffs[length++] = cells.cells[at].backoff;
        }
        for (int i = length - 1; i < in.length; ++i) p += in.backoffs[i];
        advance(in, word, backoffs, length, out);
        return p;
    }
    float score(const State& in, int32_t word, State& out) const {
        int length;
        return score(in, word, out, length);
    }

    // Prefetches the memory for scoring word `i` of a sentence, or its end.
    void prefetch(const int32_t* ids, int64_t length, int64_t i) const {
        uint64_t hash = cell_hash(0, i < length ? in_vocabulary(ids[i]) : EOS);
        for (size_t n = 0; n < longer_.size() && i >= 0; ++n) {
            hash = cell_hash(hash, --i < 0 ? BOS : in_vocabulary(ids[i]));
            longer_[n].prefetch(hash);
        }
    }

  private:
    void advance(const State& in, int32_t word, const float* backoffs, int length,
                 State& out) const {
        int keep = length < order() ? length : order() - 1;
        while (keep && !is_context(backoffs[keep - 1])) --keep;
        for (int i = keep - 1; i > 0; --i) out.words[i] = in.words[i - 1];
        if (keep) out.words[0] = word;
        for (int i = 0; i < keep; ++i) out.backoffs[i] = backoffs[i];
        out.length = keep;
    }

    const float *p_, *backoff_;
    int32_t size_;
    std::vector<Cells> longer_;  // of two words, of three, …
};

}  // namespace karat::lm
