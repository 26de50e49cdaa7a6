// A growing trie that numbers the n-grams read from a file.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lm/model.hpp"

namespace karat::lm {

constexpr uint32_t NONE = UINT32_MAX;

// The n-grams of one length, in order of first occurrence. Each consists of the number of its
// suffix (the n-gram without its first word) and that word; `context` is the number of the n-gram
// without its last word.
class Level {
  public:
    size_t size() const { return keys_.size(); }
    uint32_t suffix(size_t i) const { return static_cast<uint32_t>(keys_[i] >> 32); }
    int32_t first(size_t i) const { return static_cast<int32_t>(keys_[i] & UINT32_MAX); }
    const std::vector<uint32_t>& contexts() const { return contexts_; }

    uint32_t find(uint32_t suffix, int32_t first) const {
        return slots_.empty() ? NONE : slots_[place(cell_key(suffix, first))];
    }

    // The number of an n-gram; it is new if the number equals the previous size.
    uint32_t add(uint32_t suffix, int32_t first, uint32_t context) {
        if (keys_.size() * 2 >= slots_.size()) grow();
        const uint64_t key = cell_key(suffix, first);
        uint32_t& slot = slots_[place(key)];
        if (slot != NONE) return slot;
        if (keys_.size() >= MOST_NGRAMS) throw std::length_error(TOO_MANY_NGRAMS);
        slot = static_cast<uint32_t>(keys_.size());
        keys_.push_back(key);
        contexts_.push_back(context);
        return slot;
    }

  private:
    size_t place(uint64_t key) const {
        const size_t mask = slots_.size() - 1;
        uint64_t x = key * 0x9E3779B97F4A7C15ull;
        size_t at = static_cast<size_t>(x ^ x >> 32) & mask;
        while (slots_[at] != NONE && keys_[slots_[at]] != key) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        slots_.assign(slots_.empty() ? 1024 : slots_.size() * 2, NONE);
        for (size_t i = 0; i < keys_.size(); ++i)
            slots_[place(keys_[i])] = static_cast<uint32_t>(i);
    }

    std::vector<uint64_t> keys_;
    std::vector<uint32_t> contexts_;
    std::vector<uint32_t> slots_;
};

}  // namespace karat::lm
