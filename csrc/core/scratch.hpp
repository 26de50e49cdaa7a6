// Storage for data that does not fit in memory: unnamed files, and a budget of bytes for sequences
// that stay in memory.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace karat {

// A growing array of plain records, resized without a second copy where the system supports it.
template <class T>
class Records {
    static_assert(std::is_trivially_copyable<T>::value, "moved by realloc");

  public:
    Records() = default;
    ~Records() { std::free(data_); }
    Records(Records&& other) noexcept { swap(other); }
    Records& operator=(Records&& other) noexcept {
        swap(other);
        return *this;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }

    void reserve(size_t many) {
        if (many <= capacity_) return;
        void* memory = std::realloc(static_cast<void*>(data_), many * sizeof(T));
        if (!memory) throw std::bad_alloc();
        data_ = static_cast<T*>(memory);
        capacity_ = many;
    }
    void push(const T& record) {
        if (size_ == capacity_) reserve(capacity_ ? capacity_ + capacity_ / 2 : 256);
        data_[size_++] = record;
    }
    void resize(size_t many) {
        reserve(many);
        size_ = many;
    }
    void clear() { size_ = 0; }
    void free() { Records().swap(*this); }
    void swap(Records& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

  private:
    T* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;
};

class Scratch {
  public:
    // `open` returns a new file at each call; this class closes it. `room` is the memory for
    // sequences, `piece` the number of bytes per read or write.
    Scratch(std::function<int()> open, size_t room, size_t piece)
        : piece(piece), open_(std::move(open)), room_(room) {}
    ~Scratch() { close(); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    int take() {
        check_open();
        files_.reserve(files_.size() + 1);
        files_.push_back(open_());
        return files_.back();
    }
    // Discards the content of the file, except where it is mapped. The file is not truncated for
    // reuse: a mapped table would lose its pages.
    void give(int file) {
        const auto position = std::find(files_.begin(), files_.end(), file);
        if (position == files_.end()) return;  // already closed: the descriptor is no longer ours
        files_.erase(position);
        close_file(file);
    }

    // Closes all files; later reads and writes fail with an error.
    void close() {
        for (const int file : files_) close_file(file);
        files_.clear();
        closed_ = true;
    }
    void check_open() const {
        if (closed_) throw std::system_error(EBADF, std::generic_category());
    }

    // Bytes that a sequence may use in memory; it must return what it was granted.
    bool grant(size_t bytes) {
        if (bytes > room_) return false;
        room_ -= bytes;
        return true;
    }
    void restore(size_t bytes) { room_ += bytes; }

    const size_t piece;

  private:
    static void close_file(int file) {
#ifdef _WIN32
        _close(file);
#else
        ::close(file);
#endif
    }

    std::function<int()> open_;
    size_t room_;
    std::vector<int> files_;  // all open files; there are few
    bool closed_ = false;
};

// A file of a `Scratch`, opened at first use.
class ScratchFile {
  public:
    explicit ScratchFile(Scratch& scratch) : scratch_(&scratch) {}
    ~ScratchFile() { drop(); }
    ScratchFile(ScratchFile&& other) noexcept
        : scratch_(other.scratch_), file_(std::exchange(other.file_, -1)) {}
    ScratchFile& operator=(ScratchFile&& other) noexcept {
        std::swap(scratch_, other.scratch_);
        std::swap(file_, other.file_);
        return *this;
    }

    bool used() const { return file_ >= 0; }
    int number() const {
        scratch_->check_open();
        return file_;
    }
    void drop() {
        if (used()) scratch_->give(std::exchange(file_, -1));
    }

    void write(const void* data, size_t bytes, uint64_t at) {
        scratch_->check_open();
        if (!used()) file_ = scratch_->take();
        const char* from = static_cast<const char*>(data);
        while (bytes) {
            const int64_t done = write_some(from, bytes, at);
            if (done < 0) {
                if (errno == EINTR) continue;
                throw std::system_error(errno, std::generic_category());
            }
            from += done, at += static_cast<uint64_t>(done), bytes -= static_cast<size_t>(done);
        }
    }
    void read(void* data, size_t bytes, uint64_t at) const {
        scratch_->check_open();
        char* to = static_cast<char*>(data);
        while (bytes) {
            const int64_t done = read_some(to, bytes, at);
            if (done <= 0) {
                if (done < 0 && errno == EINTR) continue;
                throw std::system_error(done ? errno : EIO, std::generic_category());
            }
            to += done, at += static_cast<uint64_t>(done), bytes -= static_cast<size_t>(done);
        }
    }

  private:
    static constexpr size_t most = 1 << 30;  // bytes per call
#ifdef _WIN32
    int64_t write_some(const char* from, size_t bytes, uint64_t at) const {
        if (_lseeki64(file_, static_cast<int64_t>(at), 0) < 0) return -1;
        return _write(file_, from, static_cast<unsigned>(bytes < most ? bytes : most));
    }
    int64_t read_some(char* to, size_t bytes, uint64_t at) const {
        if (_lseeki64(file_, static_cast<int64_t>(at), 0) < 0) return -1;
        return _read(file_, to, static_cast<unsigned>(bytes < most ? bytes : most));
    }
#else
    int64_t write_some(const char* from, size_t bytes, uint64_t at) const {
        return pwrite(file_, from, bytes < most ? bytes : most, static_cast<off_t>(at));
    }
    int64_t read_some(char* to, size_t bytes, uint64_t at) const {
        return pread(file_, to, bytes < most ? bytes : most, static_cast<off_t>(at));
    }
#endif

    Scratch* scratch_;
    int file_ = -1;
};

}  // namespace karat
