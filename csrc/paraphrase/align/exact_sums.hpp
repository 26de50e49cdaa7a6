// Expectations as whole numbers of 2^-32, or of a larger unit where their sum may be so large that
// 64 bits would not hold it. The sum is the same in any order, so that threads may add to one table
// as they come.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace karat::paraphrase {

class ExactSums {
  public:
    static constexpr double one = 4294967296.0;

    // Whole numbers of 1 / `one_each` are added up.
    explicit ExactSums(size_t size, double one_each = one)
        : size_(size), one_(one_each), sums_(new std::atomic<int64_t>[size]) {
        clear();
    }
    // The largest power of two, at most 2^32, by which a sum of `most` can be multiplied.
    // A fiftieth of 2^63 is left for what rounding may add.
    static double one_of(double most) {
        double found = one;
        while (found * most > 9.0e18) found /= 2;
        return found;
    }
    static int64_t whole_of(double value) { return static_cast<int64_t>(value * one + 0.5); }
    void add(size_t at, double value) {
        add_whole(at, static_cast<int64_t>(value * one_ + 0.5));
    }
    void add_whole(size_t at, int64_t whole) {
        if (whole) sums_[at].fetch_add(whole, std::memory_order_relaxed);
    }
    int64_t whole(size_t at) const { return sums_[at].load(std::memory_order_relaxed); }
    void clear() {
        for (size_t i = 0; i < size_; ++i) sums_[i].store(0, std::memory_order_relaxed);
    }

    size_t size() const { return size_; }
    double one_each() const { return one_; }

  private:
    const size_t size_;
    const double one_;
    std::unique_ptr<std::atomic<int64_t>[]> sums_;
};

}  // namespace karat::paraphrase
