// Python bindings of nuggets: scores of responses; windows, sentences and characters; nearness.
#include <memory>

#include "core/bind.hpp"
#include "nuggets/characters.hpp"
#include "nuggets/classifier.hpp"
#include "nuggets/likeness.hpp"
#include "nuggets/nearness.hpp"
#include "nuggets/taught_classifier.hpp"
#include "nuggets/windows.hpp"

namespace karat {
namespace {

using Flags = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The starts of every question's nuggets and of their texts, and the responses to the question.
struct NuggetKey {
    Ragged texts;
    const int64_t *nuggets, *questions;
    size_t size;  // questions

    NuggetKey(const Ids& ids, const Offsets& offsets, const Offsets& nuggets,
              const Offsets& questions)
        : texts(ragged(ids, offsets)), nuggets(nuggets.data()), questions(questions.data()) {
        check_starts(nuggets, nuggets.shape(0) - 1, offsets.shape(0) - 1);
        check_starts(questions, questions.shape(0) - 1, nuggets.shape(0) - 1);
        size = questions.shape(0) - 1;
    }
    int64_t count(size_t q) const { return questions[q + 1] - questions[q]; }
    // Responses x nuggets of all questions.
    size_t cells(const Offsets& starts) const {
        int64_t n_cells = 0;
        for (size_t q = 0; q < size; ++q) n_cells += (starts(q + 1) - starts(q)) * count(q);
        return static_cast<size_t>(n_cells);
    }
    NuggetIndex index(size_t q, const double* weights, const NuggetRules& rules) const {
        return {texts, nuggets + questions[q], count(q), weights, rules};
    }
};

void check_weights(const Ids& ids, const Numbers& weights, const NuggetRules& rules) {
    if (rules.order < 1) throw nb::value_error("the order must be at least 1");
    for (size_t i = 0; rules.sum && i < ids.shape(0); ++i)
        if (ids(i) < 0 || static_cast<size_t>(ids(i)) >= weights.shape(0))
            throw nb::value_error("a word has no weight");
}

// Responses x nuggets of every question, concatenated; without weights every n-gram counts 1.
Array<double> nugget_scores(Ids r_ids, Offsets r_offsets, Offsets starts, Ids t_ids,
                            Offsets t_offsets, Offsets nuggets, Offsets questions, Numbers weights,
                            int order, bool once, bool share, nb::object check) {
    const NuggetRules rules{order, weights.shape(0) > 0, once, share};
    const NuggetKey key(t_ids, t_offsets, nuggets, questions);
    const Ragged responses = ragged(r_ids, r_offsets);
    check_starts(starts, key.size, r_offsets.shape(0) - 1);
    check_weights(t_ids, weights, rules);
    const size_t cells = key.cells(starts);
    std::vector<double> scores(cells);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        double* row = scores.data();
        for (size_t q = 0; q < key.size; ++q) {
            if (starts(q) == starts(q + 1)) continue;
            NuggetIndex index = key.index(q, weights.data(), rules);
            for (int64_t i = starts(q); i < starts(q + 1); ++i, row += key.count(q)) {
                index.scores(responses.begin(i), responses.length(i), row);
                if (i % 1024 == 1023) poll();
            }
        }
    }
    return give(std::move(scores), {cells});
}

// A row for every response and text of its question, in this order. `make(first, last)` returns an
// object that measures responses against these texts; `measure` applies it to a response and writes
// from the response's first row.
template <class Make, class Measure>
Array<double> nugget_rows(Offsets starts, Offsets questions, size_t columns, nb::object check,
                          const Make& make, const Measure& measure) {
    const size_t count = questions.shape(0) - 1;
    size_t rows = 0;
    for (size_t q = 0; q < count; ++q)
        rows += static_cast<size_t>(starts(q + 1) - starts(q)) *
                static_cast<size_t>(questions(q + 1) - questions(q));
    std::vector<double> table(rows * columns);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        double* row = table.data();
        for (size_t q = 0; q < count; ++q) {
            if (starts(q) == starts(q + 1)) continue;
            const int64_t first = questions(q), last = questions(q + 1);
            auto worker = make(first, last);
            for (int64_t i = starts(q); i < starts(q + 1); ++i, row += (last - first) * columns) {
                measure(worker, i, row);
                if (i % 256 == 255) poll();
            }
        }
    }
    return give(std::move(table), {rows, columns});
}

// Shares in windows, longest run, worst miss.
Array<double> nugget_windows(Ids r_ids, Offsets r_offsets, Offsets starts, Ids t_ids,
                             Offsets t_offsets, Offsets questions, Table weights, Draws windows,
                             nb::object check) {
    const Ragged responses = ragged(r_ids, r_offsets), texts = ragged(t_ids, t_offsets);
    const size_t count = questions.shape(0) - 1;
    check_starts(questions, count, t_offsets.shape(0) - 1);
    check_starts(starts, count, r_offsets.shape(0) - 1);
    if (weights.shape(0) != t_ids.shape(0) || windows.shape(0) != t_offsets.shape(0) - 1)
        throw nb::value_error("expected weights for every token and windows for every text");
    const size_t kinds = weights.shape(1), sizes = windows.shape(1);
    return nugget_rows(
        starts, questions, kinds * sizes + 2, std::move(check),
        [&](int64_t first, int64_t last) {
            return NuggetWindows(texts, first, last, weights.data(), kinds, windows.data(), sizes);
        },
        [&](NuggetWindows& worker, int64_t i, double* row) {
            worker.measure(responses.begin(i), responses.length(i), row);
        });
}

// The same measures for the best run of sentences; the sentences of response i start at bounds[i].
Array<double> nugget_sentences(Ids s_ids, Offsets s_offsets, Offsets bounds, Offsets starts,
                               Ids t_ids, Offsets t_offsets, Offsets questions, Table weights,
                               int64_t together, nb::object check) {
    const Ragged sentences = ragged(s_ids, s_offsets), texts = ragged(t_ids, t_offsets);
    const size_t count = questions.shape(0) - 1, responses = bounds.shape(0) - 1;
    check_starts(questions, count, t_offsets.shape(0) - 1);
    check_starts(starts, count, responses);
    check_starts(bounds, responses, s_offsets.shape(0) - 1);
    if (weights.shape(0) != t_ids.shape(0) || together < 1)
        throw nb::value_error("expected weights for every token, and at least 1 sentence");
    const size_t kinds = weights.shape(1);
    const std::vector<int64_t> unbounded(t_offsets.shape(0) - 1, 0);
    return nugget_rows(
        starts, questions, kinds + 2, std::move(check),
        [&](int64_t first, int64_t last) {
            return NuggetWindows(texts, first, last, weights.data(), kinds, unbounded.data(), 1);
        },
        [&](NuggetWindows& worker, int64_t i, double* row) {
            worker.measure_sentences(sentences, bounds(i), bounds(i + 1), together, row);
        });
}

// Shares of character 4-grams in a window, and in the whole response.
Array<double> nugget_characters(Ids r_ids, Offsets r_offsets, Offsets starts, Ids t_ids,
                                Offsets t_offsets, Offsets questions, nb::object check) {
    const Ragged responses = ragged(r_ids, r_offsets), texts = ragged(t_ids, t_offsets);
    const size_t count = questions.shape(0) - 1;
    check_starts(questions, count, t_offsets.shape(0) - 1);
    check_starts(starts, count, r_offsets.shape(0) - 1);
    return nugget_rows(
        starts, questions, NuggetCharacters::columns, std::move(check),
        [&](int64_t first, int64_t last) { return NuggetCharacters(texts, first, last); },
        [&](NuggetCharacters& worker, int64_t i, double* row) {
            worker.measure(responses.begin(i), responses.length(i), row);
        });
}

// `nugget_scores` where responses that carry a nugget (outside the fold of the scored response)
// describe it or determine how informative n-grams are. `carried` has a flag for every cell, `fold`
// a number for every response. One row for each fold left out for all responses; -1 for no fold.
Array<double> nugget_taught(Ids r_ids, Offsets r_offsets, Offsets starts, Ids t_ids,
                            Offsets t_offsets, Offsets nuggets, Offsets questions, Flags carried,
                            Offsets fold, Offsets without, Numbers weights, int order, bool once,
                            bool share, bool describe, bool inform, nb::object check) {
    const TaughtRules rules{{order, weights.shape(0) > 0, once, share}, describe, inform};
    const NuggetKey key(t_ids, t_offsets, nuggets, questions);
    const Ragged responses = ragged(r_ids, r_offsets);
    check_starts(starts, key.size, r_offsets.shape(0) - 1);
    check_weights(t_ids, weights, rules);
    check_weights(r_ids, weights, rules);
    const size_t cells = key.cells(starts);
    if (carried.shape(0) != cells || fold.shape(0) != r_offsets.shape(0) - 1)
        throw nb::value_error("expected a flag for every cell and a fold for every response");
    for (size_t i = 0; i < fold.shape(0); ++i)
        if (fold(i) < 0) throw nb::value_error("expected folds that are 0 or more");
    std::vector<double> scores(cells * without.shape(0));
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        size_t cell = 0;
        for (size_t q = 0; q < key.size; ++q) {
            if (starts(q) == starts(q + 1)) continue;
            TaughtNuggets taught(key.texts, nuggets.data() + questions(q), key.count(q), responses,
                                 starts(q), starts(q + 1), carried.data() + cell,
                                 fold.data() + starts(q), weights.data(), rules);
            for (size_t k = 0; k < without.shape(0); ++k)
                taught.scores(without(k), scores.data() + k * cells + cell, poll);
            cell += static_cast<size_t>((starts(q + 1) - starts(q)) * key.count(q));
        }
    }
    return give(std::move(scores), {without.shape(0), cells});
}

// Responses start … end - 1, by their words.
NuggetLikeness* likeness(Ids ids, Offsets offsets, int64_t start, int64_t end) {
    const Ragged words = ragged(ids, offsets);
    if (start < 0 || start > end || static_cast<size_t>(end) >= offsets.shape(0))
        throw nb::value_error("no such responses");
    nb::gil_scoped_release release;
    return new NuggetLikeness(words, start, end);
}

Array<double> cosines(const NuggetLikeness& likeness, size_t first) {
    if (first > likeness.responses()) throw nb::value_error("expected at most all responses");
    std::vector<double> values(likeness.responses() * first);
    {
        nb::gil_scoped_release release;
        likeness.cosines(first, values.data());
    }
    return give(std::move(values), {likeness.responses(), first});
}

// Evidence of words for nuggets: responses x nuggets; `rows` are the judged responses, each with a
// row of 0 or 1.
Array<double> bayes(const NuggetLikeness& likeness, Offsets rows, Table yes, Table judged,
                    Offsets fold) {
    const size_t count = rows.shape(0), nuggets = yes.shape(1), n = likeness.responses();
    if (yes.shape(0) != count || judged.shape(0) != count || judged.shape(1) != nuggets ||
        fold.shape(0) != n)
        throw nb::value_error("expected a verdict for every judged response, and all folds");
    for (size_t k = 0; k < count; ++k)
        if (rows(k) < 0 || static_cast<size_t>(rows(k)) >= n)
            throw nb::value_error("no such response");
    std::vector<double> evidence(n * nuggets);
    {
        nb::gil_scoped_release release;
        likeness.bayes({rows.data(), count, yes.data(), judged.data(), nuggets, fold.data()},
                       evidence.data());
    }
    return give(std::move(evidence), {n, nuggets});
}

// The responses to one question: the sentences of response i start at bounds[i], the texts of
// nugget g at nuggets[g]; units in more than `most` responses are ignored.
NuggetNearness* nearness(Ids s_ids, Offsets s_offsets, Offsets bounds, Ids t_ids, Offsets t_offsets,
                         Offsets nuggets, Table relevance, int64_t order, int64_t most) {
    const Ragged sentences = ragged(s_ids, s_offsets), texts = ragged(t_ids, t_offsets);
    const size_t count = nuggets.shape(0) - 1, responses = bounds.shape(0) - 1;
    check_starts(nuggets, count, t_offsets.shape(0) - 1);
    check_starts(bounds, responses, s_offsets.shape(0) - 1);
    if (relevance.shape(0) != s_offsets.shape(0) - 1 || relevance.shape(1) != count)
        throw nb::value_error("expected a relevance for every sentence and nugget");
    if (order < 1 || order > 3) throw nb::value_error("expected units of 1 to 3 tokens");
    nb::gil_scoped_release release;
    return new NuggetNearness(sentences, bounds.data(), static_cast<int64_t>(responses), texts,
                              nuggets.data(), count, relevance.data(), static_cast<int>(order),
                              most);
}

// Similarity of the first responses: first x first x nuggets.
Array<double> nearness_table(const NuggetNearness& nearness, size_t first, nb::object check) {
    if (first > nearness.responses()) throw nb::value_error("expected at most all responses");
    std::vector<double> table(first * first * nearness.nuggets());
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        nearness.measure(first, table.data(), poll);
    }
    return give(std::move(table), {first, first, nearness.nuggets()});
}

// Responses x nuggets: sums over the first responses, each of which has a row of values.
Array<double> nearness_sum(const NuggetNearness& nearness, Table values, nb::object check) {
    const size_t first = values.shape(0);
    if (first > nearness.responses() || values.shape(1) != nearness.nuggets())
        throw nb::value_error("expected values for some responses and all nuggets");
    std::vector<double> sums(nearness.responses() * nearness.nuggets());
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        nearness.sum(values.data(), first, sums.data(), poll);
    }
    return give(std::move(sums), {nearness.responses(), nearness.nuggets()});
}

}  // namespace

void bind_nuggets(nb::module_& m) {
    m.def("nugget_scores", &nugget_scores, "r_ids"_a, "r_offsets"_a, "starts"_a, "t_ids"_a,
          "t_offsets"_a, "nuggets"_a, "questions"_a, "weights"_a, "order"_a, "once"_a, "share"_a,
          "check"_a.none());
    m.def("nugget_windows", &nugget_windows, "r_ids"_a, "r_offsets"_a, "starts"_a, "t_ids"_a,
          "t_offsets"_a, "questions"_a, "weights"_a, "windows"_a, "check"_a.none());
    m.def("nugget_sentences", &nugget_sentences, "s_ids"_a, "s_offsets"_a, "bounds"_a, "starts"_a,
          "t_ids"_a, "t_offsets"_a, "questions"_a, "weights"_a, "together"_a, "check"_a.none());
    m.def("nugget_characters", &nugget_characters, "r_ids"_a, "r_offsets"_a, "starts"_a, "t_ids"_a,
          "t_offsets"_a, "questions"_a, "check"_a.none());
    m.def("nugget_taught", &nugget_taught, "r_ids"_a, "r_offsets"_a, "starts"_a, "t_ids"_a,
          "t_offsets"_a, "nuggets"_a, "questions"_a, "carried"_a, "fold"_a, "without"_a,
          "weights"_a, "order"_a, "once"_a, "share"_a, "describe"_a, "inform"_a, "check"_a.none());
    m.def("nugget_likeness", &likeness, "ids"_a, "offsets"_a, "start"_a, "end"_a,
          nb::rv_policy::take_ownership);
    nb::class_<NuggetLikeness>(m, "NuggetLikeness", "How alike whole responses are.")
        .def("cosines", &cosines, "first"_a)
        .def("bayes", &bayes, "rows"_a, "yes"_a, "judged"_a, "fold"_a);
    m.def("nugget_nearness", &nearness, "s_ids"_a, "s_offsets"_a, "bounds"_a, "t_ids"_a,
          "t_offsets"_a, "nuggets"_a, "relevance"_a, "order"_a, "most"_a,
          nb::rv_policy::take_ownership);
    nb::class_<NuggetNearness>(m, "NuggetNearness", "How alike responses are for each nugget.")
        .def("table", &nearness_table, "first"_a, "check"_a.none())
        .def("sum", &nearness_sum, "values"_a, "check"_a.none());
}

}  // namespace karat
