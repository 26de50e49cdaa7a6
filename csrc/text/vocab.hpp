// Maps words to ids, in order of first occurrence, and back. Each id represents exactly one byte
// string: hashes only locate a slot, and bytes are always compared.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace karat {

class Vocab {
  public:
    Vocab() : slots_(1024), mask_(1023), offsets_{0} {}

    int32_t size() const { return static_cast<int32_t>(offsets_.size() - 1); }

    // Memory use in bytes.
    size_t bytes() const {
        return slots_.capacity() * sizeof(Slot) + bytes_.capacity() +
               offsets_.capacity() * sizeof(size_t);
    }

    std::string_view word(int32_t id) const {
        return {bytes_.data() + offsets_[id], offsets_[id + 1] - offsets_[id]};
    }

    // The lookup key of a word; `p` must stay readable until the lookup is done.
    struct Key {
        uint64_t head, tail, hash;
        const char* p;
        size_t length;
    };

    // `limit` is the end of the readable bytes at `p`: if there are sixteen, no branch depends on
    // the length of the word.
    static Key key(const char* p, size_t length, const char* limit) {
        Key k{0, 0, 0, p, length};
        if (length <= 16 && limit - p >= 16) {
            std::memcpy(&k.head, p, 8);
            std::memcpy(&k.tail, p + 8, 8);
            k.head &= low_bytes(length);
            k.tail &= low_bytes(length, 8);
        } else {
            k.head = load_short(p, length < 8 ? length : 8);
            if (length > 8) k.tail = load_short(p + 8, length < 16 ? length - 8 : 8);
        }
        k.hash = hash(k.head, k.tail, p, length);
        return k;
    }
    static Key key(const char* p, size_t length) { return key(p, length, p + length); }

    void prefetch(const Key& key) const {
#if defined(__GNUC__) || defined(__clang__)
        __builtin_prefetch(&slots_[key.hash & mask_]);
#else
        (void)key;
#endif
    }

    // The id of a short word if it is in the first slot of its hash, as most are; else -1.
    int32_t at_once(const Key& key) const {
        const Slot& slot = slots_[key.hash & mask_];
        const bool is_match = slot.head == key.head && slot.tail == key.tail &&
                              slot.length == key.length && key.length <= 16;
        return is_match ? slot.id : -1;
    }

    int32_t intern(const Key& key) {
        for (size_t at = key.hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.id < 0) return insert(at, key);
            if (holds(slot, key)) return slot.id;
        }
    }
    int32_t intern(const char* p, size_t length) { return intern(key(p, length)); }

    // The id of a word, or -1.
    int32_t find(const char* p, size_t length) const {
        const Key k = key(p, length);
        for (size_t at = k.hash & mask_;; at = (at + 1) & mask_) {
            const Slot& slot = slots_[at];
            if (slot.id < 0) return -1;
            if (holds(slot, k)) return slot.id;
        }
    }

    // The ids in this vocabulary of all words of another, in its order; missing words are added.
    std::vector<int32_t> merge(const Vocab& other) {
        std::vector<int32_t> ids;
        for (int32_t id = 0; id < other.size(); ++id) {
            const std::string_view w = other.word(id);
            ids.push_back(intern(w.data(), w.size()));
        }
        return ids;
    }

  private:
    // The first sixteen bytes are stored in the slot: words up to that length are compared there.
    struct Slot {
        uint64_t head = 0, tail = 0;
        uint32_t length = 0;
        int32_t id = -1;
    };

    // A mask of the bytes, among the eight from `from`, that a word of this length (at most 16)
    // has.
    static uint64_t low_bytes(size_t length, size_t from = 0) {
        static constexpr unsigned char mask_bytes[32] = {
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        };
        uint64_t mask;
        std::memcpy(&mask, mask_bytes + 16 - length + from, 8);
        return mask;
    }

    // `p` is read only beyond the first sixteen bytes, which are in `head` and `tail`.
    static uint64_t hash(uint64_t head, uint64_t tail, const char* p, size_t length) {
        uint64_t value = mix(mix(head ^ length * 0xFF51AFD7ED558CCDull) ^ tail);
        for (size_t i = 16; i < length; i += 8)
            value = mix(value ^ load_short(p + i, length - i < 8 ? length - i : 8));
        return value ^ value >> 32;
    }

    // Up to eight bytes as a little-endian number; overlapping loads never read outside the word.
    static uint64_t load_short(const char* p, size_t length) {
        if (length == 8) {
            uint64_t all;
            std::memcpy(&all, p, 8);
            return all;
        }
        if (length >= 4) {
            uint32_t first, last;
            std::memcpy(&first, p, 4);
            std::memcpy(&last, p + length - 4, 4);
            return first | static_cast<uint64_t>(last) << (8 * (length - 4));
        }
        const auto byte = [&](size_t i) {
            return static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
        };
        return length ? byte(0) | byte(length / 2) | byte(length - 1) : 0;
    }

    static uint64_t mix(uint64_t x) {
        x *= 0x9E3779B97F4A7C15ull;
        return x ^ x >> 29;
    }

    bool holds(const Slot& slot, const Key& key) const {
        return slot.head == key.head && slot.tail == key.tail && slot.length == key.length &&
               (key.length <= 16 ||
                !std::memcmp(bytes_.data() + offsets_[slot.id], key.p, key.length));
    }

    int32_t insert(size_t at, const Key& key) {
        const int32_t id = size();
        if (id == INT32_MAX) throw std::length_error("more than 2^31 distinct words");
        slots_[at] = {key.head, key.tail, static_cast<uint32_t>(key.length), id};
        bytes_.insert(bytes_.end(), key.p, key.p + key.length);
        offsets_.push_back(bytes_.size());
        if (offsets_.size() * 2 > slots_.size()) grow();
        return id;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.id < 0) continue;
            const char* const p = bytes_.data() + offsets_[slot.id];
            size_t at = hash(slot.head, slot.tail, p, slot.length) & mask_;
            while (slots_[at].id >= 0) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    size_t mask_;
    std::vector<char> bytes_;
    std::vector<size_t> offsets_;
};

// Interns tokens with a delay of a few tokens, so that their memory accesses overlap.
class Interner {
  public:
    Interner(Vocab& vocab, std::vector<int32_t>& ids) : vocab_(vocab), ids_(ids) {}

    void operator()(const char* p, const char* end, const char* limit) {
        Vocab::Key& key = pending_[count_++];
        key = Vocab::key(p, static_cast<size_t>(end - p), limit);
        vocab_.prefetch(key);
        if (count_ == most) flush();
    }
    // Must be called while the bytes of the last tokens are still readable.
    void flush() {
        const size_t previous_size = ids_.size();
        ids_.resize(previous_size + count_);
        int32_t* const out = ids_.data() + previous_size;
        for (int i = 0; i < count_; ++i) {
            const int32_t id = vocab_.at_once(pending_[i]);
            out[i] = id >= 0 ? id : vocab_.intern(pending_[i]);
        }
        count_ = 0;
    }
    // The number of tokens so far.
    size_t size() const { return ids_.size() + count_; }

  private:
    static constexpr int most = 32;
    Vocab& vocab_;
    std::vector<int32_t>& ids_;
    Vocab::Key pending_[most];
    int count_ = 0;
};

}  // namespace karat
