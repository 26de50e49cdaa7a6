// Python bindings of word alignment.
#include <algorithm>
#include <functional>
#include <memory>

#include "core/watch.hpp"
#include "paraphrase/align/bind.hpp"
#include "paraphrase/align/joint_aligner.hpp"
#include "paraphrase/align/sorted_union.hpp"
#include "paraphrase/align/symmetrizer.hpp"

namespace karat::paraphrase {
namespace {

// The word pairs of a text: rows, columns, and the pair of every cell.
nb::tuple word_pairs(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, int64_t longest) {
    const Bitext text = bitext(s_ids, s_offsets, p_ids, p_offsets, longest);
    const int32_t s_words = words_in(s_ids), p_words = words_in(p_ids);
    Poll poll{nb::none()};
    std::unique_ptr<WordPairs> pairs;
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        pairs = std::make_unique<WordPairs>(text, s_words, p_words, true, watch);
        pairs->columns.shrink_to_fit();
    }
    return nb::make_tuple(give(std::move(pairs->rows)), give(std::move(pairs->columns)),
                          give(std::move(pairs->cells)));
}

using Entry = TranslationTable::Entry;
using Rows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using JumpSums = nb::ndarray<const int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

Jumps jumps_of(const Weights& weights, size_t direction) {
    if (weights.shape(0) != 2 || weights.shape(1) != Jumps::buckets)
        throw nb::value_error("the jumps have a wrong shape");
    Jumps jumps;
    for (int b = 0; b < Jumps::buckets; ++b) jumps.weight[b] = weights(direction, b);
    return jumps;
}

Array<float> first_jumps() {
    std::vector<float> initial(2 * Jumps::buckets, Jumps().weight[0]);
    return give(std::move(initial), {2, static_cast<size_t>(Jumps::buckets)});
}

// The M-step of the jumps, from the counts of `JointAligner.jump_counts`.
Array<float> update_jumps(Weights weights, JumpSums counts) {
    if (counts.shape(0) != 2 || counts.shape(1) != 2 || counts.shape(2) != Jumps::buckets)
        throw nb::value_error("the counts of jumps have a wrong shape");
    std::vector<float> updated;
    for (size_t direction = 0; direction < 2; ++direction) {
        Jumps jumps = jumps_of(weights, direction);
        JumpCounts::Whole sums;
        for (size_t kind = 0; kind < 2; ++kind)
            for (int b = 0; b < Jumps::buckets; ++b) sums[kind][b] = counts(direction, kind, b);
        JumpCounts::update(jumps, sums);
        updated.insert(updated.end(), jumps.weight, jumps.weight + Jumps::buckets);
    }
    return give(std::move(updated), {2, static_cast<size_t>(Jumps::buckets)});
}

// sums[at[k]] += values[k]
void add_at(Sums sums, Ids at, Offsets values) {
    if (at.shape(0) != values.shape(0)) throw nb::value_error("two arrays of unequal length");
    for (size_t k = 0; k < at.shape(0); ++k) {
        if (at(k) < 0 || static_cast<size_t>(at(k)) >= sums.shape(0))
            throw nb::index_error("no such sum");
        sums(at(k)) += values(k);
    }
}

// Probabilities of pairs of words (source, pivot) from the counts of pairs and words; a word
// without counts keeps the probabilities of its pairs.
Array<float> estimate_pairs(Rows pairs, Offsets counts, Offsets source, Offsets pivot,
                            Weights held) {
    const size_t n = counts.shape(0);
    if (pairs.shape(0) != n || pairs.shape(1) != 2 || held.shape(0) != n || held.shape(1) != 2)
        throw nb::value_error("the counts do not fit the pairs");
    std::vector<float> entries;
    entries.reserve(2 * n);
    for (size_t k = 0; k < n; ++k) {
        const int32_t e = pairs(k, 0), f = pairs(k, 1);
        if (e < 0 || f < 0 || static_cast<size_t>(e) >= source.shape(0) ||
            static_cast<size_t>(f) >= pivot.shape(0))
            throw nb::index_error("no such word");
        const Entry entry =
            TranslationTable::estimate(counts(k), source(e), pivot(f), {held(k, 0), held(k, 1)});
        entries.push_back(entry.forward);
        entries.push_back(entry.backward);
    }
    return give(std::move(entries), {n, 2});
}

// Keeps the arrays of the aligner alive.
class PyAligner {
  public:
    PyAligner(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, int64_t longest,
              int64_t most_cells, const std::string& agreement)
        : s_ids_(s_ids), p_ids_(p_ids), s_offsets_(s_offsets), p_offsets_(p_offsets) {
        const Bitext text = bitext(s_ids, s_offsets, p_ids, p_offsets, longest);
        const int32_t s_words = words_in(s_ids), p_words = words_in(p_ids);
        const Agreement rule = agreement_named(agreement);
        Poll poll{nb::none()};
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        aligner_ = std::make_unique<JointAligner>(text, s_words, p_words, most_cells, rule, watch);
    }

    // A part of a text of `words` words, with the parameters learned from the whole text so far:
    // `cells` are the entries of the cells of each sentence pair.
    PyAligner(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, int64_t longest,
              const std::string& agreement, Ids cells, Weights entries, Weights jumps,
              int64_t words)
        : s_ids_(s_ids), p_ids_(p_ids), s_offsets_(s_offsets), p_offsets_(p_offsets),
          cells_(cells), entries_(entries) {
        const Bitext text = bitext(s_ids, s_offsets, p_ids, p_offsets, longest);
        const size_t size = entries.shape(0);
        if (entries.shape(1) != 2 || text.all_cells() != static_cast<int64_t>(cells.shape(0)))
            throw nb::value_error("the cells do not fit the text, or the entries are not pairs");
        for (size_t k = 0; k < cells.shape(0); ++k)
            if (cells(k) < 0 || static_cast<size_t>(cells(k)) >= size)
                throw nb::value_error("a cell has no entry");
        static_assert(sizeof(Entry) == 2 * sizeof(float));
        const auto* const table = reinterpret_cast<const Entry*>(entries.data());
        aligner_ =
            std::make_unique<JointAligner>(text, agreement_named(agreement), cells.data(), table,
                                           size, jumps_of(jumps, 0), jumps_of(jumps, 1), words);
        part_ = true;
    }

    void expect(int64_t start, int64_t stop, bool hmm) {
        check(start, stop);
        nb::gil_scoped_release release;
        aligner_->expect(start, stop, hmm);
    }

    // The counts of some entries as integers.
    Array<int64_t> counts(int64_t start, int64_t stop) const {
        return whole_counts(aligner_->table().counts(), start, stop);
    }
    // For each direction: the expected counts of each jump, and of the opportunities for it.
    Array<int64_t> jump_counts() const {
        std::vector<int64_t> counts;
        for (const bool backward : {false, true})
            for (const auto& kind : aligner_->jump_counts(backward).fixed_point())
                counts.insert(counts.end(), kind.begin(), kind.end());
        return give(std::move(counts), {2, 2, static_cast<size_t>(Jumps::buckets)});
    }
    void update(bool hmm) {
        check_trained();
        nb::gil_scoped_release release;
        aligner_->update(hmm);
    }
    nb::tuple decode(int64_t start, int64_t stop, bool hmm, const std::string& rule,
                     double threshold) {
        check(start, stop);
        const Decode decoder = decode_named(rule);
        LinkRows links;
        {
            nb::gil_scoped_release release;
            links = aligner_->decode(start, stop, hmm, decoder, threshold);
        }
        return rows_of(std::move(links));
    }

    // The posteriors of both directions for one sentence pair, each as source x pivot.
    nb::tuple beliefs(int64_t s, bool hmm) {
        check(s, s + 1);
        if (!aligner_->text().takes_part(s)) throw nb::value_error("this pair takes no part");
        JointAligner::View view(*aligner_, hmm);
        return matrices(view.look(s));
    }

    // t(pivot | source) and t(source | pivot) of a pair of words; zeros if they never co-occur.
    nb::tuple translation(int32_t e, int32_t f) const {
        check_trained();
        if (e < 0 || f < 0 || e >= words_in(s_ids_) || f >= words_in(p_ids_))
            throw nb::index_error("no such word");
        const int32_t at = aligner_->table().index().find(e, f);
        if (at < 0) return nb::make_tuple(0.0, 0.0);
        const auto& entry = aligner_->table()[at];
        return nb::make_tuple(static_cast<double>(entry.forward),
                              static_cast<double>(entry.backward));
    }
    Array<double> jumps(bool backward) const {
        const Jumps& learned = aligner_->jumps(backward);
        std::vector<double> weights(learned.weight, learned.weight + Jumps::buckets);
        return give(std::move(weights), {static_cast<size_t>(Jumps::buckets)});
    }
    size_t pairs() const { return aligner_->table().size(); }
    size_t nbytes() const { return aligner_->table().bytes(); }

  private:
    void check_trained() const {
        if (part_) throw nb::value_error("this is an aligner of a part of a text");
    }
    void check(int64_t start, int64_t stop) const {
        if (start < 0 || start > stop || stop > aligner_->text().size)
            throw nb::index_error("no such sentences");
    }

    Ids s_ids_, p_ids_;
    Offsets s_offsets_, p_offsets_;
    Ids cells_;
    Weights entries_;
    bool part_ = false;
    std::unique_ptr<JointAligner> aligner_;
};

// A resumable union, so that its result can be written to files in chunks.
class PyUnion {
  public:
    PyUnion(std::vector<Rows> parts, int64_t width) : parts_(std::move(parts)), width_(width) {
        std::vector<SortedUnion::Part> sorted_parts;
        for (const Rows& part : parts_) {
            if (width < 1 || part.shape(1) != static_cast<size_t>(width))
                throw nb::value_error("the rows have another width");
            sorted_parts.push_back({part.data(), part.shape(0)});
        }
        union_ = std::make_unique<SortedUnion>(std::move(sorted_parts), width);
    }
    bool done() const { return union_->done(); }

    // The next `enough` distinct rows, and for each part the numbers of its rows among them.
    nb::tuple next(int64_t enough) {
        SortedUnion::Piece piece;
        {
            nb::gil_scoped_release release;
            piece = union_->move(static_cast<size_t>(std::max<int64_t>(enough, 1)));
        }
        const size_t width = static_cast<size_t>(width_), n = piece.rows.size() / width;
        nb::list numbers;
        for (auto& row_numbers : piece.numbers) numbers.append(give(std::move(row_numbers)));
        return nb::make_tuple(give(std::move(piece.rows), {n, width}), numbers);
    }

  private:
    std::vector<Rows> parts_;
    int64_t width_;
    std::unique_ptr<SortedUnion> union_;
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
    const Symmetrizer::Rule symmetrization = rule_named(rule);
    std::vector<int32_t> source, pivot;
    std::vector<int64_t> offsets{0};
    {
        nb::gil_scoped_release release;
        Symmetrizer worker;
        for (size_t s = 0; s < size; ++s) {
            first.check(s, s_lengths(s), p_lengths(s));
            second.check(s, s_lengths(s), p_lengths(s));
            if (s_lengths(s) && p_lengths(s)) {
                worker.sentence(symmetrization, s_lengths(s), p_lengths(s), first.of(s),
                                second.of(s));
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
    bind_fertility_aligner(m);
    nb::class_<PyAligner>(m, "JointAligner")
        .def(nb::init<Ids, Offsets, Ids, Offsets, int64_t, int64_t, const std::string&>(),
             "s_ids"_a, "s_offsets"_a, "p_ids"_a, "p_offsets"_a, "longest"_a, "most_cells"_a,
             "agreement"_a)
        .def(nb::init<Ids, Offsets, Ids, Offsets, int64_t, const std::string&, Ids, Weights,
                      Weights, int64_t>(),
             "s_ids"_a, "s_offsets"_a, "p_ids"_a, "p_offsets"_a, "longest"_a, "agreement"_a,
             "cells"_a, "entries"_a, "jumps"_a, "words"_a)
        .def("counts", &PyAligner::counts, "start"_a, "stop"_a)
        .def("jump_counts", &PyAligner::jump_counts)
        .def("expect", &PyAligner::expect, "start"_a, "stop"_a, "hmm"_a)
        .def("update", &PyAligner::update, "hmm"_a)
        .def("decode", &PyAligner::decode, "start"_a, "stop"_a, "hmm"_a, "rule"_a, "threshold"_a)
        .def("beliefs", &PyAligner::beliefs, "sentence"_a, "hmm"_a)
        .def("translation", &PyAligner::translation, "source"_a, "pivot"_a)
        .def("jumps", &PyAligner::jumps, "backward"_a)
        .def_prop_ro("pairs", &PyAligner::pairs)
        .def_prop_ro("nbytes", &PyAligner::nbytes);
    nb::class_<PyUnion>(m, "SortedUnion")
        .def(nb::init<std::vector<Rows>, int64_t>(), "parts"_a, "width"_a)
        .def_prop_ro("done", &PyUnion::done)
        .def("next", &PyUnion::next, "enough"_a);
    m.def("word_pairs", &word_pairs, "s_ids"_a, "s_offsets"_a, "p_ids"_a, "p_offsets"_a,
          "longest"_a);
    m.def("first_jumps", &first_jumps);
    m.def("whole_of_jump", &Jumps::one_of, "words"_a);
    m.def("update_jumps", &update_jumps, "jumps"_a, "counts"_a);
    m.def("add_at", &add_at, "sums"_a, "at"_a, "values"_a);
    m.def("estimate_pairs", &estimate_pairs, "pairs"_a, "counts"_a, "source"_a, "pivot"_a,
          "held"_a);
    m.def("symmetrize", &symmetrize, "s_lengths"_a, "p_lengths"_a, "s1"_a, "p1"_a, "offsets1"_a,
          "s2"_a, "p2"_a, "offsets2"_a, "rule"_a);
}

}  // namespace karat::paraphrase
