// Probabilities with interpolated back-off, from counts in one flat table that may be mapped.
//
// A context c interpolates with a more general one, p', in proportion to its own uncertainty:
//   p(x | c) = (n(c, x) + s p'(x)) / (n(c) + s)
// with s = k t(c) for t distinct outcomes (Witten and Bell 1991), or a constant for binary
// outcomes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace karat::fergus {

inline uint64_t mixed(uint64_t h) {
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9ULL;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebULL;
    return h ^ (h >> 31);
}

inline uint64_t joined(uint64_t h, int64_t part) {
    return mixed(h * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(part) + 1);
}

// The key of a context: its level and its parts.
template <class... Parts>
uint64_t context(int level, Parts... parts) {
    uint64_t h = mixed(static_cast<uint64_t>(level) + 0x51ed27ULL);
    ((h = joined(h, static_cast<int64_t>(parts))), ...);
    return h;
}

// An open-addressing hash table; 0 marks an empty slot. The number of outcomes is not stored for
// contexts with one outcome. The upper half of a key determines its slot, so only the lower half is
// stored.
class Counts {
  public:
    Counts(const uint32_t* keys, const int32_t* values, size_t size)
        : keys_(keys), values_(values), size_(size) {
        if (size <= room || size > UINT32_MAX)
            throw std::invalid_argument("the counts have a wrong size");
    }

    // A damaged count is treated as no count.
    int32_t find(uint64_t key) const {
        const auto short_key = static_cast<uint32_t>(key);
        for (size_t at = place(key, size_); at < size_; ++at) {
            if (keys_[at] == short_key) return std::max(values_[at], 0);
            if (!keys_[at]) return 0;
        }
        return 0;
    }

    // The first slot to look at; slots at the end are reserved for collisions.
    static size_t place(uint64_t key, size_t size) {
        return static_cast<size_t>((key >> 32) * static_cast<uint64_t>(size - room) >> 32);
    }
    static constexpr size_t room = 64;

    static uint64_t event(uint64_t c, int64_t outcome) { return joined(c, outcome) | 1; }
    static uint64_t total(uint64_t c) { return mixed(c ^ 0xa5a5a5a5a5a5a5a5ULL) | 1; }
    static uint64_t types(uint64_t c) { return mixed(c ^ 0x3c3c3c3c3c3c3c3cULL) | 1; }

    // One level of interpolation; the number of outcomes sets the strength of the lower level.
    double witten_bell(double lower, uint64_t c, int64_t outcome, double k) const {
        const int32_t n = find(total(c));
        if (!n) return lower;
        const double strength = k * std::max(find(types(c)), 1);
        return (find(event(c, outcome)) + strength * lower) / (n + strength);
    }

    // One level of interpolation for a binary outcome; `yes` is outcome 1.
    double choice(double lower, uint64_t c, double strength) const {
        const int32_t n = find(total(c));
        if (!n) return lower;
        return (std::min(find(event(c, 1)), n) + strength * lower) / (n + strength);
    }

  private:
    const uint32_t* keys_;
    const int32_t* values_;
    size_t size_;
};

// Events are added one by one; the table stores their counts in each context, the totals of
// contexts and their numbers of outcomes.
class Counting {
  public:
    void note(uint64_t c, int64_t outcome) { noted_.emplace_back(c, outcome); }
    // For binary outcomes, only the positive count and the total are stored.
    void note_choice(uint64_t c, bool yes) { noted_.emplace_back(c, yes ? 1 : no); }

    void finish(std::vector<uint32_t>& keys, std::vector<int32_t>& values) {
        std::sort(noted_.begin(), noted_.end());
        std::vector<std::pair<uint64_t, int32_t>> entries;
        for (size_t at = 0; at < noted_.size();) at = context_at(at, entries);
        lay_out(entries, keys, values);
        noted_.clear();
    }

  private:
    static constexpr int64_t no = INT64_MIN;

    size_t context_at(size_t at, std::vector<std::pair<uint64_t, int32_t>>& entries) const {
        const uint64_t c = noted_[at].first;
        const size_t begin = at;
        int32_t types = 0;
        while (at < noted_.size() && noted_[at].first == c) {
            const size_t first = at;
            const int64_t outcome = noted_[first].second;
            while (at < noted_.size() && noted_[at] == noted_[first]) ++at;
            if (outcome == no) continue;
            entries.emplace_back(Counts::event(c, outcome), static_cast<int32_t>(at - first));
            ++types;
        }
        entries.emplace_back(Counts::total(c), static_cast<int32_t>(at - begin));
        if (types > 1) entries.emplace_back(Counts::types(c), types);
        return at;
    }

    static void lay_out(std::vector<std::pair<uint64_t, int32_t>>& entries,
                        std::vector<uint32_t>& keys, std::vector<int32_t>& values) {
        std::sort(entries.begin(), entries.end());
        size_t size = entries.size() + entries.size() / 3 + Counts::room + 1;
        while (!fits(entries, size, keys, values)) size += Counts::room;
    }

    // In slot order, each in the first free slot: a search never has to wrap around.
    static bool fits(const std::vector<std::pair<uint64_t, int32_t>>& entries, size_t size,
                     std::vector<uint32_t>& keys, std::vector<int32_t>& values) {
        keys.assign(size, 0);
        values.assign(size, 0);
        size_t next = 0;
        for (const auto& [key, value] : entries) {
            next = std::max(next, Counts::place(key, size));
            if (next >= size) return false;
            keys[next] = static_cast<uint32_t>(key);  // never 0: the last bit is set
            values[next++] = value;
        }
        return true;
    }

    std::vector<std::pair<uint64_t, int64_t>> noted_;
};

}  // namespace karat::fergus
