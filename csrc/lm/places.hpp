// Assigns each n-gram of a table to a slot. N-grams arrive sorted by hash (then by key), and each
// takes the first free slot at or after the slot of its hash. So a table depends on the n-grams
// alone, and is written sequentially. N-grams that overflow the end go to the first free slots of
// the table.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lm/model.hpp"

namespace karat::lm {

// The number of slots for `ngrams` n-grams: one and a half times as many. Slot numbers have 32
// bits.
inline size_t table_slots(uint64_t ngrams) {
    if (ngrams > MOST_NGRAMS) throw std::length_error(TOO_MANY_NGRAMS);
    return static_cast<size_t>(ngrams + ngrams / 2 + 1);
}
static_assert(MOST_NGRAMS + MOST_NGRAMS / 2 + 1 == UINT32_MAX - 1, "one more and it is too many");

inline Cell empty_cell() {
    Cell cell;
    std::memset(static_cast<void*>(&cell), 0xFF, sizeof cell);
    return cell;
}

// An n-gram to be placed. `number` is the caller's identifier for it.
struct Hashed {
    uint64_t hash, cell;
    float log, backoff;
    uint32_t number;
    uint64_t key() const { return hash; }
    bool operator<(const Hashed& other) const {
        return hash != other.hash ? hash < other.hash : cell < other.cell;
    }
};

class Places {
  public:
    explicit Places(uint64_t ngrams) : slots_(table_slots(ngrams)) {}

    size_t slots() const { return slots_; }

    size_t take(uint64_t hash) {
        const size_t home = cell_place(hash, slots_);
        for (; next_ < home; ++next_)
            if (free_.size() < most_free) free_.push_back(static_cast<uint32_t>(next_));
        if (next_ < slots_) return next_++;
        if (wrapped_ == free_.size())
            throw std::runtime_error("too many n-grams of one hash for a table");
        return free_[wrapped_++];
    }

  private:
    // Far more than needed, except for adversarial text.
    static constexpr size_t most_free = 1 << 20;

    size_t slots_, next_ = 0, wrapped_ = 0;
    std::vector<uint32_t> free_;
};

}  // namespace karat::lm
