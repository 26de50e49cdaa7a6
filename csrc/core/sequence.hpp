// A sequence that is written once, front to back, and then read any number of times: kept in memory
// while the budget lasts, then in a file.
#pragma once
#include <algorithm>

#include "core/scratch.hpp"

namespace karat {

template <class T>
class Sequence {
  public:
    explicit Sequence(Scratch& scratch) : scratch_(&scratch), file_(scratch) {}
    ~Sequence() { drop(); }
    Sequence(Sequence&& other) noexcept
        : scratch_(other.scratch_),
          file_(std::move(other.file_)),
          held_(std::move(other.held_)),
          written_(std::exchange(other.written_, 0)),
          granted_(std::exchange(other.granted_, 0)) {}

    uint64_t size() const { return written_ + held_.size(); }

    void push(const T& record) {
        if (held_.size() == held_.capacity()) make_room();
        held_.push(record);
    }
    void drop() {
        file_.drop();
        held_.free();
        scratch_->restore(std::exchange(granted_, 0));
        written_ = 0;
    }

    // Reads from any position to the end. The sequence must not change meanwhile.
    class Reader {
      public:
        explicit Reader(const Sequence& from) : from_(&from) {}

        bool next(T& record) {
            if (at_ == end_ && !load()) return false;
            record = data_[at_++];
            return true;
        }

      private:
        bool load() {
            if (begin_ < from_->written_) {
                const uint64_t left = from_->written_ - begin_;
                const size_t most = from_->piece();
                piece_.resize(left < most ? static_cast<size_t>(left) : most);
                from_->file_.read(piece_.data(), piece_.size() * sizeof(T), begin_ * sizeof(T));
                data_ = piece_.data(), end_ = piece_.size();
            } else {
                if (begin_ == from_->size()) return false;
                data_ = from_->held_.data(), end_ = from_->held_.size();
            }
            at_ = 0;
            begin_ += end_;
            return true;
        }

        const Sequence* from_;
        Records<T> piece_;
        const T* data_ = nullptr;
        uint64_t begin_ = 0;  // position of the next record to load
        size_t at_ = 0, end_ = 0;
    };

  private:
    size_t piece() const { return scratch_->piece / sizeof(T) + 1; }

    void make_room() {
        const size_t many = held_.size() ? 2 * held_.size() : std::min<size_t>(piece(), 64);
        const size_t more = (many - held_.size()) * sizeof(T);
        if (!file_.used() && (many <= piece() || scratch_->grant(more))) {
            if (many > piece()) granted_ += more;
            held_.reserve(many);
            return;
        }
        file_.write(held_.data(), held_.size() * sizeof(T), written_ * sizeof(T));
        written_ += held_.size();
        scratch_->restore(std::exchange(granted_, 0));
        if (held_.capacity() > piece()) held_.free();
        held_.clear();
        held_.reserve(piece());
    }

    Scratch* scratch_;
    ScratchFile file_;
    Records<T> held_;  // the last records, not yet in the file
    uint64_t written_ = 0;
    size_t granted_ = 0;
};

}  // namespace karat
