// The Python face of the search for paraphrases.
#include "lm/bind.hpp"
#include "paraphrase/generate/paraphraser.hpp"
#include "paraphrase/table/bind.hpp"

namespace karat::paraphrase {
namespace {

// What is searched through is kept alive by the binding.
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

// The words of sentences by three maps, which are checked before anything is read through them.
class Sources {
  public:
    Sources(const Ids& ids, const Offsets& offsets, const Ids& source, const Ids& own,
            const Ids& lm)
        : ids_(ids.data()), offsets_(offsets.data()), source_(source.data()), own_(own.data()) {
        const size_t n = offsets.shape(0), words = source.shape(0);
        if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(ids.shape(0)))
            throw nb::value_error("the offsets do not fit the ids");
        for (size_t i = 0; i + 1 < n; ++i)
            if (offsets(i) > offsets(i + 1)) throw nb::value_error("offsets out of order");
        if (own.shape(0) != words) throw nb::value_error("two maps of unequal length");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) < 0 || static_cast<size_t>(ids(i)) >= words)
                throw nb::value_error("a word that is not in the map");
        for (size_t i = 0; i < words; ++i)
            if (own(i) < 0 || static_cast<size_t>(own(i)) >= lm.shape(0))
                throw nb::value_error("a word that is not in the map to the language model");
        size_ = n - 1;
    }

    size_t size() const { return size_; }
    void read(size_t i, std::vector<int32_t>& source, std::vector<int32_t>& own) const {
        source.clear(), own.clear();
        for (int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
            source.push_back(source_[ids_[k]]);
            own.push_back(own_[ids_[k]]);
        }
    }

  private:
    const int32_t* ids_;
    const int64_t* offsets_;
    const int32_t *source_, *own_;
    size_t size_;
};

// Results in columns.
struct Results {
    std::vector<int64_t> sentences{0}, starts{0};
    std::vector<double> scores;
    std::vector<int32_t> changes, lengths, edges;

    void add(const std::vector<Rewriting>& found) {
        for (const Rewriting& one : found) {
            scores.push_back(one.score);
            changes.push_back(one.changes);
            for (const Step& step : one.steps)
                lengths.push_back(step.length), edges.push_back(step.edge);
            starts.push_back(static_cast<int64_t>(lengths.size()));
        }
        sentences.push_back(static_cast<int64_t>(scores.size()));
    }
};

template <class T>
Array<T> column(std::vector<T>& data) {
    const size_t n = data.size();
    return give(std::move(data), {n});
}

// For each sentence at most so many rewritings: where they begin; their scores, changed words and
// where their steps begin; of each step the words of the original and the rewrite.
nb::tuple search(const PyParaphraser& self, Ids ids, Offsets offsets, Ids source, Ids own, Ids lm,
                 size_t most, nb::object check) {
    constexpr int64_t work = 64;  // a word here is so many of other loops
    const Sources sources(ids, offsets, source, own, lm);
    if (lm.shape(0) < static_cast<size_t>(self.rewrites.pivot_words))
        throw nb::value_error("the map to the language model lacks words of rewrites");
    Pace pace(std::move(check));
    Results results;
    {
        nb::gil_scoped_release release;
        Paraphraser paraphraser(self.rewrites.table, self.model.model, self.rules);
        std::vector<int32_t> source_words, own_words;
        for (size_t i = 0; i < sources.size(); ++i) {
            sources.read(i, source_words, own_words);
            results.add(paraphraser.search({source_words, own_words, lm.data()}, most));
            pace.walk(work * static_cast<int64_t>(own_words.size()));
        }
    }
    return nb::make_tuple(column(results.sentences), column(results.scores),
                          column(results.changes), column(results.starts),
                          column(results.lengths), column(results.edges));
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
