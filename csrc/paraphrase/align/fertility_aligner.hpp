// Two HMM aligners that learn to agree, with a null word that has its own distribution, jumps by
// word, fertilities, and translation probabilities without the sentence's own counts.
//
// The last counts of a sentence pair s are subtracted from the counts that it uses (leave-one-out;
// Ney, Essen & Kneser 1995). Otherwise a pair of rare words that co-occur once would always be
// linked:
//
//     t(f|e) = (C(e, f) - C_s(e, f) + alpha + k [e = f]) / (C(e) - C_s(e) + alpha V + k_e)
//
// V is the number of words f, and k_e is k if there is a word f = e. Counts are integers, so that
// the difference is exact. The subtracted counts follow from the last posteriors, which are stored
// as integer multiples of 2^-15, two for each cell. Model 1 and the HMM use t(f|e) / n(f), where n
// is the distribution of the null word.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "paraphrase/align/beliefs.hpp"
#include "paraphrase/align/hmm.hpp"
#include "paraphrase/align/model1.hpp"
#include "paraphrase/align/pair_counts.hpp"
#include "paraphrase/align/pair_index.hpp"
#include "paraphrase/align/word_model.hpp"

namespace karat::paraphrase {

struct Posterior {
    uint16_t forward, backward;  // P(a_j = i) and P(b_i = j)

    static uint16_t to_fixed(float p) { return static_cast<uint16_t>(p * 32768.0f + 0.5f); }
    static float part(uint16_t fixed) { return static_cast<float>(fixed) * (1.0f / 32768.0f); }

    // The count of a link.
    int64_t agreed(Agreement agreement) const {
        if (agreement == Agreement::min) return std::min(forward, backward);
        const int64_t both = static_cast<int64_t>(forward) * backward;
        if (agreement == Agreement::product) return (both + (1 << 14)) >> 15;
        return static_cast<int64_t>(std::sqrt(static_cast<double>(both)) + 0.5);
    }
};

// The settings of an iteration.
struct Stage {
    bool hmm;        // or model 1
    bool fertility;  // translation probabilities are multiplied by fertility probabilities
};

class FertilityAligner {
  public:
    FertilityAligner(const Bitext& text, WordModel& model, int64_t most_cells, Agreement agreement,
                     Watch& watch)
        : text_(text),
          model_(model),
          agreement_(agreement),
          index_(text, static_cast<int32_t>(model.source_words()),
                 static_cast<int32_t>(model.pivot_words()), most_cells, watch),
          counts_(index_.size()),
          own_counts_(text.all_cells(), Posterior{0, 0}),
          last_(own_counts_.data()) {}

    // An aligner of a part of a text: the entries of its cells, their counts in all of the text,
    // and the last posteriors, which are replaced.
    FertilityAligner(const Bitext& text, WordModel& model, Agreement agreement,
                     const int32_t* cells, const int64_t* counts, size_t size, Posterior* last)
        : text_(text), model_(model), agreement_(agreement), index_(text, cells),
          counts_(counts, size), last_(last) {}

    const Bitext& text() const { return text_; }
    const PairIndex& index() const { return index_; }
    const PairCounts& counts() const { return counts_; }
    size_t bytes() const { return index_.bytes() + counts_.bytes() + 4 * own_counts_.size(); }

    // One direction of one sentence pair: `places` generate `words`.
    class Side {
      public:
        Side(Direction& direction, const ModelSettings& settings)
            : direction_(direction), settings_(settings), steps_(direction.jumps),
              trellis_(steps_, static_cast<float>(settings.p0)) {}

        void set(const int32_t* places, int64_t n, const int32_t* words, int64_t m) {
            places_ = places;
            words_ = words;
            n_ = n;
            m_ = m;
            table.resize(m * (n + 1));
            first.resize(n);
            for (int64_t i = 0; i < n; ++i)
                first[i] = std::find(places, places + i, places[i]) - places;
        }
        template <class Likely>
        void multiply(Likely last) {
            factors_.set(n_, m_, last);
            factors_.apply(places_, first, direction_.fertilities, settings_.fertility,
                           table.data());
        }
        void posteriors(bool hmm, float* out) {
            const auto p0 = static_cast<float>(settings_.p0);
            if (!hmm) return model1_posteriors(table.data(), m_, n_, p0, out);
            steps_.set(places_, n_);
            trellis_.posteriors(table.data(), m_, n_, out);
        }
        void count(bool hmm, const float* posteriors) {
            for (int64_t j = 0; j < m_; ++j) {
                double null = 1.0;
                for (int64_t i = 0; i < n_; ++i) null -= posteriors[j * n_ + i];
                direction_.null.expect(words_[j], std::max(null, 0.0));
            }
            if (hmm) direction_.jumps.add(trellis_.jumps(), places_);
        }
        template <class Likely>
        void count_fertilities(Likely now) {
            factors_.set(n_, m_, now);
            factors_.count(places_, direction_.fertilities);
        }

        std::vector<float> table;    // t / n, with one unused place in front of every row
        std::vector<int64_t> first;  // the first place of the same word

      private:
        Direction& direction_;
        const ModelSettings& settings_;
        WordSteps steps_;
        Trellis<WordSteps> trellis_;
        FertilityFactors factors_;
        const int32_t *places_ = nullptr, *words_ = nullptr;
        int64_t n_ = 0, m_ = 0;
    };

    // The posteriors of both directions for one sentence pair.
    class View {
        // The last posteriors of places and words, in each direction.
        auto forward() const {
            return [this](int64_t i, int64_t j) {
                return Posterior::part(last_[i * m_ + j].forward);
            };
        }
        auto backward() const {
            return [this](int64_t j, int64_t i) {
                return Posterior::part(last_[i * m_ + j].backward);
            };
        }

      public:
        View(FertilityAligner& aligner, Stage stage)
            : aligner_(aligner), model_(aligner.model_), stage_(stage),
              ahead_(model_.ahead, model_.settings), back_(model_.back, model_.settings) {}

        Beliefs& look(int64_t s) {
            const Bitext& text = aligner_.text_;
            n_ = text.source.length(s);
            m_ = text.pivot.length(s);
            source_ = text.source.begin(s);
            pivot_ = text.pivot.begin(s);
            cells_ = aligner_.index_.cells(s, cell_buffer_);
            last_ = aligner_.last_ + aligner_.index_.start(s);
            ahead_.set(source_, n_, pivot_, m_);
            back_.set(pivot_, m_, source_, n_);
            translate();
            if (stage_.fertility) {
                ahead_.multiply(forward());
                back_.multiply(backward());
            }
            beliefs_.resize(n_, m_);
            ahead_.posteriors(stage_.hmm, beliefs_.ahead.data());
            back_.posteriors(stage_.hmm, beliefs_.backward.data());
            return beliefs_;
        }

        // Counts the links and stores the posteriors; counts fertilities only if requested.
        void count(bool fertilities) {
            sums_.assign(n_ + m_, 0);
            for (int64_t i = 0; i < n_; ++i)
                for (int64_t j = 0; j < m_; ++j) {
                    Posterior& now = last_[i * m_ + j];
                    now = {Posterior::to_fixed(beliefs_.of_source(i, j)),
                           Posterior::to_fixed(beliefs_.of_pivot(i, j))};
                    const int64_t both = now.agreed(aligner_.agreement_);
                    aligner_.counts_.add(cells_[i * m_ + j], both);
                    sums_[i] += both;
                    sums_[n_ + j] += both;
                }
            for (int64_t i = 0; i < n_; ++i)
                model_.ahead.new_linked.add_fixed_point(source_[i], sums_[i]);
            for (int64_t j = 0; j < m_; ++j)
                model_.back.new_linked.add_fixed_point(pivot_[j], sums_[n_ + j]);
            ahead_.count(stage_.hmm, beliefs_.ahead.data());
            back_.count(stage_.hmm, beliefs_.backward.data());
            if (!fertilities) return;
            ahead_.count_fertilities(forward());
            back_.count_fertilities(backward());
        }

      private:
        // t(f|e) / n(f) in both directions; 1 before the first counts.
        void translate() {
            if (!model_.counted()) {
                std::fill(ahead_.table.begin(), ahead_.table.end(), 1.0f);
                std::fill(back_.table.begin(), back_.table.end(), 1.0f);
                return;
            }
            take_out();
            over_.resize(n_ + m_);
            const Direction &ahead = model_.ahead, &back = model_.back;
            for (int64_t i = 0; i < n_; ++i)
                over_[i] = over(ahead, false, source_[i], sums_[ahead_.first[i]]);
            for (int64_t j = 0; j < m_; ++j)
                over_[n_ + j] = over(back, true, pivot_[j], sums_[n_ + back_.first[j]]);
            for (int64_t i = 0; i < n_; ++i) {
                const int32_t twin = model_.twin(source_[i]);
                const float null = back.null.over(source_[i]);
                const int64_t* const sentence_counts = own_counts_.data() + ahead_.first[i] * m_;
                for (int64_t j = 0; j < m_; ++j) {
                    const int64_t count =
                        aligner_.counts_[cells_[i * m_ + j]] - sentence_counts[back_.first[j]];
                    const double sum = static_cast<double>(count) * (1 / posterior_one) +
                                       model_.settings.alpha +
                                       (pivot_[j] == twin ? model_.settings.identical : 0.0);
                    const auto c = static_cast<float>(sum);
                    ahead_.table[j * (n_ + 1) + i + 1] =
                        c * over_[i] * ahead.null.over(pivot_[j]);
                    back_.table[i * (m_ + 1) + j + 1] = c * over_[n_ + j] * null;
                }
            }
        }

        // C_s(e, f) at the first places of e and f, and C_s(e) and C_s(f).
        void take_out() {
            own_counts_.assign(n_ * m_, 0);
            sums_.assign(n_ + m_, 0);
            for (int64_t i = 0; i < n_; ++i) {
                int64_t* const row = own_counts_.data() + ahead_.first[i] * m_;
                for (int64_t j = 0; j < m_; ++j) {
                    aligner_.counts_.prefetch(cells_[i * m_ + j]);
                    const int64_t both = last_[i * m_ + j].agreed(aligner_.agreement_);
                    row[back_.first[j]] += both;
                    sums_[ahead_.first[i]] += both;
                    sums_[n_ + back_.first[j]] += both;
                }
            }
        }

        // 1 / (C(e) - C_s(e) + alpha V + k_e)
        float over(const Direction& direction, bool pivot, int32_t word,
                   int64_t sentence_count) const {
            const auto other_count = static_cast<double>(direction.linked[word] - sentence_count);
            return static_cast<float>(1.0 /
                                      (other_count / posterior_one + model_.added(pivot, word)));
        }

        FertilityAligner& aligner_;
        WordModel& model_;
        const Stage stage_;
        Side ahead_, back_;
        Beliefs beliefs_;
        int64_t n_ = 0, m_ = 0;
        const int32_t *source_ = nullptr, *pivot_ = nullptr, *cells_ = nullptr;
        Posterior* last_ = nullptr;
        std::vector<int32_t> cell_buffer_;
        std::vector<int64_t> own_counts_, sums_;
        std::vector<float> over_;
    };

    // The E-step of a run of sentence pairs; several threads may process different runs at once.
    void expect(int64_t start, int64_t stop, Stage stage, bool fertilities) {
        View view(*this, stage);
        for (int64_t s = start; s < stop; ++s) {
            if (!text_.takes_part(s)) continue;
            view.look(s);
            view.count(fertilities);
        }
    }

    // Makes the new counts visible to the next iteration; the model is updated separately.
    void update() { counts_.update(); }

    LinkRows decode(int64_t start, int64_t stop, Stage stage, Decode rule, double threshold) {
        LinkRows rows;
        View view(*this, stage);
        for (int64_t s = start; s < stop; ++s) {
            if (text_.takes_part(s)) view.look(s).links(rule, threshold, rows);
            rows.ends.push_back(static_cast<int64_t>(rows.source.size()));
        }
        return rows;
    }

  private:
    const Bitext text_;
    WordModel& model_;
    const Agreement agreement_;
    const PairIndex index_;
    PairCounts counts_;  // C(e, f) of every pair
    std::vector<Posterior> own_counts_;
    Posterior* const last_;
};

}  // namespace karat::paraphrase
