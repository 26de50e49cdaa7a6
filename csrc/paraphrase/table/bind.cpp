// Python bindings of phrases: extraction, tables, segmentation, bags of pivot n-grams.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "paraphrase/align/bind.hpp"
#include "paraphrase/table/bind.hpp"
#include "paraphrase/table/phrase_pairs.hpp"
#include "paraphrase/table/pivot_bags.hpp"
#include "paraphrase/table/segmentation.hpp"

namespace karat::paraphrase {
namespace {

// -------------------------------------------------------------------------------------- extraction

nb::tuple to_arrays(PhraseRows&& rows, int64_t longest) {
    const size_t n = rows.counts.size(), width = 2 * static_cast<size_t>(longest);
    return nb::make_tuple(give(std::move(rows.ids), {n, width}), give(std::move(rows.counts), {n}));
}

// The phrase pairs of a run of sentence pairs, sorted, with their counts.
nb::tuple extract_phrases(Ids s_ids, Offsets s_offsets, Ids p_ids, Offsets p_offsets, Ids l_source,
                          Ids l_pivot, Offsets l_offsets, int64_t start, int64_t stop,
                          int64_t longest) {
    const Ragged source = ragged_in_order(s_ids, s_offsets);
    const Ragged pivot = ragged_in_order(p_ids, p_offsets);
    const PyLinks links(l_source, l_pivot, l_offsets);
    const auto size = static_cast<int64_t>(links.size);
    if (s_offsets.shape(0) != links.size + 1 || p_offsets.shape(0) != links.size + 1)
        throw nb::value_error("the texts and links have different numbers of sentences");
    if (start < 0 || start > stop || stop > size || longest < 1)
        throw nb::value_error("no such sentences or phrases");
    PhraseRows phrase_rows;
    {
        nb::gil_scoped_release release;
        Extractor worker(longest);
        for (int64_t s = start; s < stop; ++s) {
            links.check(s, source.length(s), pivot.length(s));
            const auto sentence_links = links.of(s);
            worker.sentence(source.begin(s), source.length(s), pivot.begin(s), pivot.length(s),
                            sentence_links.source, sentence_links.pivot, sentence_links.size);
            if (worker.rows() > UINT32_MAX / 2)
                throw nb::value_error("more than 2^31 phrase pairs in one run of sentences");
        }
        phrase_rows = worker.take();
    }
    return to_arrays(std::move(phrase_rows), longest);
}

using Rows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A resumable merge, so that its result can be written to a file in chunks.
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

    // The merged result of the next `enough` rows.
    nb::tuple next(int64_t enough) {
        PhraseRows rows;
        {
            nb::gil_scoped_release release;
            merge_->move(static_cast<size_t>(std::max<int64_t>(enough, 1)), rows);
        }
        return to_arrays(std::move(rows), longest_);
    }

  private:
    std::vector<Rows> rows_;
    std::vector<Offsets> counts_;
    int64_t longest_;
    std::unique_ptr<PhraseMerge> merge_;
};

// ------------------------------------------------------------------------------------------ tables

class PySlots {
  public:
    explicit PySlots(int64_t phrases) : slots_(static_cast<size_t>(phrases)) {}
    void add(Ids ids, Offsets offsets) {
        const Phrases phrases = phrases_of(ids, offsets);
        Watch watch{Poll{nb::none()}};
        phrases.check(ids.shape(0), INT32_MAX, watch);
        slots_.add(phrases);
    }
    Array<int32_t> take() { return give(slots_.take()); }

  private:
    PhraseSlots slots_;
};

Array<int32_t> phrase_slots(Ids ids, Offsets offsets) {
    PySlots slots(phrases_of(ids, offsets).size);
    slots.add(ids, offsets);
    return slots.take();
}

// The phrases of each sentence: numbers (-1: an unseen word) and lengths, and the start of each
// sentence's phrases.
nb::tuple segment_phrases(const PyPhraseTable& self, Ids ids, Offsets offsets, Ids source) {
    Sentences sentences(ids, offsets, source, source);
    std::vector<int32_t> phrases, lengths;
    std::vector<int64_t> starts{0};
    {
        nb::gil_scoped_release release;
        Segmenter segmenter(self.table);
        for (size_t i = 0; i < sentences.size(); ++i) {
            for (const Piece& piece :
                 segmenter.segment(sentences.source(i).data(), sentences.length(i))) {
                phrases.push_back(piece.phrase);
                lengths.push_back(piece.length);
            }
            starts.push_back(static_cast<int64_t>(phrases.size()));
        }
    }
    return nb::make_tuple(give(std::move(phrases)), give(std::move(lengths)),
                          give(std::move(starts)));
}

// Segments sentences and fills bags with the translations of their phrases.
struct Filler {
    Segmenter segmenter;
    Bags bags;

    Filler(const PhraseTable& table, BagRules rules) : segmenter(table), bags(table, rules) {}

    bool fill(Sentences& sentences, size_t i, Weights& weights) {
        const auto& pieces = segmenter.segment(sentences.source(i).data(), sentences.length(i));
        return bags.fill(pieces, sentences.self_ids(i).data(), weights);
    }
};

// For every pair of a candidate and a reference, by order: the common weight, the candidate's
// weight, the reference's weight. Pairs with too many n-grams are NaN.
Array<double> pivot_overlaps(const PyPhraseTable& self, Ids c_ids, Offsets c_offsets, Ids r_ids,
                             Offsets r_offsets, Offsets starts, Ids source, Ids self_ids,
                             const BagRules& rules, nb::object check) {
    Sentences candidates(c_ids, c_offsets, source, self_ids),
        references(r_ids, r_offsets, source, self_ids);
    const size_t segments = candidates.size(), pairs = references.size();
    check_starts(starts, segments, pairs);
    for (size_t i = 0; i < segments; ++i)
        if (starts(i) > starts(i + 1)) throw nb::value_error("starts out of order");
    Filler filler(self.table, rules);
    const auto order = static_cast<size_t>(rules.order), width = order * 3;
    std::vector<double> overlaps(pairs * width, std::numeric_limits<double>::quiet_NaN());
    Pace pace(std::move(check));
    {
        nb::gil_scoped_release release;
        Weights candidate_bag, reference_bag;
        for (size_t i = 0; i < segments; ++i) {
            filler.bags.reset(64);
            const bool fits = filler.fill(candidates, i, candidate_bag);
            pace.walk(candidates.length(i));
            for (int64_t k = starts(i); fits && k < starts(i + 1); ++k) {
                if (filler.fill(references, k, reference_bag))
                    filler.bags.compare(candidate_bag, reference_bag, overlaps.data() + k * width);
                pace.walk(references.length(k));
            }
        }
    }
    return give(std::move(overlaps), {pairs, order, 3});
}

// The bag of one sentence: its n-grams as ragged pivot words, and their weights; None if there are
// too many.
nb::object pivot_bag(const PyPhraseTable& self, Ids ids, Offsets offsets, Ids source, Ids self_ids,
                     const BagRules& rules) {
    Sentences sentences(ids, offsets, source, self_ids);
    if (sentences.size() != 1) throw nb::value_error("one sentence has one bag");
    Filler filler(self.table, rules);
    filler.bags.reset(64);
    Weights bag;
    if (!filler.fill(sentences, 0, bag)) return nb::none();
    std::vector<int32_t> words;
    std::vector<int64_t> starts{0};
    std::vector<double> weights;
    for (size_t gram = 1; gram < bag.size(); ++gram) {
        if (!filler.bags.is_counted(bag[gram])) continue;
        const auto gram_words = filler.bags.grams().words(static_cast<int32_t>(gram));
        words.insert(words.end(), gram_words.begin(), gram_words.end());
        starts.push_back(static_cast<int64_t>(words.size()));
        weights.push_back(bag[gram]);
    }
    return nb::make_tuple(give(std::move(words)), give(std::move(starts)),
                          give(std::move(weights)));
}

void make_rules(BagRules* self, int order, double edge, double ngram, bool renormalise) {
    if (order < 1) throw nb::value_error("the order must be at least 1");
    new (self) BagRules{order, edge, ngram, renormalise};
}

int32_t find_phrase(const PyPhraseTable& self, Ids words) {
    return self.table.find(words.data(), static_cast<int64_t>(words.shape(0)));
}

}  // namespace

void bind_table(nb::module_& m) {
    m.def("extract_phrases", &extract_phrases, "s_ids"_a, "s_offsets"_a, "p_ids"_a, "p_offsets"_a,
          "l_source"_a, "l_pivot"_a, "l_offsets"_a, "start"_a, "stop"_a, "longest"_a);
    nb::class_<PyMerge>(m, "PhraseMerge")
        .def(nb::init<std::vector<Rows>, std::vector<Offsets>, int64_t>(), "rows"_a, "counts"_a,
             "longest"_a)
        .def_prop_ro("done", &PyMerge::done)
        .def("next", &PyMerge::next, "enough"_a);
    nb::class_<BagRules>(m, "BagRules")
        .def("__init__", &make_rules, "order"_a, "edge"_a, "ngram"_a, "renormalise"_a);
    nb::class_<PyPhraseTable>(m, "PhraseTable")
        .def(nb::init<Ids, Offsets, Numbers, Ids, Offsets, Ids, Numbers, Ids, Offsets, int64_t,
                      int64_t, nb::object>(),
             "ids"_a, "offsets"_a, "counts"_a, "slots"_a, "edge_offsets"_a, "edge_pivots"_a,
             "probabilities"_a, "pivot_ids"_a, "pivot_offsets"_a, "words"_a, "pivot_words"_a,
             "check"_a.none())
        .def("__len__", [](const PyPhraseTable& self) { return self.table.size(); })
        .def_prop_ro("total", [](const PyPhraseTable& self) { return self.table.total(); })
        .def_prop_ro("longest", [](const PyPhraseTable& self) { return self.table.longest(); })
        .def("find", &find_phrase, "words"_a)
        .def("segment", &segment_phrases, "ids"_a, "offsets"_a, "source"_a)
        .def("overlaps", &pivot_overlaps, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a,
             "starts"_a, "source"_a, "own"_a, "rules"_a, "check"_a.none())
        .def("bag", &pivot_bag, "ids"_a, "offsets"_a, "source"_a, "own"_a, "rules"_a);
    nb::class_<PySlots>(m, "PhraseSlots")
        .def(nb::init<int64_t>(), "phrases"_a)
        .def("add", &PySlots::add, "ids"_a, "offsets"_a)
        .def("take", &PySlots::take);
    m.def("phrase_slots", &phrase_slots, "ids"_a, "offsets"_a);
}

}  // namespace karat::paraphrase
