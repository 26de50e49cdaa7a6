// The Python face of word alignment.
#include <algorithm>
#include <functional>
#include <memory>

#include "core/watch.hpp"
#include "paraphrase/align/bind.hpp"
#include "paraphrase/align/joint_aligner.hpp"
#include "paraphrase/align/symmetrizer.hpp"

namespace karat::paraphrase {
namespace {

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
        const Bitext text{ragged_in_order(s_ids, s_offsets), ragged_in_order(p_ids, p_offsets),
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
        return nb::make_tuple(give(std::move(found.source)), give(std::move(found.pivot)),
                              give(std::move(found.ends)));
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
    return nb::make_tuple(give(std::move(source)), give(std::move(pivot)),
                          give(std::move(offsets)));
}

}  // namespace

void bind_align(nb::module_& m) {
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
}

}  // namespace karat::paraphrase
