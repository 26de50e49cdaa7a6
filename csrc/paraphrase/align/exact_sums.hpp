// Expectations as integer multiples of 2^-32, or of a larger unit if their sum might overflow 64
// bits. The sum does not depend on the order, so threads can add to one table in any order.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace karat::paraphrase {

class ExactSums {
  public:
    static constexpr double unit = 4294967296.0;

    // Sums of integer multiples of 1 / `one_each`.
    explicit ExactSums(size_t size, double one_each = unit)
        : size_(size), unit_(one_each), sums_(new std::atomic<int64_t>[size]) {
        clear();
    }
    // The largest power of two, at most 2^32, by which a sum of `most` can be multiplied. A
    // fiftieth of 2^63 is reserved for rounding.
    static double one_of(double most) {
        double result = unit;
        while (result * most > 9.0e18) result /= 2;
        return result;
    }
    static int64_t to_fixed_point(double value) { return static_cast<int64_t>(value * unit + 0.5); }
    void add(size_t at, double value) {
        add_fixed_point(at, static_cast<int64_t>(value * unit_ + 0.5));
    }
    void add_fixed_point(size_t at, int64_t fixed_point) {
        if (fixed_point) sums_[at].fetch_add(fixed_point, std::memory_order_relaxed);
    }
    int64_t fixed_point(size_t at) const { return sums_[at].load(std::memory_order_relaxed); }
    void clear() {
        for (size_t i = 0; i < size_; ++i) sums_[i].store(0, std::memory_order_relaxed);
    }

    size_t size() const { return size_; }
    double one_each() const { return unit_; }

  private:
    const size_t size_;
    const double unit_;
    std::unique_ptr<std::atomic<int64_t>[]> sums_;
};

}  // namespace karat::paraphrase
