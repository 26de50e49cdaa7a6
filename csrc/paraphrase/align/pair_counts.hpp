// The counts of word pairs: the counts that an iteration reads, next to the new counts that threads
// add to. Both counts of a pair are used close together in time, so they are stored side by side.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace karat::paraphrase {

class PairCounts {
  public:
    explicit PairCounts(size_t size) : size_(size), counts_(new Count[size]) {}
    PairCounts(const int64_t* current, size_t size) : PairCounts(size) {
        for (size_t k = 0; k < size; ++k) counts_[k].current = current[k];
    }

    size_t size() const { return size_; }
    size_t bytes() const { return sizeof(Count) * size_; }
    int64_t operator[](size_t pair) const { return counts_[pair].current; }
    int64_t fixed_point(size_t pair) const {
        return counts_[pair].next.load(std::memory_order_relaxed);
    }
    void add(size_t pair, int64_t count) {
        if (count) counts_[pair].next.fetch_add(count, std::memory_order_relaxed);
    }
    // Prefetches the counts of a pair.
    void prefetch(size_t pair) const {
#if defined(__GNUC__) || defined(__clang__)
        __builtin_prefetch(&counts_[pair]);
#else
        (void)pair;
#endif
    }
    // Makes the new counts the ones that are read.
    void update() {
        for (size_t k = 0; k < size_; ++k) {
            counts_[k].current = fixed_point(k);
            counts_[k].next.store(0, std::memory_order_relaxed);
        }
    }

  private:
    struct Count {
        int64_t current = 0;
        std::atomic<int64_t> next{0};
    };
    const size_t size_;
    std::unique_ptr<Count[]> counts_;
};

}  // namespace karat::paraphrase
