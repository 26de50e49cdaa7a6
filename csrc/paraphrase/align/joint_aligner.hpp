// Two HMM aligners, one for each direction, that learn to agree (Liang, Taskar & Klein 2006).
//
// Where EM would count the expectation of one direction, the weight of a link combines both:
//
//     c(e, f) = sum over links (i, j) of e and f of agreed(P(a_j = i | e, f), P(b_i = j | f, e))
//
// Each direction counts its own jumps. The null word takes part with a constant weight, as in the
// Berkeley aligner.
#pragma once
#include <cstdint>
#include <vector>

#include "paraphrase/align/beliefs.hpp"
#include "paraphrase/align/hmm.hpp"
#include "paraphrase/align/model1.hpp"
#include "paraphrase/align/translation_table.hpp"

namespace karat::paraphrase {

class JointAligner {
  public:
    static constexpr float p0 = 1e-6f;  // the weight of the null word

    JointAligner(const Bitext& text, int32_t source_words, int32_t pivot_words, int64_t most_cells,
                 Agreement agreement, Watch& watch)
        : text_(text), agreement_(agreement),
          table_(text, source_words, pivot_words, most_cells, watch),
          counts_{JumpCounts(text.words()), JumpCounts(text.words())} {}

    // An aligner of a part of a text that has `words` words on its longer side, with the parameters
    // learned from the whole text so far; it does not update them, but returns its counts.
    JointAligner(const Bitext& text, Agreement agreement, const int32_t* cells,
                 const TranslationTable::Entry* entries, size_t size, const Jumps& ahead,
                 const Jumps& back, int64_t words)
        : text_(text), agreement_(agreement), table_(text, cells, entries, size),
          jumps_{ahead, back}, counts_{JumpCounts(words), JumpCounts(words)} {}

    const TranslationTable& table() const { return table_; }
    const Bitext& text() const { return text_; }
    const Jumps& jumps(bool backward) const { return backward ? jumps_[1] : jumps_[0]; }
    const JumpCounts& jump_counts(bool backward) const { return counts_[backward ? 1 : 0]; }

    // The posteriors of both directions for one sentence pair.
    class View {
      public:
        View(JointAligner& aligner, bool hmm)
            : aligner_(aligner), hmm_(hmm), steps_{SharedSteps(aligner.jumps_[0]),
                                                   SharedSteps(aligner.jumps_[1])},
              ahead_(steps_[0], p0), back_(steps_[1], p0) {}

        Beliefs& look(int64_t s) {
            const int64_t n = aligner_.text_.source.length(s), m = aligner_.text_.pivot.length(s);
            cells_ = aligner_.table_.index().cells(s, cell_buffer_);
            beliefs_.resize(n, m);
            read();
            if (hmm_) {
                ahead_.posteriors(given_source_.data(), m, n, beliefs_.ahead.data());
                back_.posteriors(given_pivot_.data(), n, m, beliefs_.backward.data());
            } else {
                model1_posteriors(given_source_.data(), m, n, p0, beliefs_.ahead.data());
                model1_posteriors(given_pivot_.data(), n, m, p0, beliefs_.backward.data());
            }
            return beliefs_;
        }

        void count() {
            const int64_t n = beliefs_.n, m = beliefs_.m;
            for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < m; ++j)
                    aligner_.table_.expect(cells_[i * m + j],
                                           agreed(aligner_.agreement_, beliefs_.of_source(i, j),
                                                  beliefs_.of_pivot(i, j)));
            if (!hmm_) return;
            aligner_.counts_[0].add(ahead_.jumps(), aligner_.jumps_[0]);
            aligner_.counts_[1].add(back_.jumps(), aligner_.jumps_[1]);
        }

      private:
        void read() {
            const int64_t n = beliefs_.n, m = beliefs_.m;
            given_source_.resize(m * (n + 1));
            given_pivot_.resize(n * (m + 1));
            for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < m; ++j) {
                    const auto& entry = aligner_.table_[cells_[i * m + j]];
                    given_source_[j * (n + 1) + i + 1] = entry.forward;
                    given_pivot_[i * (m + 1) + j + 1] = entry.backward;
                }
        }

        JointAligner& aligner_;
        const bool hmm_;
        const SharedSteps steps_[2];
        Trellis<SharedSteps> ahead_, back_;
        Beliefs beliefs_;
        const int32_t* cells_ = nullptr;
        std::vector<int32_t> cell_buffer_;
        std::vector<float> given_source_, given_pivot_;
    };

    // The E-step of a run of sentence pairs; several threads may process different runs at once.
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
        LinkRows rows;
        View view(*this, hmm);
        for (int64_t s = start; s < stop; ++s) {
            if (text_.takes_part(s)) view.look(s).links(rule, threshold, rows);
            rows.ends.push_back(static_cast<int64_t>(rows.source.size()));
        }
        return rows;
    }

  private:
    const Bitext text_;
    const Agreement agreement_;
    TranslationTable table_;
    Jumps jumps_[2];
    JumpCounts counts_[2];
};

}  // namespace karat::paraphrase
