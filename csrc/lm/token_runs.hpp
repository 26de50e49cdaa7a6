// The longest n-grams of a text in order, each with its count and first position: the input of
// training. The positions of the text are sorted by the reversed text that ends there: the word,
// the one before it, and so on. A text that does not fit in memory is sorted piece by piece; the
// sorted runs of n-grams go to a file and are merged.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/scratch.hpp"
#include "core/sorter.hpp"
#include "lm/model.hpp"

namespace karat::lm {

// An n-gram read backwards, from its last word: `words` are ids plus one, and 0 before <s>.
struct Gram {
    uint32_t words[MAX_ORDER];
    uint32_t count, first;  // number of occurrences, first position
};

class TokenRuns {
  public:
    TokenRuns(Scratch& scratch, int order, size_t bytes) : order_(order), file_(scratch) {
        limit(bytes);
    }

    // Bounds memory use from now on, except that a few words are always held.
    void limit(size_t bytes) {
        bytes_ = bytes;
        most_ = std::max<size_t>(bytes / a_token, static_cast<size_t>(order_) + 16);
    }

    // A sentence: <s> is the first history and never predicted, </s> is predicted like a word.
    void add(const int32_t* ids, int64_t length, Watch& watch) {
        push(BOS, watch);
        for (int64_t i = 0; i < length; ++i) push(ids[i], watch);
        push(EOS, watch);
        watch.worked(length * 4);
    }

    // To be called after the last sentence; then n-grams are read in order.
    void finish(Watch& watch) {
        if (runs_.empty()) {
            sort(watch);
            return;
        }
        spill(watch);
        tokens_.free(), order_of_.free(), items_.free();
        bounds_ = {};
        const size_t share = bytes_ / runs_.size() / (stride() * 4);
        for (Run& run : runs_) {
            run.piece = std::min<size_t>(std::max<size_t>(share, 4), (1 << 22) / (stride() * 4));
            load(run);
        }
    }

    uint64_t rows() const { return runs_.empty() ? order_of_.size() : rows_; }
    uint64_t read() const { return read_; }  // number of rows read

    bool next(Gram& gram) { return runs_.empty() ? next_sorted(gram) : next_merged(gram); }

    void drop() {
        tokens_.free(), order_of_.free(), items_.free();
        bounds_ = {};
        runs_.clear();
        file_.drop();
    }

  private:
    // Two words of the history of a token, and its place.
    struct Item {
        uint64_t words;
        uint32_t place;
        uint64_t key() const { return words; }
        bool operator<(const Item& other) const {
            return words != other.words ? words < other.words : place < other.place;
        }
    };
    struct Run {
        uint64_t begin, end;  // rows that are still in the file
        Records<uint32_t> rows;
        size_t at = 0, piece = 0;
    };
    static constexpr size_t a_token = 11;  // bytes: its id, its index in the order, and more

    size_t stride() const { return static_cast<size_t>(order_) + 2; }

    void push(int32_t word, Watch& watch) {
        if (tokens_.size() >= most_) spill(watch);
        if (base_ + tokens_.size() >= UINT32_MAX)
            throw std::length_error("a text of more than 2^32 words");
        if (tokens_.size() == tokens_.capacity())
            tokens_.reserve(std::min(most_, std::max<size_t>(tokens_.size() * 3 / 2, 1024)));
        tokens_.push(word);
    }

    // ------------------------------------------------------------------ sorting a piece of text

    // The word `back` tokens before a token, plus one; 0 before <s>.
    uint32_t before(size_t token, int back) const {
        for (int k = 1; k < back; ++k)
            if (tokens_[token - static_cast<size_t>(k)] == BOS) return 0;
        return static_cast<uint32_t>(tokens_[token - static_cast<size_t>(back)]) + 1;
    }

    void sort(Watch& watch) {
        by_last_word();
        for (int depth = 1; depth < order_; depth += 2) {
            for (size_t begin = 0, end; begin < order_of_.size(); begin = end) {
                end = next_bound(begin);
                if (end - begin > 1) refine(begin, end, depth, watch);
            }
        }
    }

    // Counting sort keeps text order within a word.
    void by_last_word() {
        int32_t words = 0;
        for (size_t t = history_; t < tokens_.size(); ++t) words = std::max(words, tokens_[t] + 1);
        std::vector<uint32_t> heads(static_cast<size_t>(words) + 1);
        for (size_t t = history_; t < tokens_.size(); ++t)
            if (tokens_[t] != BOS) ++heads[static_cast<size_t>(tokens_[t]) + 1];
        for (size_t w = 1; w < heads.size(); ++w) heads[w] += heads[w - 1];
        order_of_.resize(heads.back());
        bounds_.assign(order_of_.size() / 64 + 2, 0);
        for (const uint32_t start : heads) set_bound(start);
        for (size_t t = history_; t < tokens_.size(); ++t)
            if (tokens_[t] != BOS)
                order_of_[heads[static_cast<size_t>(tokens_[t])]++] = static_cast<uint32_t>(t);
    }

    // Sorts tokens that share the last `depth` words by two more words.
    void refine(size_t begin, size_t end, int depth, Watch& watch) {
        if (depth > 1) {
            const uint32_t last = before(order_of_[begin], depth - 1);
            if (!last || last == BOS + 1) return;  // they begin with <s>
        }
        const size_t many = end - begin;
        if (many * sizeof(Item) > bytes_ / 4 + 4096) return refine_in_place(begin, end, depth);
        items_.resize(many);
        for (size_t i = 0; i < many; ++i) {
            const uint32_t t = order_of_[begin + i];
            items_[i] = {two_words(t, depth), t};
        }
        sort_records(items_.data(), many, watch);
        for (size_t i = 0; i < many; ++i) {
            order_of_[begin + i] = items_[i].place;
            if (i && items_[i].words != items_[i - 1].words) set_bound(begin + i);
        }
    }
    void refine_in_place(size_t begin, size_t end, int depth) {
        const auto less = [&](uint32_t a, uint32_t b) {
            const uint64_t x = two_words(a, depth), y = two_words(b, depth);
            return x != y ? x < y : a < b;
        };
        std::sort(order_of_.data() + begin, order_of_.data() + end, less);
        for (size_t i = begin + 1; i < end; ++i)
            if (two_words(order_of_[i], depth) != two_words(order_of_[i - 1], depth)) set_bound(i);
    }
    // All words nearer than `depth` are words, not <s>.
    uint64_t two_words(uint32_t token, int depth) const {
        const int32_t* const near = tokens_.data() + token - depth;
        const uint64_t first = static_cast<uint32_t>(near[0]) + 1;
        if (depth + 1 == order_ || near[0] == BOS) return first << 32;
        return first << 32 | (static_cast<uint32_t>(near[-1]) + 1);
    }

    // One bit per token of the order: whether a different n-gram starts there.
    void set_bound(size_t i) { bounds_[i / 64] |= uint64_t{1} << i % 64; }
    size_t next_bound(size_t i) const {
        ++i;
        uint64_t remaining_bits = bounds_[i / 64] >> i % 64;
        if (remaining_bits & 1) return i;
        while (!remaining_bits) {
            i = (i / 64 + 1) * 64;
            remaining_bits = bounds_[i / 64];
        }
        while (!(remaining_bits & 1)) remaining_bits >>= 1, ++i;
        return i;
    }

    bool next_sorted(Gram& gram) {
        if (at_ >= order_of_.size()) return false;
        const size_t end = next_bound(at_), token = order_of_[at_];
        gram.words[0] = static_cast<uint32_t>(tokens_[token]) + 1;
        bool over = false;
        for (int k = 1; k < order_; ++k) {
            gram.words[k] = over ? 0 : static_cast<uint32_t>(tokens_[token - k]) + 1;
            over = over || tokens_[token - k] == BOS;
        }
        gram.count = static_cast<uint32_t>(end - at_);
        gram.first = static_cast<uint32_t>(base_ + token);
        read_ = at_ = end;
        return true;
    }

    // ------------------------------------------------------------------ runs

    // Writes the tokens in memory as a run; the last words stay as history of the next ones.
    void spill(Watch& watch) {
        sort(watch);
        const uint64_t begin = rows_;
        Records<uint32_t> rows;
        Gram gram;
        at_ = 0;
        const auto flush = [&] {
            file_.write(rows.data(), rows.size() * 4, (rows_ - rows.size() / stride()) * row());
            rows.clear();
        };
        while (next_sorted(gram)) {
            for (int k = 0; k < order_; ++k) rows.push(gram.words[k]);
            rows.push(gram.count), rows.push(gram.first);
            ++rows_;
            if (rows.size() >= 1 << 16) flush();
            watch.worked(16);
        }
        flush();
        runs_.push_back({begin, rows_, {}, 0, 0});
        const size_t keep = std::min(tokens_.size(), static_cast<size_t>(order_) - 1);
        const size_t gone = tokens_.size() - keep;
        std::memmove(tokens_.data(), tokens_.data() + gone, keep * sizeof(int32_t));
        tokens_.resize(keep);
        base_ += gone;
        history_ = keep;
        at_ = read_ = 0;
        order_of_.clear();
    }
    uint64_t row() const { return stride() * 4; }

    bool load(Run& run) {
        const uint64_t left = run.end - run.begin;
        if (!left) {
            run.rows.free();
            return false;
        }
        const size_t many = left < run.piece ? static_cast<size_t>(left) : run.piece;
        run.rows.resize(many * stride());
        file_.read(run.rows.data(), many * row(), run.begin * row());
        run.begin += many;
        run.at = 0;
        return true;
    }

    const uint32_t* front(const Run& run) const { return run.rows.data() + run.at; }
    int compare(const uint32_t* a, const uint32_t* b) const {
        for (int k = 0; k < order_; ++k)
            if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
        return 0;
    }

    // The first n-gram of all runs, with summed counts. There are few runs, since each is large;
    // the earliest run has the first position of an n-gram.
    bool next_merged(Gram& gram) {
        const Run* best = nullptr;
        for (const Run& run : runs_)
            if (run.rows.size() && (!best || compare(front(run), front(*best)) < 0)) best = &run;
        if (!best) return false;
        std::memcpy(gram.words, front(*best), static_cast<size_t>(order_) * 4);
        gram.count = 0, gram.first = front(*best)[order_ + 1];
        for (Run& run : runs_) {
            if (!run.rows.size() || compare(front(run), gram.words)) continue;
            gram.count += front(run)[order_];
            ++read_;
            if ((run.at += stride()) == run.rows.size()) load(run);
        }
        return true;
    }

    const int order_;
    size_t bytes_ = 0, most_ = 0;
    Records<int32_t> tokens_;   // sentences, each with <s> and </s>
    uint64_t base_ = 0;         // text position of the first token
    size_t history_ = 0;        // leading tokens that are only history
    uint64_t rows_ = 0, read_ = 0;
    Records<uint32_t> order_of_;  // tokens in order
    std::vector<uint64_t> bounds_;
    Records<Item> items_;
    size_t at_ = 0;
    ScratchFile file_;
    std::vector<Run> runs_;
};

}  // namespace karat::lm
