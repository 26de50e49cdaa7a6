// Two aligners, one for each direction, that learn to agree (Liang, Taskar & Klein 2006).
//
// Where EM would count what one direction expects, a link counts as far as both believe in it:
//
//     c(e, f) = sum over links (i, j) of e and f of P(a_j = i | e, f) P(b_i = j | f, e)
//
// or the square roots of these products. The product is the paper's; where both are uncertain it
// is very small, so that a few easy sentences outweigh all others. The root is the belief whose
// (generalised Kullback-Leibler) divergences from the two have the least sum. Jumps are counted by
// each direction for itself.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "paraphrase/align/hmm.hpp"
#include "paraphrase/align/model1.hpp"
#include "paraphrase/align/translation_table.hpp"

namespace karat::paraphrase {

struct LinkRows {
    std::vector<int32_t> source, pivot;
    std::vector<int64_t> ends;  // of every sentence pair
};

enum class Decode { mean, forward, backward };

class JointAligner {
  public:
    JointAligner(const Bitext& text, int32_t source_words, int32_t pivot_words, int64_t most_cells,
                 bool root, Watch& watch)
        : text_(text), root_(root), table_(text, source_words, pivot_words, most_cells, watch) {}

    // An aligner of a part of a text, with what was learned from all of it so far; it does not
    // update, but says what it counted.
    JointAligner(const Bitext& text, bool root, const int32_t* cells,
                 const TranslationTable::Entry* entries, size_t size, const Jumps& ahead,
                 const Jumps& back)
        : text_(text), root_(root), table_(text, cells, entries, size), jumps_{ahead, back} {}

    const TranslationTable& table() const { return table_; }
    const Bitext& text() const { return text_; }
    const Jumps& jumps(bool backward) const { return backward ? jumps_[1] : jumps_[0]; }
    const JumpCounts& jump_counts(bool backward) const { return counts_[backward ? 1 : 0]; }

    // What both directions believe about one sentence pair.
    class View {
      public:
        View(JointAligner& aligner, bool hmm)
            : aligner_(aligner), hmm_(hmm), ahead_(aligner.jumps_[0]), back_(aligner.jumps_[1]) {}

        void look(int64_t s) {
            n_ = aligner_.text_.source.length(s);
            m_ = aligner_.text_.pivot.length(s);
            cells_ = aligner_.table_.cells(s, found_);
            read();
            forward_.resize(n_ * m_);
            backward_.resize(n_ * m_);
            if (hmm_) {
                ahead_.posteriors(given_source_.data(), m_, n_, forward_.data());
                back_.posteriors(given_pivot_.data(), n_, m_, backward_.data());
            } else {
                model1_posteriors(given_source_.data(), m_, n_, forward_.data());
                model1_posteriors(given_pivot_.data(), n_, m_, backward_.data());
            }
        }
        float forward(int64_t i, int64_t j) const { return forward_[j * n_ + i]; }
        float backward(int64_t i, int64_t j) const { return backward_[i * m_ + j]; }

        void count() {
            for (int64_t i = 0; i < n_; ++i)
                for (int64_t j = 0; j < m_; ++j) {
                    const float both = forward(i, j) * backward(i, j);
                    aligner_.table_.expect(cells_[i * m_ + j],
                                           aligner_.root_ ? std::sqrt(both) : both);
                }
            if (!hmm_) return;
            ahead_.count(aligner_.counts_[0]);
            back_.count(aligner_.counts_[1]);
        }

        void links(Decode rule, double threshold, LinkRows& out) {
            if (rule != Decode::mean) choose(rule == Decode::forward);
            for (int64_t i = 0; i < n_; ++i)
                for (int64_t j = 0; j < m_; ++j) {
                    if (!linked(rule, i, j, threshold)) continue;
                    out.source.push_back(static_cast<int32_t>(i));
                    out.pivot.push_back(static_cast<int32_t>(j));
                }
        }

      private:
        void read() {
            given_source_.resize(m_ * (n_ + 1));
            given_pivot_.resize(n_ * (m_ + 1));
            for (int64_t i = 0; i < n_; ++i)
                for (int64_t j = 0; j < m_; ++j) {
                    const auto& entry = aligner_.table_[cells_[i * m_ + j]];
                    given_source_[j * (n_ + 1) + i + 1] = entry.forward;
                    given_pivot_[i * (m_ + 1) + j + 1] = entry.backward;
                }
        }

        // For every generated word its most probable place; -1 where that is the null word.
        void choose(bool ahead) {
            const auto& beliefs = ahead ? forward_ : backward_;
            const int64_t words = ahead ? m_ : n_, places = ahead ? n_ : m_;
            best_.assign(words, -1);
            for (int64_t j = 0; j < words; ++j) {
                double null = 1.0;
                for (int64_t i = 0; i < places; ++i) null -= beliefs[j * places + i];
                double most = null;
                for (int64_t i = 0; i < places; ++i) {
                    if (beliefs[j * places + i] <= most) continue;
                    most = beliefs[j * places + i];
                    best_[j] = i;
                }
            }
        }

        bool linked(Decode rule, int64_t i, int64_t j, double threshold) const {
            if (rule == Decode::forward) return best_[j] == i;
            if (rule == Decode::backward) return best_[i] == j;
            return (static_cast<double>(forward(i, j)) + backward(i, j)) / 2 >= threshold;
        }

        JointAligner& aligner_;
        const bool hmm_;
        Trellis ahead_, back_;
        int64_t n_ = 0, m_ = 0;
        const int32_t* cells_ = nullptr;
        std::vector<int32_t> found_;
        std::vector<float> given_source_, given_pivot_, forward_, backward_;
        std::vector<int64_t> best_;
    };

    // The E-step of a run of sentence pairs; runs may be looked at by several threads at once.
    void expect(int64_t start, int64_t stop, bool hmm) {
        View view(*this, hmm);
        for (int64_t s = start; s < stop; ++s) {
            if (!text_.takes_part(s)) continue;
            view.look(s);
            view.count();
        }
    }

    void update(bool hmm) {
        table_.update();
        for (int direction = 0; hmm && direction < 2; ++direction)
            counts_[direction].update(jumps_[direction]);
    }

    LinkRows decode(int64_t start, int64_t stop, bool hmm, Decode rule, double threshold) {
        LinkRows found;
        View view(*this, hmm);
        for (int64_t s = start; s < stop; ++s) {
            if (text_.takes_part(s)) {
                view.look(s);
                view.links(rule, threshold, found);
            }
            found.ends.push_back(static_cast<int64_t>(found.source.size()));
        }
        return found;
    }

  private:
    const Bitext text_;
    const bool root_;
    TranslationTable table_;
    Jumps jumps_[2];
    JumpCounts counts_[2];
};

}  // namespace karat::paraphrase
