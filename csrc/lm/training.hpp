// Training in bounded memory: passes over the n-grams of a text, one length after the other. The
// formulas are in karat/lm; this file provides the numbers they need.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "lm/context_pass.hpp"
#include "lm/row_pass.hpp"
#include "lm/table_pass.hpp"

namespace karat::lm {

class Training {
  public:
    // `open` returns temporary files, which this class closes. `bytes` is the memory for sorting,
    // `room` for sequences.
    Training(std::function<int()> open, int order, size_t bytes, size_t room, size_t piece)
        : scratch_(std::move(open), room, piece),
          bytes_(bytes),
          runs_(scratch_, order, bytes),
          levels_(scratch_, order),
          lower_(scratch_) {
        for (int n = 0; n <= order; ++n) {
            logs_.emplace_back(scratch_);
            backoffs_.emplace_back(scratch_);
            table_of_order_.emplace_back(scratch_);
        }
    }

    // Closes the files early, while readers may still exist; later reads are an error.
    void close() { scratch_.close(); }

    const SuffixLevels& levels() const { return levels_; }
    Table& table(int n) { return table_of_order_[static_cast<size_t>(n)]; }
    uint64_t done = 0, total = 0;  // n-grams of the current pass

    void limit(size_t bytes) {
        bytes_ = bytes;
        runs_.limit(bytes);
    }
    void add(const int32_t* ids, int64_t length, Watch& watch) { runs_.add(ids, length, watch); }

    // To be called after the last sentence: collects the n-grams of all lengths over `words` words.
    void merge(size_t words, Watch& watch) {
        runs_.finish(watch);
        total = runs_.rows();
        for (Gram gram; runs_.next(gram); watch.worked(32)) {
            levels_.add(gram);
            done = runs_.read();
        }
        levels_.finish(words);
        runs_.drop();
    }

    // Estimates for the length `n`: gather, then batch and put until there are no more, scatter.
    void gather(int n, const double* p, Watch& watch) {
        start(n);
        pass_ = std::make_unique<ContextPass>(scratch_, levels_, n, bytes_);
        pass_->gather(p, lower_, done, watch);
        lower_.drop();
        start(n);
    }
    ContextPass& pass() { return *pass_; }
    void put(const double* p, const float* logs, const float* weights, Watch& watch) {
        done += pass_->batch_ngrams();
        pass_->put(p, logs, weights, backoffs_[n_ - 1], watch);
    }
    void scatter(Watch& watch) {
        start(static_cast<int>(n_));
        pass_->scatter(backoffs_[n_ - 1], logs_[n_], lower_, done, watch);
        pass_.reset();
    }
    const Sequence<float>& backoffs(int n) const { return backoffs_[static_cast<size_t>(n)]; }

    // Builds the table of a length (two or more), after the table of the next shorter length.
    void make_table(int n, uint32_t least, size_t most, Watch& watch) {
        start(n);
        total *= 2;
        if (n == 2) tables_ = std::make_unique<TablePass>(scratch_, levels_, bytes_);
        table_of_order_[n_] = tables_->make(n, least, logs_[n_], backoffs_[n_], most, done, watch);
        if (n == levels_.order()) tables_.reset();
    }

    std::unique_ptr<RowPass> rows(int n, uint32_t least, Watch& watch) {
        start(n);
        const size_t at = n_;
        return std::make_unique<RowPass>(scratch_, levels_, n, least, bytes_, logs_[at],
                                         backoffs_[at], watch);
    }

  private:
    void start(int n) {
        n_ = static_cast<size_t>(n);
        done = 0, total = levels_.nodes(n).size();
    }

    Scratch scratch_;
    size_t bytes_;
    TokenRuns runs_;
    SuffixLevels levels_;
    Sequence<Lower> lower_;                         // of the last estimated length
    std::vector<Sequence<float>> logs_, backoffs_;  // of each length
    std::vector<Table> table_of_order_;
    std::unique_ptr<ContextPass> pass_;
    std::unique_ptr<TablePass> tables_;
    size_t n_ = 0;
};

}  // namespace karat::lm
