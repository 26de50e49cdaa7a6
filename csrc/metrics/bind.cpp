// Python bindings of the counts behind metrics: n-grams, subsequences, edits, treelets.
#include <algorithm>
#include <functional>
#include <vector>

#include "core/bind.hpp"
#include "core/watch.hpp"
#include "metrics/edit_alignment.hpp"
#include "metrics/lcs.hpp"
#include "metrics/ngrams.hpp"
#include "metrics/ter.hpp"
#include "metrics/treelets.hpp"
#include "metrics/tying.hpp"

namespace karat {
namespace {

nb::tuple overlap(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                  int N, nb::object check) {
    if (N < 1) throw nb::value_error("the order must be at least 1");
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    if (c_ids.shape(0) > INT32_MAX || r_ids.shape(0) > INT32_MAX)
        throw nb::value_error("more than 2^31 tokens in one run of segments");
    const size_t segments = c_offsets.shape(0) - 1, pairs = r_offsets.shape(0) - 1;
    check_starts(starts, segments, pairs);
    std::vector<int32_t> matches(pairs * N), clipped(segments * N);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        Overlap worker(watch);
        for (size_t i = 0; i < segments; ++i)
            worker.segment(candidates.begin(i), candidates.length(i), references, starts(i),
                           starts(i + 1), N, matches.data() + starts(i) * N,
                           clipped.data() + i * N);
    }
    const auto order = static_cast<size_t>(N);
    return nb::make_tuple(give(std::move(matches), {pairs, order}),
                          give(std::move(clipped), {segments, order}));
}

// Returns -1 for pairs whose table, after removing common ends, has more than `most` cells.
Array<int64_t> lcs(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                   int64_t most, nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_offsets.shape(0) - 1, pairs = r_offsets.shape(0) - 1;
    check_starts(starts, segments, pairs);
    std::vector<int64_t> lengths(pairs);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        Lcs worker;
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k)
                lengths[k] = worker.length(candidates.begin(i), candidates.length(i),
                                           references.begin(k), references.length(k), most,
                                           poll);
    }
    return give(std::move(lengths), {pairs});
}

// Like lcs, but every text is a sequence of sentences: c_sentences and r_sentences are the starts
// of each text's sentences, c_offsets and r_offsets the starts of each sentence's tokens.
Array<int64_t> summary_lcs(Ids c_ids, Offsets c_offsets, Offsets c_sentences, Ids r_ids,
                           Offsets r_offsets, Offsets r_sentences, Offsets starts,
                           nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_sentences.shape(0) - 1, pairs = r_sentences.shape(0) - 1;
    check_starts(starts, segments, pairs);
    std::vector<int64_t> hits(pairs);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        SummaryLcs worker;
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k)
                hits[k] = worker.hits(candidates, c_sentences(i), c_sentences(i + 1), references,
                                      r_sentences(k), r_sentences(k + 1), poll);
    }
    return give(std::move(hits), {pairs});
}

// Rows of four numbers, `count(segment, pair)` for each of `pairs` pairs.
template <class Count>
Array<int64_t> count_pairs(const Offsets& starts, size_t segments, size_t pairs,
                           const Count& count) {
    check_starts(starts, segments, pairs);
    std::vector<int64_t> rows(pairs * 4);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k) {
                const EditCounts edits = count(i, k);
                int64_t* row = &rows[4 * k];
                row[0] = edits.substitutions;
                row[1] = edits.insertions;
                row[2] = edits.deletions;
                row[3] = edits.moves;
            }
    }
    return give(std::move(rows), {pairs, 4});
}

template <class Costs>
Array<int64_t> count_edits(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets,
                           Offsets starts, nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    Poll poll{std::move(check)};
    EditCounter<Costs> counter;
    return count_pairs(starts, c_offsets.shape(0) - 1, r_offsets.shape(0) - 1,
                       [&](int64_t i, int64_t k) {
                           return counter.count(candidates.begin(i), candidates.length(i),
                                                references.begin(k), references.length(k), poll);
                       });
}

// The words of trees are `r_ids`; `heads` count from 1 in every tree and have been checked.
Array<int64_t> tree_edits(Ids c_ids, Offsets c_offsets, Ids r_ids, Ids heads, Offsets r_offsets,
                          Offsets starts, nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    if (heads.shape(0) != r_ids.shape(0)) throw nb::value_error("the heads do not fit the words");
    Poll poll{std::move(check)};
    Treelets treelets;
    return count_pairs(
        starts, c_offsets.shape(0) - 1, r_offsets.shape(0) - 1, [&](int64_t i, int64_t k) {
            const TreeView tree{references.begin(k), heads.data() + references.offsets[k],
                                references.length(k)};
            return treelets.count(candidates.begin(i), candidates.length(i), tree, poll);
        });
}

// The result's positions for the nodes of one tree, as used by `tree_edits`; -1 for nodes that the
// result lacks.
Array<int64_t> tree_places(Ids result, Ids words, Ids heads, nb::object check) {
    if (heads.shape(0) != words.shape(0)) throw nb::value_error("the heads do not fit the words");
    Poll poll{std::move(check)};
    std::vector<int64_t> places;
    {
        nb::gil_scoped_release release;
        Treelets treelets;
        treelets.count(result.data(), static_cast<int64_t>(result.shape(0)),
                       {words.data(), heads.data(), static_cast<int64_t>(words.shape(0))}, poll);
        places = treelets.places();
    }
    return give(std::move(places));
}

// The positions by distance alone, from which the search for the fewest errors starts.
Array<int64_t> tie_nodes(Ids result, Ids words, Ids heads) {
    if (heads.shape(0) != words.shape(0)) throw nb::value_error("the heads do not fit the words");
    Tying tying;
    tying.tie({words.data(), heads.data(), static_cast<int64_t>(words.shape(0))}, result.data(),
              static_cast<int64_t>(result.shape(0)));
    return give(std::move(tying.place));
}

// The operations of every pair, in the order of the text: rows of (operation, reference position,
// candidate position), and the start of each pair's rows.
template <class Costs>
nb::tuple edit_scripts(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                       nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_offsets.shape(0) - 1, pairs = r_offsets.shape(0) - 1;
    check_starts(starts, segments, pairs);
    struct Row {
        int32_t edit, reference, candidate;
    };
    std::vector<Row> rows, script;
    std::vector<int64_t> offsets{0};
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        rows.reserve(c_ids.shape(0) + r_ids.shape(0));  // upper bound
        EditAlignment<Costs> alignment;
        Row* first = nullptr;
        auto visit = [&](Edit edit, int64_t i, int64_t j) {  // called in reverse order
            *--first = {static_cast<int32_t>(edit), static_cast<int32_t>(i),
                        static_cast<int32_t>(j)};
        };
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k) {
                const int64_t n = candidates.length(i), m = references.length(k);
                script.resize(std::max<size_t>(script.size(), n + m));
                Row* const end = first = script.data() + n + m;
                alignment.align(candidates.begin(i), n, references.begin(k), m, visit, poll);
                rows.insert(rows.end(), first, end);
                offsets.push_back(static_cast<int64_t>(rows.size()));
            }
    }
    const size_t n = rows.size();
    auto* owned = new std::vector<Row>(std::move(rows));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
    return nb::make_tuple(
        Array<int32_t>(reinterpret_cast<int32_t*>(owned->data()), {n, 3}, owner),
        give(std::move(offsets), {pairs + 1}));
}

// The numbers of edits and shifts of every pair.
Array<int64_t> ter_edits(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                         nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_offsets.shape(0) - 1, pairs = r_offsets.shape(0) - 1;
    check_starts(starts, segments, pairs);
    std::vector<int64_t> rows(pairs * 2);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        Ter ter(watch);
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k) {
                rows[2 * k] = ter.edits(candidates.begin(i), candidates.length(i),
                                        references.begin(k), references.length(k));
                rows[2 * k + 1] = static_cast<int64_t>(ter.shifts().size());
            }
    }
    return give(std::move(rows), {pairs, 2});
}

// Details of one pair: the shifts as rows of (start, length, target), the ids of the candidate
// after them, and the operations as rows of (operation, reference position, candidate position).
nb::tuple ter_script(Ids c_ids, Ids r_ids, nb::object check) {
    const auto n = static_cast<int64_t>(c_ids.shape(0)), m = static_cast<int64_t>(r_ids.shape(0));
    std::vector<int64_t> shifts;
    std::vector<int32_t> operations;
    Poll poll{std::move(check)};
    Watch watch(std::ref(poll));
    Ter ter(watch);
    {
        nb::gil_scoped_release release;
        ter.edits(c_ids.data(), n, r_ids.data(), m);
        for (const TerShift& shift : ter.shifts())
            shifts.insert(shifts.end(), {shift.start, shift.length, shift.target});
        ter.walk_back([&](Edit edit, int64_t j, int64_t i) {  // called in reverse order
            operations.insert(operations.end(), {static_cast<int32_t>(i), static_cast<int32_t>(j),
                                                 static_cast<int32_t>(edit)});
        });
        std::reverse(operations.begin(), operations.end());
    }
    std::vector<int32_t> words = ter.words();
    const size_t moved = shifts.size() / 3, steps = operations.size() / 3, size = words.size();
    return nb::make_tuple(give(std::move(shifts), {moved, 3}), give(std::move(words), {size}),
                          give(std::move(operations), {steps, 3}));
}

}  // namespace

void bind_metrics(nb::module_& m) {
    m.def("overlap", &overlap, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a,
          "order"_a, "check"_a.none() = nb::none());
    m.def("lcs", &lcs, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a, "most"_a,
          "check"_a.none());
    m.def("summary_lcs", &summary_lcs, "c_ids"_a, "c_offsets"_a, "c_sentences"_a, "r_ids"_a,
          "r_offsets"_a, "r_sentences"_a, "starts"_a, "check"_a.none());
    m.def("word_edits", &count_edits<UnitCosts>, "c_ids"_a, "c_offsets"_a,
          "r_ids"_a, "r_offsets"_a, "starts"_a, "check"_a.none());
    m.def("accuracy_edits", &count_edits<AccuracyCosts>, "c_ids"_a, "c_offsets"_a,
          "r_ids"_a, "r_offsets"_a, "starts"_a, "check"_a.none());
    m.def("word_scripts", &edit_scripts<UnitCosts>, "c_ids"_a, "c_offsets"_a,
          "r_ids"_a, "r_offsets"_a, "starts"_a, "check"_a.none());
    m.def("accuracy_scripts", &edit_scripts<AccuracyCosts>, "c_ids"_a, "c_offsets"_a,
          "r_ids"_a, "r_offsets"_a, "starts"_a, "check"_a.none());
    m.def("ter_edits", &ter_edits, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a,
          "check"_a.none());
    m.def("ter_script", &ter_script, "c_ids"_a, "r_ids"_a, "check"_a.none());
    m.def("tree_edits", &tree_edits, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "heads"_a, "r_offsets"_a,
          "starts"_a, "check"_a.none());
    m.def("tree_places", &tree_places, "result"_a, "words"_a, "heads"_a, "check"_a.none());
    m.def("tie_nodes", &tie_nodes, "result"_a, "words"_a, "heads"_a);
}

}  // namespace karat
