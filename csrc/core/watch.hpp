// Long work that can be stopped: the worker reports how much was done, and a callback decides now
// and then whether to continue.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

namespace karat {

class Watch {
  public:
    // `poll` may throw.
    explicit Watch(std::function<void()> poll) : poll_(std::move(poll)) {}

    // Steps of a nanosecond or two.
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
