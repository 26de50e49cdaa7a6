// Python bindings of the search for paraphrases.
#include "lm/bind.hpp"
#include "paraphrase/generate/paraphraser.hpp"
#include "paraphrase/table/bind.hpp"

namespace karat::paraphrase {
namespace {

// The binding keeps the tables alive.
struct PyParaphraser {
    const PyPhraseTable& rewrites;
    const PyModel& model;
    SearchRules rules;

    PyParaphraser(const PyPhraseTable& r, const PyModel& m, double weight, int32_t beam,
                  int32_t changes)
        : rewrites(r), model(m), rules{weight, beam, changes} {
        if (beam < 1 || changes < 0) throw nb::value_error("a beam of no hypotheses");
    }
};

// Results in columns.
struct Results {
    std::vector<int64_t> sentences{0}, starts{0};
    std::vector<double> scores;
    std::vector<int32_t> changes, lengths, edges;

    void add(const std::vector<Rewriting>& rewritings) {
        for (const Rewriting& rewriting : rewritings) {
            scores.push_back(rewriting.score);
            changes.push_back(rewriting.changes);
            for (const Step& step : rewriting.steps)
                lengths.push_back(step.length), edges.push_back(step.edge);
            starts.push_back(static_cast<int64_t>(lengths.size()));
        }
        sentences.push_back(static_cast<int64_t>(scores.size()));
    }
};

// At most `most` rewritings of each sentence: their starts; their scores, numbers of changed words
// and starts of their steps; for each step, the number of original words and the rewrite.
nb::tuple search(const PyParaphraser& self, Ids ids, Offsets offsets, Ids source, Ids self_ids,
                 Ids lm, size_t most, nb::object check) {
    constexpr int64_t work = 64;  // cost of a word, relative to other loops
    Sentences sentences(ids, offsets, source, self_ids);
    for (size_t i = 0; i < self_ids.shape(0); ++i)
        if (self_ids(i) < 0 || static_cast<size_t>(self_ids(i)) >= lm.shape(0))
            throw nb::value_error("a word that is not in the map to the language model");
    if (lm.shape(0) < static_cast<size_t>(self.rewrites.pivot_words))
        throw nb::value_error("the map to the language model lacks words of rewrites");
    Pace pace(std::move(check));
    Results results;
    {
        nb::gil_scoped_release release;
        Paraphraser paraphraser(self.rewrites.table, self.model.model, self.rules);
        for (size_t i = 0; i < sentences.size(); ++i) {
            const Sentence sentence{sentences.source(i), sentences.self_ids(i), lm.data()};
            results.add(paraphraser.search(sentence, most));
            pace.walk(work * sentences.length(i));
        }
    }
    return nb::make_tuple(give(std::move(results.sentences)), give(std::move(results.scores)),
                          give(std::move(results.changes)), give(std::move(results.starts)),
                          give(std::move(results.lengths)), give(std::move(results.edges)));
}

}  // namespace

void bind_generate(nb::module_& m) {
    nb::class_<PyParaphraser>(m, "Paraphraser")
        .def(nb::init<const PyPhraseTable&, const PyModel&, double, int32_t, int32_t>(),
             "rewrites"_a, "model"_a, "weight"_a, "beam"_a, "changes"_a, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>())
        .def("search", &search, "ids"_a, "offsets"_a, "source"_a, "own"_a, "lm"_a, "most"_a,
             "check"_a.none());
}

}  // namespace karat::paraphrase
