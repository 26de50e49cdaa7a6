// Expectations as whole numbers of 2^-32: their sum is the same in any order, so that threads may
// add to one table as they come.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace karat::paraphrase {

class ExactSums {
  public:
    static constexpr double one = 4294967296.0;

    explicit ExactSums(size_t size) : size_(size), sums_(new std::atomic<int64_t>[size]) {
        clear();
    }
    static int64_t whole_of(double value) { return static_cast<int64_t>(value * one + 0.5); }
    void add(size_t at, double value) { add_whole(at, whole_of(value)); }
    void add_whole(size_t at, int64_t whole) {
        if (whole) sums_[at].fetch_add(whole, std::memory_order_relaxed);
    }
    int64_t whole(size_t at) const { return sums_[at].load(std::memory_order_relaxed); }
    void clear() {
        for (size_t i = 0; i < size_; ++i) sums_[i].store(0, std::memory_order_relaxed);
    }

    size_t size() const { return size_; }

  private:
    const size_t size_;
    std::unique_ptr<std::atomic<int64_t>[]> sums_;
};

}  // namespace karat::paraphrase
