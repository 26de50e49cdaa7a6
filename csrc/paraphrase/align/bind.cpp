// The Python face of the kernel's part for karat/paraphrase/.
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "core/bind.hpp"
#include "paraphrase/align/joint_aligner.hpp"
#include "paraphrase/align/symmetrizer.hpp"
#include "paraphrase/table/phrase_pairs.hpp"

namespace karat {
namespace {

Ragged checked(const Ids& ids, const Offsets& offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(ids.shape(0)))
        throw nb::value_error("the offsets do not fit the ids");
    for (size_t i = 1; i < n; ++i)
        if (offsets(i - 1) > offsets(i)) throw nb::value_error("the offsets are not in order");
    return {ids.data(), offsets.data()};
}

// Links of sentence s are (source[k], pivot[k]) for k from offsets[s] to offsets[s + 1].
struct PyLinks {
    Ragged source, pivot;
    size_t size;

    PyLinks(const Ids& s, const Ids& p, const Offsets& offsets)
        : source(checked(s, offsets)), pivot(checked(p, offsets)), size(offsets.shape(0) - 1) {}

    Symmetrizer::Links of(int64_t s) const {
        return {source.begin(s), pivot.begin(s), source.length(s)};
    }
    void check(int64_t s, int64_t n, int64_t m) const {
        for (int64_t k = 0; k < source.length(s); ++k) {
            const int32_t i = source.begin(s)[k], j = pivot.begin(s)[k];
            if (i < 0 || j < 0 || i >= n || j >= m)
                throw nb::value_error("a link points outside of its sentence");
        }
    }
};

// ------------------------------------------------------------------------------- alignment

int32_t words_in(const Ids& ids) {
    int32_t most = -1;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        if (ids(i) < 0) throw nb::value_error("an id is negative");
        most = std::max(most, ids(i));
    }
    return most + 1;
}

// Keeps alive the arrays that the aligner looks into.
class PyAligner {
  public:
    PyAligner(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, int64_t longest,
              int64_t most_cells, bool root)
        : s_ids_(s_ids), p_ids_(p_ids), s_offsets_(s_offsets), p_offsets_(p_offsets) {
        if (s_offsets.shape(0) != p_offsets.shape(0))
            throw nb::value_error("the texts have different numbers of sentences");
        const Bitext text{checked(s_ids, s_offsets), checked(p_ids, p_offsets),
                          static_cast<int64_t>(s_offsets.shape(0)) - 1, longest};
        const int32_t s_words = words_in(s_ids), p_words = words_in(p_ids);
        Poll poll{nb::none()};
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        aligner_ = std::make_unique<JointAligner>(text, s_words, p_words, most_cells, root, watch);
    }

    void expect(int64_t start, int64_t stop, bool hmm) {
        check(start, stop);
        nb::gil_scoped_release release;
        aligner_->expect(start, stop, hmm);
    }
    void update(bool hmm) {
        nb::gil_scoped_release release;
        aligner_->update(hmm);
    }
    nb::tuple decode(int64_t start, int64_t stop, bool hmm, const std::string& rule,
                     double threshold) {
        check(start, stop);
        const Decode how = rule == "forward"    ? Decode::forward
                           : rule == "backward" ? Decode::backward
                                                : Decode::mean;
        LinkRows found;
        {
            nb::gil_scoped_release release;
            found = aligner_->decode(start, stop, hmm, how, threshold);
        }
        const size_t n = found.source.size(), m = found.ends.size();
        return nb::make_tuple(give(std::move(found.source), {n}), give(std::move(found.pivot), {n}),
                              give(std::move(found.ends), {m}));
    }

    // What the two directions believe about one sentence pair, both as source x pivot.
    nb::tuple beliefs(int64_t s, bool hmm) {
        check(s, s + 1);
        if (!aligner_->text().takes_part(s)) throw nb::value_error("this pair takes no part");
        const auto n = static_cast<size_t>(aligner_->text().source.length(s));
        const auto m = static_cast<size_t>(aligner_->text().pivot.length(s));
        JointAligner::View view(*aligner_, hmm);
        view.look(s);
        std::vector<double> forward(n * m), backward(n * m);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < m; ++j) {
                forward[i * m + j] = view.forward(i, j);
                backward[i * m + j] = view.backward(i, j);
            }
        return nb::make_tuple(give(std::move(forward), {n, m}), give(std::move(backward), {n, m}));
    }

    // t(pivot | source) and t(source | pivot) of a pair of words; zeros if they are never together.
    nb::tuple translation(int32_t e, int32_t f) const {
        if (e < 0 || f < 0 || e >= words_in(s_ids_) || f >= words_in(p_ids_))
            throw nb::index_error("no such word");
        const int32_t at = aligner_->table().find(e, f);
        if (at < 0) return nb::make_tuple(0.0, 0.0);
        const auto& entry = aligner_->table()[at];
        return nb::make_tuple(static_cast<double>(entry.forward),
                              static_cast<double>(entry.backward));
    }
    Array<double> jumps(bool backward) const {
        const Jumps& found = aligner_->jumps(backward);
        std::vector<double> weights(found.weight, found.weight + Jumps::buckets);
        return give(std::move(weights), {static_cast<size_t>(Jumps::buckets)});
    }
    size_t pairs() const { return aligner_->table().size(); }
    size_t nbytes() const { return aligner_->table().bytes(); }

  private:
    void check(int64_t start, int64_t stop) const {
        if (start < 0 || start > stop || stop > aligner_->text().size)
            throw nb::index_error("no such sentences");
    }

    Ids s_ids_, p_ids_;
    Offsets s_offsets_, p_offsets_;
    std::unique_ptr<JointAligner> aligner_;
};

Symmetrizer::Rule rule_named(const std::string& name) {
    if (name == "intersection") return Symmetrizer::Rule::intersection;
    if (name == "union") return Symmetrizer::Rule::united;
    if (name == "grow-diag") return Symmetrizer::Rule::grow_diag;
    if (name == "grow-diag-final-and") return Symmetrizer::Rule::grow_diag_final_and;
    throw nb::value_error("no such rule");
}

// Sentence s has s_lengths[s] x p_lengths[s] cells.
nb::tuple symmetrize(Offsets s_lengths, Offsets p_lengths, Ids s1, Ids p1, Offsets offsets1, Ids s2,
                     Ids p2, Offsets offsets2, const std::string& rule) {
    const PyLinks first(s1, p1, offsets1), second(s2, p2, offsets2);
    const size_t size = first.size;
    if (second.size != size || s_lengths.shape(0) != size || p_lengths.shape(0) != size)
        throw nb::value_error("the texts have different numbers of sentences");
    const Symmetrizer::Rule how = rule_named(rule);
    std::vector<int32_t> source, pivot;
    std::vector<int64_t> offsets{0};
    {
        nb::gil_scoped_release release;
        Symmetrizer worker;
        for (size_t s = 0; s < size; ++s) {
            first.check(s, s_lengths(s), p_lengths(s));
            second.check(s, s_lengths(s), p_lengths(s));
            if (s_lengths(s) && p_lengths(s)) {
                worker.sentence(how, s_lengths(s), p_lengths(s), first.of(s), second.of(s));
                worker.take(source, pivot);
            }
            offsets.push_back(static_cast<int64_t>(source.size()));
        }
    }
    const size_t n = source.size(), m = offsets.size();
    return nb::make_tuple(give(std::move(source), {n}), give(std::move(pivot), {n}),
                          give(std::move(offsets), {m}));
}

// -------------------------------------------------------------------------------- phrases

nb::tuple given(PhraseRows&& found, int64_t longest) {
    const size_t n = found.counts.size(), width = 2 * static_cast<size_t>(longest);
    return nb::make_tuple(give(std::move(found.ids), {n, width}),
                          give(std::move(found.counts), {n}));
}

// The phrase pairs of a run of sentence pairs, sorted, with their counts.
nb::tuple extract_phrases(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, Ids l_source,
                          Ids l_pivot, Offsets l_offsets, int64_t start, int64_t stop,
                          int64_t longest) {
    const Ragged source = checked(s_ids, s_offsets), pivot = checked(p_ids, p_offsets);
    const PyLinks links(l_source, l_pivot, l_offsets);
    const auto size = static_cast<int64_t>(links.size);
    if (s_offsets.shape(0) != links.size + 1 || p_offsets.shape(0) != links.size + 1)
        throw nb::value_error("the texts and links have different numbers of sentences");
    if (start < 0 || start > stop || stop > size || longest < 1)
        throw nb::value_error("no such sentences or phrases");
    PhraseRows found;
    {
        nb::gil_scoped_release release;
        Extractor worker(longest);
        for (int64_t s = start; s < stop; ++s) {
            links.check(s, source.length(s), pivot.length(s));
            const auto mine = links.of(s);
            worker.sentence(source.begin(s), source.length(s), pivot.begin(s), pivot.length(s),
                            mine.source, mine.pivot, mine.size);
            if (worker.rows() > UINT32_MAX / 2)
                throw nb::value_error("more than 2^31 phrase pairs in one run of sentences");
        }
        found = worker.take();
    }
    return given(std::move(found), longest);
}

using Rows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A merge that goes on where it stopped, so that its result may go to a file piece by piece.
class PyMerge {
  public:
    PyMerge(std::vector<Rows> rows, std::vector<Offsets> counts, int64_t longest)
        : rows_(std::move(rows)), counts_(std::move(counts)), longest_(longest) {
        std::vector<PhraseMerge::Part> parts;
        if (rows_.size() != counts_.size()) throw nb::value_error("counts are missing");
        for (size_t p = 0; p < rows_.size(); ++p) {
            if (rows_[p].shape(0) != counts_[p].shape(0) ||
                rows_[p].shape(1) != 2 * static_cast<size_t>(longest))
                throw nb::value_error("the rows do not fit their counts or the longest phrase");
            parts.push_back({rows_[p].data(), counts_[p].data(), rows_[p].shape(0)});
        }
        merge_ = std::make_unique<PhraseMerge>(std::move(parts), 2 * longest);
    }
    bool done() const { return merge_->done(); }

    // What comes from the next `enough` rows.
    nb::tuple next(int64_t enough) {
        PhraseRows found;
        {
            nb::gil_scoped_release release;
            merge_->move(static_cast<size_t>(std::max<int64_t>(enough, 1)), found);
        }
        return given(std::move(found), longest_);
    }

  private:
    std::vector<Rows> rows_;
    std::vector<Offsets> counts_;
    int64_t longest_;
    std::unique_ptr<PhraseMerge> merge_;
};

}  // namespace

void bind_paraphrase(nb::module_& m) {
    nb::class_<PyAligner>(m, "JointAligner")
        .def(nb::init<Ids, Offsets, Ids, Offsets, int64_t, int64_t, bool>(), "s_ids"_a,
             "s_offsets"_a, "p_ids"_a, "p_offsets"_a, "longest"_a, "most_cells"_a, "root"_a)
        .def("expect", &PyAligner::expect, "start"_a, "stop"_a, "hmm"_a)
        .def("update", &PyAligner::update, "hmm"_a)
        .def("decode", &PyAligner::decode, "start"_a, "stop"_a, "hmm"_a, "rule"_a, "threshold"_a)
        .def("beliefs", &PyAligner::beliefs, "sentence"_a, "hmm"_a)
        .def("translation", &PyAligner::translation, "source"_a, "pivot"_a)
        .def("jumps", &PyAligner::jumps, "backward"_a)
        .def_prop_ro("pairs", &PyAligner::pairs)
        .def_prop_ro("nbytes", &PyAligner::nbytes);
    m.def("symmetrize", &symmetrize, "s_lengths"_a, "p_lengths"_a, "s1"_a, "p1"_a, "offsets1"_a,
          "s2"_a, "p2"_a, "offsets2"_a, "rule"_a);
    m.def("extract_phrases", &extract_phrases, "s_ids"_a, "s_offsets"_a, "p_ids"_a, "p_offsets"_a,
          "l_source"_a, "l_pivot"_a, "l_offsets"_a, "start"_a, "stop"_a, "longest"_a);
    nb::class_<PyMerge>(m, "PhraseMerge")
        .def(nb::init<std::vector<Rows>, std::vector<Offsets>, int64_t>(), "rows"_a, "counts"_a,
             "longest"_a)
        .def_prop_ro("done", &PyMerge::done)
        .def("next", &PyMerge::next, "enough"_a);
}

}  // namespace karat
