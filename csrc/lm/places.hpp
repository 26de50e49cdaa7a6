// The slot of each n-gram of a table. N-grams come in the order of their hashes (of equal ones, of
// their keys), and each takes the first place from the one its hash says that is free. So a table
// depends on the n-grams alone, and is written from its beginning to its end. What is left over at
// the end goes to the first free places of all.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lm/model.hpp"

namespace karat::lm {

// The slots of a table of so many n-grams: half as many again. A place is a number of 32 bits.
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

// An n-gram on its way to its place. `number` is whatever its caller knows it by.
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
    // Far more than are ever needed, unless a text was made for it.
    static constexpr size_t most_free = 1 << 20;

    size_t slots_, next_ = 0, wrapped_ = 0;
    std::vector<uint32_t> free_;
};

}  // namespace karat::lm
