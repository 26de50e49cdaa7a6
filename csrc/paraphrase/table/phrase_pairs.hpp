// Phrase pairs that are consistent with a word alignment (Koehn, Och & Marcu 2003).
//
// A span of source words and a span of pivot words form a phrase pair if at least one link connects
// them and no word of either span is linked to a word outside the other. Words without links may
// occur anywhere in a phrase, including its ends.
//
// A phrase pair is a row of 2 * longest ids: the source phrase, then the pivot phrase, each padded
// with -1, so that rows sort like phrases and a phrase precedes the phrases it is a prefix of.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/ragged.hpp"
#include "paraphrase/align/sorted_union.hpp"

namespace karat::paraphrase {

struct PhraseRows {
    std::vector<int32_t> ids;     // rows
    std::vector<int64_t> counts;  // number of occurrences of each row
};

class Extractor {
  public:
    explicit Extractor(int64_t longest) : longest_(longest) {}

    // All phrase pairs of one sentence pair; links are (source[k], pivot[k]).
    void sentence(const int32_t* source, int64_t n, const int32_t* pivot, int64_t m,
                  const int32_t* link_source, const int32_t* link_pivot, int64_t links) {
        reach_.assign(n, Span());
        back_.assign(m, Span());
        for (int64_t k = 0; k < links; ++k) {
            reach_[link_source[k]].add(link_pivot[k]);
            back_[link_pivot[k]].add(link_source[k]);
        }
        for (int64_t first = 0; first < n; ++first) {
            Span joined;
            for (int64_t last = first; last < n && last < first + longest_; ++last) {
                joined.add(reach_[last]);
                if (joined.low > joined.high) continue;
                if (joined.high - joined.low >= longest_) break;  // it only grows
                if (closed(joined, first, last)) widen(source, first, last, pivot, m, joined);
            }
        }
    }

    // The rows so far, sorted and distinct.
    PhraseRows take() {
        const size_t width = 2 * longest_, n = rows_.size() / width;
        std::vector<uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0u);
        const int32_t* const rows = rows_.data();
        std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return row_before(rows + a * width, rows + b * width, width);
        });
        PhraseRows merged;
        for (size_t k = 0; k < n; ++k) {
            const int32_t* const row = rows + order[k] * width;
            if (k && !row_before(merged.ids.data() + merged.ids.size() - width, row, width)) {
                ++merged.counts.back();
                continue;
            }
            merged.ids.insert(merged.ids.end(), row, row + width);
            merged.counts.push_back(1);
        }
        rows_.clear();
        return merged;
    }

    size_t rows() const { return rows_.size() / (2 * longest_); }

  private:
    struct Span {
        int64_t low = INT64_MAX, high = -1;
        void add(int64_t at) {
            low = std::min(low, at);
            high = std::max(high, at);
        }
        void add(const Span& other) {
            low = std::min(low, other.low);
            high = std::max(high, other.high);
        }
        bool empty() const { return high < 0; }
    };

    // Whether all links of the pivot words lead into the source span.
    bool closed(const Span& pivots, int64_t first, int64_t last) const {
        for (int64_t j = pivots.low; j <= pivots.high; ++j)
            if (!back_[j].empty() && (back_[j].low < first || back_[j].high > last)) return false;
        return true;
    }

    // Adds the smallest pivot span, and its extensions by adjacent words without links.
    void widen(const int32_t* source, int64_t first, int64_t last, const int32_t* pivot, int64_t m,
               const Span& joined) {
        for (int64_t low = joined.low; low >= 0; --low) {
            if (low < joined.low && !back_[low].empty()) break;
            for (int64_t high = joined.high; high < m && high - low < longest_; ++high) {
                if (high > joined.high && !back_[high].empty()) break;
                add(source + first, last - first + 1, pivot + low, high - low + 1);
            }
        }
    }

    void add(const int32_t* source, int64_t n, const int32_t* pivot, int64_t m) {
        rows_.insert(rows_.end(), source, source + n);
        rows_.insert(rows_.end(), longest_ - n, -1);
        rows_.insert(rows_.end(), pivot, pivot + m);
        rows_.insert(rows_.end(), longest_ - m, -1);
    }

    const int64_t longest_;
    std::vector<int32_t> rows_;
    std::vector<Span> reach_, back_;
};

// Merges sorted rows from several sources, which may be mapped files; counts are summed.
class PhraseMerge {
  public:
    struct Part {
        const int32_t* ids;
        const int64_t* counts;
        size_t size;
    };

    PhraseMerge(std::vector<Part> parts, size_t width)
        : parts_(std::move(parts)), width_(width), next_(parts_.size(), 0) {
        for (size_t p = 0; p < parts_.size(); ++p)
            if (parts_[p].size) heap_.push_back(p);
        std::make_heap(heap_.begin(), heap_.end(), Later{this});
    }

    bool done() const { return heap_.empty(); }

    // At least `rows` more rows, or all that are left; equal rows stay together.
    void move(size_t rows, PhraseRows& out) {
        for (size_t k = 0; !heap_.empty() && (k < rows || repeats(out)); ++k) {
            std::pop_heap(heap_.begin(), heap_.end(), Later{this});
            const size_t p = heap_.back();
            add(row(p), parts_[p].counts[next_[p]], out);
            if (++next_[p] == parts_[p].size)
                heap_.pop_back();
            else
                std::push_heap(heap_.begin(), heap_.end(), Later{this});
        }
    }

  private:
    const int32_t* row(size_t p) const { return parts_[p].ids + next_[p] * width_; }

    struct Later {
        const PhraseMerge* merge;
        bool operator()(size_t a, size_t b) const {
            return row_before(merge->row(b), merge->row(a), merge->width_);
        }
    };

    bool repeats(const PhraseRows& out) const {
        const int32_t* const last = out.ids.data() + out.ids.size() - width_;
        return !row_before(last, row(heap_.front()), width_);
    }

    void add(const int32_t* row, int64_t count, PhraseRows& out) const {
        const size_t held = out.ids.size();
        if (held && !row_before(out.ids.data() + held - width_, row, width_)) {
            out.counts.back() += count;
            return;
        }
        out.ids.insert(out.ids.end(), row, row + width_);
        out.counts.push_back(count);
    }

    const std::vector<Part> parts_;
    const size_t width_;
    std::vector<size_t> next_, heap_;
};

}  // namespace karat::paraphrase
