// Maps words to ids and back. Stored and used in the same form: three flat arrays, which may be
// mapped from a file. `slots` is an open-addressing hash table whose size is a power of two; -1
// marks an empty slot.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "core/mapped_files.hpp"
#include "text/utf8.hpp"
#include "text/vocab.hpp"

namespace karat {

class WordTable {
  public:
    // Throws if the arrays are not a valid table: a foreign or damaged file must not cause reads
    // out of bounds.
    WordTable(const uint8_t* bytes, size_t n_bytes, const int64_t* offsets, size_t n_offsets,
              const int32_t* slots, size_t n_slots)
        : bytes_(reinterpret_cast<const char*>(bytes)), offsets_(offsets),
          size_(static_cast<int32_t>(n_offsets) - 1), slots_(slots), mask_(n_slots - 1) {
        if (!n_offsets || offsets[0] != 0 || offsets[size_] != static_cast<int64_t>(n_bytes))
            throw std::invalid_argument("the offsets of the words do not fit their bytes");
        for (int32_t i = 0; i < size_; ++i)
            if (offsets[i] > offsets[i + 1])
                throw std::invalid_argument("the offsets of the words are not in order");
        for (int32_t i = 0; i < size_; ++i) {
            const char* const end = bytes_ + offsets[i + 1];
            if (find_invalid(bytes_ + offsets[i], end, true) != end)
                throw std::invalid_argument("a word is not UTF-8");
        }
        if (n_slots < 2 || (n_slots & mask_) || n_slots < static_cast<size_t>(size_) + 1)
            throw std::invalid_argument("the table of the words has a wrong size");
        int32_t used = 0;
        for (size_t i = 0; i < n_slots; ++i) {
            if (slots[i] < -1 || slots[i] >= size_)
                throw std::invalid_argument("the table of the words points outside of it");
            used += slots[i] >= 0;
        }
        if (used != size_) throw std::invalid_argument("the table of the words is incomplete");
    }

    int32_t size() const { return size_; }

    std::string_view word(int32_t id) const {
        return {bytes_ + offsets_[id], static_cast<size_t>(offsets_[id + 1] - offsets_[id])};
    }

    // The id of a word, or -1. The search also stops if a truncated file has lost its empty slots.
    int32_t find(std::string_view w) const {
        size_t at = Vocab::key(w.data(), w.size()).hash & mask_;
        for (size_t tried = 0; tried <= mask_; ++tried, at = (at + 1) & mask_) {
            const int32_t id = slots_[at];
            if (id < 0 || word(id) == w) return id;
            if (is_lost(tried)) return -1;
        }
        return -1;
    }

    // The table of distinct words, with at least twice as many slots as words.
    static std::vector<int32_t> build(const char* bytes, const int64_t* offsets, int32_t n) {
        size_t size = 16;
        while (size < 2 * static_cast<size_t>(n)) size *= 2;
        std::vector<int32_t> slots(size, -1);
        for (int32_t id = 0; id < n; ++id) {
            const auto length = static_cast<size_t>(offsets[id + 1] - offsets[id]);
            size_t at = Vocab::key(bytes + offsets[id], length).hash & (size - 1);
            while (slots[at] >= 0) at = (at + 1) & (size - 1);
            slots[at] = id;
        }
        return slots;
    }

  private:
    const char* bytes_;
    const int64_t* offsets_;
    int32_t size_;
    const int32_t* slots_;
    size_t mask_;
};

}  // namespace karat
