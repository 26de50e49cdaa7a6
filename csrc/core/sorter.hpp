// Sorts records: in memory if they fit, else as sorted runs in a file that are merged while
// reading. Records are sorted by `key()`, then by `<`.
#pragma once
#include <algorithm>

#include "core/scratch.hpp"
#include "core/watch.hpp"

namespace karat {

// In-place radix sort from the highest bits of the keys; small buckets are sorted by comparison.
// Keys are below 2^`bits`.
template <class T>
void sort_records(T* data, size_t size, int bits, Watch& watch) {
    constexpr size_t kComparisonSortSize = 192;
    constexpr int digit = 8;
    watch.worked(static_cast<int64_t>(size) * 8);
    if (size <= kComparisonSortSize || bits <= 0) return std::sort(data, data + size);
    const int shift = bits > digit ? bits - digit : 0;
    const auto place = [shift](const T& x) { return x.key() >> shift & ((1 << digit) - 1); };
    size_t heads[(1 << digit) + 1] = {}, ends[1 << digit];
    for (size_t i = 0; i < size; ++i) ++heads[place(data[i]) + 1];
    for (size_t b = 0; b < 1 << digit; ++b) ends[b] = heads[b + 1] += heads[b];
    for (size_t b = 0; b < 1 << digit; ++b)
        while (heads[b] < ends[b]) {
            T moved = data[heads[b]];
            for (size_t to = place(moved); to != b; to = place(moved))
                std::swap(moved, data[heads[to]++]);
            data[heads[b]++] = moved;
        }
    for (size_t b = 0, start = 0; b < 1 << digit; start = ends[b++])
        if (ends[b] - start > 1) sort_records(data + start, ends[b] - start, shift, watch);
}

template <class T>
void sort_records(T* data, size_t size, Watch& watch) {
    uint64_t all = 0;
    for (size_t i = 0; i < size; ++i) all |= data[i].key();
    int bits = 0;
    while (bits < 64 && all >> bits) ++bits;
    sort_records(data, size, bits, watch);
}

template <class T>
class Sorter {
  public:
    // `bytes` bounds the memory for records, except that a few records are always held.
    Sorter(Scratch& scratch, size_t bytes)
        : file_(scratch), most_(std::max<size_t>(bytes / sizeof(T), 16)) {}

    uint64_t size() const { return size_; }

    void add(const T& record, Watch& watch) {
        if (held_.size() == most_) spill(watch);
        if (held_.size() == held_.capacity())
            held_.reserve(std::min(most_, std::max<size_t>(2 * held_.size(), 256)));
        held_.push(record);
        ++size_;
    }

    // To be called after the last record; reading starts here.
    void finish(Watch& watch) {
        if (runs_.empty()) {
            sort_records(held_.data(), held_.size(), watch);
            return;
        }
        spill(watch);
        held_.free();
        const size_t piece = std::max<size_t>(most_ / runs_.size(), 16);
        for (Run& run : runs_) {
            run.piece = std::min<size_t>(piece, (1 << 22) / sizeof(T));
            load(run);
        }
        for (size_t i = runs_.size(); i--;) heap_.push_back(i);
        std::make_heap(heap_.begin(), heap_.end(), after());
    }

    bool next(T& record) {
        if (runs_.empty()) {
            if (at_ == held_.size()) return false;
            record = held_[at_++];
            return true;
        }
        if (heap_.empty()) return false;
        Run& run = runs_[heap_[0]];
        record = run.records[run.at++];
        if (run.at == run.records.size() && !load(run)) {
            std::pop_heap(heap_.begin(), heap_.end(), after());
            heap_.pop_back();
        } else {
            sink();
        }
        return true;
    }

  private:
    struct Run {
        uint64_t begin, end;  // range of records still in the file
        Records<T> records;
        size_t at = 0, piece = 0;
    };

    const T& front(size_t run) const { return runs_[run].records[runs_[run].at]; }
    auto after() const {
        return [this](size_t a, size_t b) { return front(b) < front(a); };
    }

    void spill(Watch& watch) {
        sort_records(held_.data(), held_.size(), watch);
        const uint64_t begin = size_ - held_.size();
        file_.write(held_.data(), held_.size() * sizeof(T), begin * sizeof(T));
        runs_.push_back({begin, size_, {}, 0, 0});
        held_.clear();
    }

    bool load(Run& run) {
        const uint64_t left = run.end - run.begin;
        if (!left) {
            run.records.free();
            return false;
        }
        run.records.resize(left < run.piece ? static_cast<size_t>(left) : run.piece);
        file_.read(run.records.data(), run.records.size() * sizeof(T), run.begin * sizeof(T));
        run.begin += run.records.size();
        run.at = 0;
        return true;
    }

    // Moves the first run to the position of its next record.
    void sink() {
        const size_t moved = heap_[0], many = heap_.size();
        size_t at = 0;
        for (size_t child = 1; child < many; child = 2 * at + 1) {
            if (child + 1 < many && front(heap_[child + 1]) < front(heap_[child])) ++child;
            if (!(front(heap_[child]) < front(moved))) break;
            heap_[at] = heap_[child];
            at = child;
        }
        heap_[at] = moved;
    }

    ScratchFile file_;
    size_t most_, at_ = 0;
    uint64_t size_ = 0;
    Records<T> held_;
    std::vector<Run> runs_;
    std::vector<size_t> heap_;
};

}  // namespace karat
