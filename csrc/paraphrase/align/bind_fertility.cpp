// Python bindings of the fertility aligner.
#include <functional>
#include <memory>
#include <vector>

#include "core/watch.hpp"
#include "paraphrase/align/bind.hpp"
#include "paraphrase/align/fertility_aligner.hpp"

namespace karat::paraphrase {
namespace {

using Kept = nb::ndarray<uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T, class From>
std::vector<T> listed(const From& array) {
    return std::vector<T>(array.data(), array.data() + array.shape(0));
}

class PyWordModel {
  public:
    PyWordModel(Offsets source, Offsets pivot, Ids twins, double p0, double spread, double alpha,
                double identical, double jumps, double fertility) {
        if (twins.shape(0) != source.shape(0))
            throw nb::value_error("expected one twin for each source word");
        for (size_t e = 0; e < twins.shape(0); ++e)
            if (twins(e) < -1 || twins(e) >= static_cast<int64_t>(pivot.shape(0)))
                throw nb::value_error("no such twin");
        const ModelSettings settings{p0, spread, alpha, identical, jumps, fertility};
        model = std::make_unique<WordModel>(listed<int64_t>(source), listed<int64_t>(pivot),
                                            listed<int32_t>(twins), settings);
    }
    void update(bool hmm, bool fertility) { model->update(hmm, fertility); }

    // n(f) of a pivot word, or n(e) of a source word.
    double null(bool backward, int32_t word) const {
        const Direction& side = of(backward);
        check(word, backward ? model->source_words() : model->pivot_words());
        return 1.0 / side.null.over(word);
    }
    // The weights of jumps from a source word, or a pivot word; word -1 is the start.
    Array<double> jumps(bool backward, int32_t word) const {
        if (word != WordJumps::start) check(word, places(backward));
        const Jumps& learned = of(backward).jumps[word];
        return give(std::vector<double>(learned.weight, learned.weight + Jumps::buckets));
    }
    // nu of a source word, or a pivot word, up to a factor.
    Array<double> fertility(bool backward, int32_t word) const {
        check(word, places(backward));
        std::vector<double> probabilities;
        for (int phi = 0; phi < Fertilities::sizes; ++phi)
            probabilities.push_back(of(backward).fertilities.nu(word, phi, 0));
        return give(std::move(probabilities));
    }

    std::unique_ptr<WordModel> model;

  private:
    const Direction& of(bool backward) const { return backward ? model->back : model->ahead; }
    size_t places(bool backward) const {
        return backward ? model->pivot_words() : model->source_words();
    }
    static void check(int32_t word, size_t words) {
        if (word < 0 || static_cast<size_t>(word) >= words) throw nb::index_error("no such word");
    }
};

// Keeps the arrays of the aligner alive.
class PyFertilityAligner {
  public:
    PyFertilityAligner(PyWordModel& model, Ids s_ids, Offsets s_offsets, Ids p_ids,
                       Offsets p_offsets, int64_t longest, int64_t most_cells,
                       const std::string& agreement)
        : s_ids_(s_ids), p_ids_(p_ids), s_offsets_(s_offsets), p_offsets_(p_offsets),
          model_(*model.model) {
        const Bitext text = checked(longest);
        const Agreement rule = agreement_named(agreement);
        Poll poll{nb::none()};
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        aligner_ = std::make_unique<FertilityAligner>(text, model_, most_cells, rule, watch);
    }

    // A part of a text: `cells` are the indices in `counts` of the cells of each sentence pair, and
    // `posteriors` are the previous posteriors, which are replaced.
    PyFertilityAligner(PyWordModel& model, Ids s_ids, Offsets s_offsets, Ids p_ids,
                       Offsets p_offsets, int64_t longest, const std::string& agreement, Ids cells,
                       Offsets counts, Kept posteriors)
        : s_ids_(s_ids), p_ids_(p_ids), s_offsets_(s_offsets), p_offsets_(p_offsets),
          cells_(cells), posteriors_(posteriors), model_(*model.model) {
        const Bitext text = checked(longest);
        const size_t size = cells.shape(0);
        if (text.all_cells() != static_cast<int64_t>(size) || posteriors.shape(0) != size ||
            posteriors.shape(1) != 2)
            throw nb::value_error("the cells or the posteriors do not fit the text");
        for (size_t k = 0; k < size; ++k)
            if (cells(k) < 0 || static_cast<size_t>(cells(k)) >= counts.shape(0))
                throw nb::value_error("a cell has no entry");
        static_assert(sizeof(Posterior) == 2 * sizeof(uint16_t));
        aligner_ = std::make_unique<FertilityAligner>(
            text, model_, agreement_named(agreement), cells.data(), counts.data(),
            counts.shape(0), reinterpret_cast<Posterior*>(posteriors.data()));
        part_ = true;
    }

    void expect(int64_t start, int64_t stop, bool hmm, bool fertility, bool count_fertilities) {
        check(start, stop);
        nb::gil_scoped_release release;
        aligner_->expect(start, stop, {hmm, fertility}, count_fertilities);
    }
    Array<int64_t> counts(int64_t start, int64_t stop) const {
        return whole_counts(aligner_->counts(), start, stop);
    }
    void update() {
        if (part_) throw nb::value_error("this is an aligner of a part of a text");
        nb::gil_scoped_release release;
        aligner_->update();
    }
    nb::tuple decode(int64_t start, int64_t stop, bool hmm, bool fertility,
                     const std::string& rule, double threshold) {
        check(start, stop);
        const Decode decoder = decode_named(rule);
        LinkRows links;
        {
            nb::gil_scoped_release release;
            links = aligner_->decode(start, stop, {hmm, fertility}, decoder, threshold);
        }
        return rows_of(std::move(links));
    }
    nb::tuple beliefs(int64_t s, bool hmm, bool fertility) {
        check(s, s + 1);
        if (!aligner_->text().takes_part(s)) throw nb::value_error("this pair takes no part");
        FertilityAligner::View view(*aligner_, {hmm, fertility});
        return matrices(view.look(s));
    }
    // C(e, f) of a pair of words as an integer multiple of 2^-15; 0 if they never co-occur.
    int64_t count(int32_t e, int32_t f) const {
        if (part_) throw nb::value_error("this is an aligner of a part of a text");
        if (e < 0 || f < 0 || static_cast<size_t>(e) >= model_.source_words() ||
            static_cast<size_t>(f) >= model_.pivot_words())
            throw nb::index_error("no such word");
        const int32_t at = aligner_->index().find(e, f);
        return at < 0 ? 0 : aligner_->counts()[at];
    }
    size_t pairs() const { return aligner_->counts().size(); }
    size_t nbytes() const { return aligner_->bytes(); }

  private:
    Bitext checked(int64_t longest) const {
        const Bitext text = bitext(s_ids_, s_offsets_, p_ids_, p_offsets_, longest);
        if (static_cast<size_t>(words_in(s_ids_)) > model_.source_words() ||
            static_cast<size_t>(words_in(p_ids_)) > model_.pivot_words())
            throw nb::value_error("the text has words that the model lacks");
        return text;
    }
    void check(int64_t start, int64_t stop) const {
        if (start < 0 || start > stop || stop > aligner_->text().size)
            throw nb::index_error("no such sentences");
    }

    Ids s_ids_, p_ids_;
    Offsets s_offsets_, p_offsets_;
    Ids cells_;
    Kept posteriors_;
    WordModel& model_;
    bool part_ = false;
    std::unique_ptr<FertilityAligner> aligner_;
};

}  // namespace

void bind_fertility_aligner(nb::module_& m) {
    nb::class_<PyWordModel>(m, "WordModel")
        .def(nb::init<Offsets, Offsets, Ids, double, double, double, double, double, double>(),
             "source"_a, "pivot"_a, "twins"_a, "p0"_a, "spread"_a, "alpha"_a, "identical"_a,
             "jumps"_a, "fertility"_a)
        .def("update", &PyWordModel::update, "hmm"_a, "fertility"_a)
        .def("null", &PyWordModel::null, "backward"_a, "word"_a)
        .def("jumps", &PyWordModel::jumps, "backward"_a, "word"_a)
        .def("fertility", &PyWordModel::fertility, "backward"_a, "word"_a);
    nb::class_<PyFertilityAligner>(m, "FertilityAligner")
        .def(nb::init<PyWordModel&, Ids, Offsets, Ids, Offsets, int64_t, int64_t,
                      const std::string&>(),
             nb::keep_alive<1, 2>(), "model"_a, "s_ids"_a, "s_offsets"_a, "p_ids"_a,
             "p_offsets"_a, "longest"_a, "most_cells"_a, "agreement"_a)
        .def(nb::init<PyWordModel&, Ids, Offsets, Ids, Offsets, int64_t, const std::string&, Ids,
                      Offsets, Kept>(),
             nb::keep_alive<1, 2>(), "model"_a, "s_ids"_a, "s_offsets"_a, "p_ids"_a,
             "p_offsets"_a, "longest"_a, "agreement"_a, "cells"_a, "counts"_a, "posteriors"_a)
        .def("expect", &PyFertilityAligner::expect, "start"_a, "stop"_a, "hmm"_a, "fertility"_a,
             "count_fertilities"_a)
        .def("counts", &PyFertilityAligner::counts, "start"_a, "stop"_a)
        .def("update", &PyFertilityAligner::update)
        .def("decode", &PyFertilityAligner::decode, "start"_a, "stop"_a, "hmm"_a, "fertility"_a,
             "rule"_a, "threshold"_a)
        .def("beliefs", &PyFertilityAligner::beliefs, "sentence"_a, "hmm"_a, "fertility"_a)
        .def("count", &PyFertilityAligner::count, "source"_a, "pivot"_a)
        .def_prop_ro("pairs", &PyFertilityAligner::pairs)
        .def_prop_ro("nbytes", &PyFertilityAligner::nbytes);
}

}  // namespace karat::paraphrase
