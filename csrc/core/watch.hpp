// Interruptible work: the worker reports its progress, and a callback decides at intervals whether
// to continue.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

namespace karat {

class Watch {
  public:
    // `poll` may throw.
    explicit Watch(std::function<void()> poll) : poll_(std::move(poll)) {}

    // A step takes a nanosecond or two.
    void worked(int64_t steps) {
        if ((work_ += steps) < enough) return;
        work_ = 0;
        poll_();
    }

  private:
    static constexpr int64_t enough = 1 << 24;
    std::function<void()> poll_;
    int64_t work_ = 0;
};

}  // namespace karat
