// Small numbers for large keys, valid while one segment is processed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace karat {

// 64-bit keys to 1, 2, 3, … in order of first occurrence; cleared in constant time.
class Numbering {
  public:
    // Clears the table and reserves space for the expected number of keys, up to a limit.
    void reset(size_t expected) {
        resize(4 * std::min<size_t>(expected, 1 << 14));
        if (++epoch_ == 0) {  // the stamps have wrapped around
            std::fill(slots_.begin(), slots_.end(), Slot{});
            epoch_ = 1;
        }
        count_ = 0;
    }
    int32_t count() const { return count_; }

    int32_t add(uint64_t key) {
        for (size_t at = place(key);; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.epoch != epoch_) {
                slot = {key, epoch_, ++count_};
                if (static_cast<size_t>(count_) * 2 > mask_) grow();
                return count_;
            }
            if (slot.key == key) return slot.number;
        }
    }
    // The number of a key, or 0 if it is unknown.
    int32_t find(uint64_t key) const {
        size_t at = place(key);
        while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask_;
        return slots_[at].epoch == epoch_ ? slots_[at].number : 0;
    }

  private:
    struct Slot {
        uint64_t key = 0;
        uint32_t epoch = 0;
        int32_t number = 0;
    };
    size_t place(uint64_t key) const { return (key * 0x9E3779B97F4A7C15ull) >> shift_; }

    void resize(size_t room) {
        size_t capacity = 16;
        shift_ = 60;
        while (capacity < room) capacity *= 2, --shift_;
        if (capacity > slots_.size()) {
            slots_.assign(capacity, Slot{});
            epoch_ = 0;
        }
        mask_ = capacity - 1;
    }
    void grow() {
        std::vector<Slot> old;
        old.swap(slots_);
        const uint32_t stamp = epoch_;
        resize(2 * (mask_ + 1));
        epoch_ = 1;
        for (const Slot& slot : old) {
            if (slot.epoch != stamp) continue;
            size_t at = place(slot.key);
            while (slots_[at].epoch == epoch_) at = (at + 1) & mask_;
            slots_[at] = {slot.key, epoch_, slot.number};
        }
    }

    std::vector<Slot> slots_;
    uint32_t epoch_ = 0;
    int shift_ = 60;
    size_t mask_ = 15;
    int32_t count_ = 0;
};

}  // namespace karat
