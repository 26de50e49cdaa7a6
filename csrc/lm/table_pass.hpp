// Builds the tables of a model from n-grams in suffix order, one length after the other.
#pragma once
#include <memory>

#include "lm/places.hpp"
#include "lm/suffix_levels.hpp"

namespace karat::lm {

// The cells of one table: in memory, or in a file.
struct Table {
    explicit Table(Scratch& scratch) : file(scratch) {}
    uint64_t slots = 0;
    Records<Cell> cells;
    ScratchFile file;
};

class TablePass {
  public:
    TablePass(Scratch& scratch, const SuffixLevels& levels, size_t bytes)
        : scratch_(scratch), levels_(levels), bytes_(bytes) {}

    // The n-grams of a length (two or more) that occur at least `least` times; the longest need no
    // `backoffs`. A table of more than `most` bytes is written to a file.
    Table make(int n, uint32_t least, const Sequence<float>& logs, const Sequence<float>& backoffs,
               size_t most, uint64_t& done, Watch& watch) {
        Sorter<Hashed> hashed(scratch_, bytes_ / 2);
        hash(n, least, logs, backoffs, hashed, done, watch);
        hashed.finish(watch);
        Places places(hashed.size());
        Writer writer(scratch_, places.slots(), most);
        placed_ = std::make_unique<Sorter<Placed>>(scratch_, bytes_ / 4);
        for (Hashed ngram; hashed.next(ngram); watch.worked(24)) {
            const size_t at = places.take(ngram.hash);
            writer.put(at, {ngram.cell, ngram.log, ngram.backoff});
            if (n < levels_.order())
                placed_->add({ngram.hash, ngram.number, static_cast<uint32_t>(at)}, watch);
            ++done;
        }
        placed_->finish(watch);
        return writer.finish();
    }

  private:
    struct Placed {
        uint64_t hash;
        uint32_t number, place;
        uint64_t key() const { return number; }
        bool operator<(const Placed& other) const { return number < other.number; }
    };

    // Writes cells from first to last, except those that overflow the end.
    class Writer {
      public:
        Writer(Scratch& scratch, uint64_t slots, size_t most)
            : table_(scratch),
              piece_(std::max<size_t>(scratch.piece / sizeof(Cell), 1)),
              in_memory_(slots <= most / sizeof(Cell)) {
            table_.slots = slots;
            table_.cells.reserve(in_memory_ ? static_cast<size_t>(slots) : piece_);
        }
        void put(uint64_t at, const Cell& cell) {
            if (at >= end()) {
                fill(at);
                push(cell);
            } else if (at >= written_) {
                table_.cells[static_cast<size_t>(at - written_)] = cell;
            } else {
                table_.file.write(&cell, sizeof cell, at * sizeof cell);
            }
        }
        Table finish() {
            fill(table_.slots);
            if (!in_memory_) flush();
            return std::move(table_);
        }

      private:
        uint64_t end() const { return written_ + table_.cells.size(); }
        void fill(uint64_t stop) {
            while (end() < stop) push(empty_cell());
        }
        void push(const Cell& cell) {
            if (!in_memory_ && table_.cells.size() == piece_) flush();
            table_.cells.push(cell);
        }
        void flush() {
            table_.file.write(table_.cells.data(), table_.cells.size() * sizeof(Cell),
                              written_ * sizeof(Cell));
            written_ += table_.cells.size();
            table_.cells.clear();
        }

        Table table_;
        const size_t piece_;
        const bool in_memory_;
        uint64_t written_ = 0;
    };

    void hash(int n, uint32_t least, const Sequence<float>& logs, const Sequence<float>& backoffs,
              Sorter<Hashed>& hashed, uint64_t& done, Watch& watch) {
        Sequence<Node>::Reader nodes(levels_.nodes(n));
        Sequence<float>::Reader log_of(logs), backoff_of(backoffs);
        Placed suffix{0, UINT32_MAX, 0};
        uint32_t number = 0;
        for (Node node; nodes.next(node); ++number, ++done, watch.worked(24)) {
            Hashed ngram{0, 0, 0, -0.0f, number};
            log_of.next(ngram.log);
            backoff_of.next(ngram.backoff);
            if (node.count < least) continue;
            if (n == 2 && suffix.number != node.parent) {
                const uint64_t hash = cell_hash(0, static_cast<int32_t>(node.parent));
                suffix = {hash, node.parent, node.parent};
            }
            while (suffix.number != node.parent) placed_->next(suffix);
            const int32_t word = static_cast<int32_t>(node.word);
            ngram.hash = cell_hash(suffix.hash, word);
            ngram.cell = cell_key(suffix.place, word);
            hashed.add(ngram, watch);
        }
    }

    Scratch& scratch_;
    const SuffixLevels& levels_;
    const size_t bytes_;
    std::unique_ptr<Sorter<Placed>> placed_;  // n-grams of the previous table
};

}  // namespace karat::lm
