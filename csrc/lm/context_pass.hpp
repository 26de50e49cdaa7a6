// Groups the n-grams of one length by context (all words but the last), and restores their order.
//
// The probability of an n-gram needs all n-grams of its context, in text order, since sums are
// rounded. A context is found by the suffix of its n-gram: that of `a b c` is the child by `a` of
// the context of `b c`, which the pass over the next shorter length has found. So n-grams are
// sorted by two numbers, and contexts come in the order of suffixes, in which they are numbered.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "lm/suffix_levels.hpp"

namespace karat::lm {

// The values of an n-gram that the next length needs.
struct Lower {
    double p;
    uint32_t context;
};

class ContextPass {
  public:
    // Contexts of length `n`; `backoffs` belong to the contexts, `logs` and `lower` to the n-grams.
    // The longest n-grams have no `lower`.
    ContextPass(Scratch& scratch, const SuffixLevels& levels, int n, size_t bytes)
        : levels_(levels),
          n_(n),
          words_(levels.words().size()),
          contexts_(scratch, bytes / 5 * 3),
          longest_(scratch, bytes / 5 * 2),
          lower_orders_(scratch, bytes / 5 * 2) {
        if (n > 2) nodes_ = std::make_unique<Sequence<Node>::Reader>(levels.nodes(n - 1));
    }

    // Sorts by contexts. `p` are the probabilities of words, `lower` the results of the previous
    // pass.
    void gather(const double* p, const Sequence<Lower>& lower, uint64_t& done, Watch& watch) {
        Sequence<Node>::Reader nodes(levels_.nodes(n_));
        Sequence<Lower>::Reader suffixes(lower);
        Lower suffix{};
        uint32_t number = 0, at = NONE;
        for (Node node; nodes.next(node); ++number) {
            if (n_ == 2)
                suffix.p = p[node.parent];
            else
                for (; at != node.parent; ++at) suffixes.next(suffix);
            const uint64_t context = suffix.context * words_ + node.word;
            contexts_.add(
                {context, node.first, number, node.adjusted, node.count, suffix.p}, watch);
            watch.worked(32);
            ++done;
        }
        contexts_.finish(watch);
        more_ = contexts_.next(next_);
    }

    // A batch of n-grams of complete contexts, which are numbered from 0.
    struct Batch {
        std::vector<int64_t> contexts, counts;
        std::vector<double> adjusted, lower;
    };
    // Reads at least `enough` n-grams, unless fewer are left.
    Batch batch(size_t enough) {
        Batch result;
        numbers_.clear(), keys_.clear(), sizes_.clear();
        while (more_ && numbers_.size() < enough) {
            const size_t before = numbers_.size();
            keys_.push_back(next_.context);
            for (; more_ && next_.context == keys_.back(); more_ = contexts_.next(next_)) {
                result.contexts.push_back(static_cast<int64_t>(keys_.size()) - 1);
                result.counts.push_back(next_.count);
                result.adjusted.push_back(next_.adjusted);
                result.lower.push_back(next_.lower);
                numbers_.push_back(next_.number);
            }
            sizes_.push_back(numbers_.size() - before);
        }
        return result;
    }
    size_t batch_ngrams() const { return numbers_.size(); }
    size_t batch_contexts() const { return keys_.size(); }

    // Stores the estimates of the last batch: p and log10 p of n-grams, log10 of the weights of
    // contexts.
    void put(const double* p, const float* logs, const float* weights, Sequence<float>& backoffs,
             Watch& watch) {
        size_t i = 0;
        for (size_t c = 0; c < keys_.size(); ++c) {
            const uint32_t context = find(keys_[c], backoffs);
            backoffs.push(weights[c]);
            for (const size_t end = i + sizes_[c]; i < end; ++i) {
                if (n_ == levels_.order())
                    longest_.add({numbers_[i], logs[i]}, watch);
                else
                    lower_orders_.add({{numbers_[i], logs[i]}, context, p[i]}, watch);
            }
        }
        watch.worked(static_cast<int64_t>(i) * 16);
    }

    // To be called after the last batch: returns the estimates to suffix order.
    void scatter(Sequence<float>& backoffs, Sequence<float>& logs, Sequence<Lower>& lower,
                 uint64_t& done, Watch& watch) {
        find(UINT64_MAX, backoffs);
        longest_.finish(watch);
        for (Estimate estimate; longest_.next(estimate); watch.worked(16))
            logs.push(estimate.log), ++done;
        lower_orders_.finish(watch);
        for (LowerEstimate estimate; lower_orders_.next(estimate); watch.worked(16)) {
            lower.push({estimate.p, estimate.context});
            logs.push(estimate.log), ++done;
        }
    }

  private:
    static constexpr uint32_t NONE = UINT32_MAX;
    static constexpr float UNUSED = -0.0f;  // back-off of n-grams that are no context

    struct InContext {
        uint64_t context;  // by its suffix and its first word
        uint32_t first, number, adjusted, count;
        double lower;  // the probability of its suffix
        uint64_t key() const { return context; }
        bool operator<(const InContext& other) const {
            return context != other.context ? context < other.context : first < other.first;
        }
    };
    struct Estimate {
        uint32_t number;
        float log;
        uint64_t key() const { return number; }
        bool operator<(const Estimate& other) const { return number < other.number; }
    };
    struct LowerEstimate : Estimate {
        uint32_t context;
        double p;
    };

    // The number of a context. Contexts skipped since the previous call have no n-grams.
    uint32_t find(uint64_t context, Sequence<float>& backoffs) {
        if (n_ == 2) {
            for (; at_ < context && at_ < words_; ++at_) backoffs.push(UNUSED);
            return at_++;
        }
        for (Node node; nodes_->next(node); backoffs.push(UNUSED)) {
            ++at_;
            if (node.parent * words_ + node.word == context) return at_ - 1;
        }
        return NONE;
    }

    const SuffixLevels& levels_;
    const int n_;
    const uint64_t words_;
    Sorter<InContext> contexts_;
    Sorter<Estimate> longest_;
    Sorter<LowerEstimate> lower_orders_;
    std::unique_ptr<Sequence<Node>::Reader> nodes_;  // of the contexts
    uint32_t at_ = 0;                                // the next of them
    InContext next_{};
    bool more_ = false;
    std::vector<uint32_t> numbers_;  // of the batch: its n-grams,
    std::vector<uint64_t> keys_;     // its contexts,
    std::vector<size_t> sizes_;      // and how many n-grams each has
};

}  // namespace karat::lm
