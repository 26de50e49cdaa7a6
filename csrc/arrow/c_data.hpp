// The Arrow C data interface: the layouts with which libraries share tables in memory.
#pragma once
#include <cstdint>
#include <utility>

extern "C" {
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace karat::arrow {

// Owns a structure of the interface and releases it in the destructor. The source of a move is left
// empty.
template <class T>
class Owned {
  public:
    Owned() : held_{} {}
    explicit Owned(T& source) : held_(source) { source.release = nullptr; }
    Owned(Owned&& other) noexcept : held_(other.held_) { other.held_.release = nullptr; }
    Owned& operator=(Owned&& other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    ~Owned() {
        if (held_.release) held_.release(&held_);
    }
    T* get() { return &held_; }
    T* operator->() { return &held_; }
    const T& operator*() const { return held_; }

  private:
    T held_;
};

}  // namespace karat::arrow
