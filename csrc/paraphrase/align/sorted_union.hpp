// The union of sorted rows from several sources, which may be mapped files: every distinct row gets
// a number, in order, and each source receives the numbers of its rows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace karat::paraphrase {

inline bool row_before(const int32_t* a, const int32_t* b, size_t width) {
    for (size_t k = 0; k < width; ++k)
        if (a[k] != b[k]) return a[k] < b[k];
    return false;
}

class SortedUnion {
  public:
    struct Part {
        const int32_t* rows;  // each once
        size_t size;
    };

    SortedUnion(std::vector<Part> parts, size_t width)
        : parts_(std::move(parts)), width_(width), next_(parts_.size(), 0) {
        for (size_t p = 0; p < parts_.size(); ++p)
            if (parts_[p].size) heap_.push_back(p);
        std::make_heap(heap_.begin(), heap_.end(), Later{this});
    }

    bool done() const { return heap_.empty(); }

    struct Piece {
        std::vector<int32_t> rows;                  // distinct rows, in order
        std::vector<std::vector<int32_t>> numbers;  // of next rows, from 0 per piece
    };

    // The next `rows` distinct rows, or all that are left.
    Piece move(size_t rows) {
        Piece out;
        out.numbers.resize(parts_.size());
        for (size_t n_moved = 0; !heap_.empty() && n_moved < rows; ++n_moved) {
            const int32_t* const first = row(heap_.front());
            out.rows.insert(out.rows.end(), first, first + width_);
            const int32_t* const held = out.rows.data() + out.rows.size() - width_;
            do take(static_cast<int32_t>(n_moved), out);
            while (!heap_.empty() && !row_before(held, row(heap_.front()), width_));
        }
        return out;
    }

  private:
    const int32_t* row(size_t p) const { return parts_[p].rows + next_[p] * width_; }

    struct Later {
        const SortedUnion* all;
        bool operator()(size_t a, size_t b) const {
            return row_before(all->row(b), all->row(a), all->width_);
        }
    };

    void take(int32_t number, Piece& out) {
        std::pop_heap(heap_.begin(), heap_.end(), Later{this});
        const size_t p = heap_.back();
        out.numbers[p].push_back(number);
        if (++next_[p] == parts_[p].size)
            heap_.pop_back();
        else
            std::push_heap(heap_.begin(), heap_.end(), Later{this});
    }

    const std::vector<Part> parts_;
    const size_t width_;
    std::vector<size_t> next_, heap_;
};

}  // namespace karat::paraphrase
