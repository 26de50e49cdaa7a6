// The stochastic tree model: (l_d, s_d | l_m, s_m), the lexeme and supertag of a daughter given its
// mother's, as a product of factors that back off from lexemes to labels to categories.
//
//   adjunct:  p(label_d | word_m, label_m)      argument:  p(category_d | relation_d, word_m)
//   both:     p(number of daughters_d | label_d)  p(word_d | label_d, word_m)  p(frame_d | word_d)
#pragma once
#include "core/elementary_functions.hpp"
#include "realize/fergus/backoff.hpp"
#include "realize/fergus/supertags.hpp"

namespace karat::fergus {

enum Level {
    adjunct_1, adjunct_2, adjunct_3, adjunct_4,
    free_1, free_2, free_3, free_4,
    argument_1, argument_2, argument_3,
    degree_1, degree_2,
    word_1, word_2, word_3, word_4,
    frame_1, frame_2, frame_3,
    suffix_0, suffix_1, suffix_2, suffix_3,
    side_1, side_2, side_3, side_4, side_5,
    pair_1, pair_2, pair_3, pair_4, pair_5,
    lr_1, lr_2, lr_3,
};

class TreeModel {
  public:
    TreeModel(const Grammar& grammar, const Counts& counts, double words)
        : g_(grammar), n_(counts), words_(words) {}

    static constexpr double k = 5.0;  // the strength of lower levels, chosen on held-out documents
    static int at_most(int32_t n, int32_t most) { return n < most ? n : most; }

    double adjunct(int32_t label, int32_t mother, int32_t mother_word) const {
        return chain(adjunct_1, label, mother, mother_word);
    }

    double free(int32_t label, int32_t mother, int32_t mother_word) const {
        return chain(free_1, label, mother, mother_word);
    }

    double argument(int32_t label, int32_t mother, int32_t mother_word) const {
        const int32_t r = g_.relation(label), c = g_.tag(label);
        double p = 1.0 / g_.tags;
        p = n_.witten_bell(p, context(argument_1, r), c, k);
        p = n_.witten_bell(p, context(argument_2, r, g_.tag(mother)), c, k);
        p = n_.witten_bell(p, context(argument_3, r, g_.tag(mother), mother_word), c, k);
        return quick_log_of(p);
    }

    double degree(int32_t label, int32_t daughters) const {
        const int n = at_most(daughters, 3);
        double p = n_.witten_bell(0.25, context(degree_1, g_.tag(label)), n, k);
        p = n_.witten_bell(p, context(degree_2, label), n, k);
        return quick_log_of(p);
    }

    // p(word | label), not a logarithm, from which `word` continues.
    double word_alone(int32_t word, const int32_t* suffixes, int32_t label) const {
        const int32_t c = g_.tag(label);
        double p = unseen(suffixes, c);
        p = n_.witten_bell(p, context(word_1, c), word, k);
        return n_.witten_bell(p, context(word_2, label), word, k);
    }

    double word(double alone, int32_t word, int32_t label, int32_t mother_tag,
                int32_t mother_word) const {
        double p = n_.witten_bell(alone, context(word_3, label, mother_tag), word, k);
        p = n_.witten_bell(p, context(word_4, label, mother_word), word, k);
        return quick_log_of(p);
    }

    double frame(int32_t frame, int32_t word, int32_t label, int32_t daughters) const {
        const int n = at_most(daughters, 4);
        double p = 1e-6;
        p = n_.witten_bell(p, context(frame_1, g_.tag(label), n), frame, k);
        p = n_.witten_bell(p, context(frame_2, label, n), frame, k);
        p = n_.witten_bell(p, context(frame_3, word, g_.tag(label), n), frame, k);
        return quick_log_of(p);
    }

    // p(category | suffixes), estimated from rare training words.
    double category(const int32_t* suffixes, int32_t c) const {
        double p = prior(c);
        for (int i = 2; i >= 0; --i)
            p = n_.witten_bell(p, context(suffix_3 - i, suffixes[i]), c, k);
        return p;
    }

    double prior(int32_t c) const {
        return n_.witten_bell(1.0 / g_.tags, context(suffix_0), c, k);
    }

    const Grammar& grammar() const { return g_; }

  private:
    int32_t tag_of(int32_t label) const { return label < 0 ? label : g_.tag(label); }

    double chain(int first, int32_t label, int32_t mother, int32_t mother_word) const {
        double p = n_.witten_bell(1e-5, context(first), label, k);
        p = n_.witten_bell(p, context(first + 1, tag_of(mother)), label, k);
        p = n_.witten_bell(p, context(first + 2, mother), label, k);
        p = n_.witten_bell(p, context(first + 3, tag_of(mother), mother_word), label, k);
        return quick_log_of(p);
    }

    // For a word never seen with a category: Bayes' rule over its suffixes.
    double unseen(const int32_t* suffixes, int32_t c) const {
        return category(suffixes, c) / (prior(c) * words_ * g_.tags);
    }

    const Grammar& g_;
    const Counts& n_;
    double words_;
};

// Adds gold trees to the counts; `frames` are the frames of the nodes in the treebank's order.
class TreeCounting {
  public:
    TreeCounting(const Grammar& grammar, Counting& counting) : g_(grammar), n_(counting) {}

    void tree(const TreeNodes& t, const int32_t* frames, const int32_t* rare) {
        const auto daughters = t.daughters();
        for (int32_t i = 0; i < t.size; ++i) {
            const auto degree = static_cast<int32_t>(daughters[i].size());
            node(t, i, frames[i], degree);
            if (rare[i]) suffixes(t, i);
            const int32_t m = t.heads[i];
            edge(t, i, m, m >= 0 && frames[m] != free_frame && g_.is_argument(t.labels[i]));
        }
    }

  private:
    void node(const TreeNodes& t, int32_t i, int32_t frame, int32_t degree) {
        const int32_t label = t.labels[i], c = g_.tag(label);
        n_.note(context(degree_1, c), TreeModel::at_most(degree, 3));
        n_.note(context(degree_2, label), TreeModel::at_most(degree, 3));
        if (frame == free_frame) return;
        const int n = TreeModel::at_most(degree, 4);
        n_.note(context(frame_1, c, n), frame);
        n_.note(context(frame_2, label, n), frame);
        n_.note(context(frame_3, t.words[i], c, n), frame);
    }

    void suffixes(const TreeNodes& t, int32_t i) {
        const int32_t c = g_.tag(t.labels[i]);
        n_.note(context(suffix_0), c);
        for (int s = 0; s < 3; ++s)
            n_.note(context(suffix_3 - s, t.suffixes[3 * i + s]), c);
    }

    void edge(const TreeNodes& t, int32_t d, int32_t m, bool argument) {
        const int32_t label = t.labels[d], word = t.words[d], c = g_.tag(label);
        const int32_t mother = m < 0 ? -1 : t.labels[m], mother_word = m < 0 ? -1 : t.words[m];
        const int32_t mother_tag = m < 0 ? -1 : g_.tag(mother);
        n_.note(context(word_1, c), word);
        n_.note(context(word_2, label), word);
        n_.note(context(word_3, label, mother_tag), word);
        n_.note(context(word_4, label, mother_word), word);
        chain(free_1, label, mother, mother_tag, mother_word);
        if (!argument) return chain(adjunct_1, label, mother, mother_tag, mother_word);
        const int32_t r = g_.relation(label);
        n_.note(context(argument_1, r), c);
        n_.note(context(argument_2, r, mother_tag), c);
        n_.note(context(argument_3, r, mother_tag, mother_word), c);
    }

    void chain(int first, int32_t label, int32_t mother, int32_t tag, int32_t word) {
        n_.note(context(first), label);
        n_.note(context(first + 1, tag), label);
        n_.note(context(first + 2, mother), label);
        n_.note(context(first + 3, tag, word), label);
    }

    const Grammar& g_;
    Counting& n_;
};

}  // namespace karat::fergus
