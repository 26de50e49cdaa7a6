// Python bindings of FERGUS.
#include <memory>

#include "lm/bind.hpp"
#include "realize/fergus/fergus.hpp"

namespace karat::fergus {
namespace {

using Keys = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Keeps the arrays of a grammar alive.
struct PyGrammar {
    std::vector<Ids> ids;
    std::vector<Offsets> offsets;
    Grammar grammar;

    PyGrammar(int32_t tags, int32_t relations, int32_t root, Ids argument, Offsets slot_offsets,
              Ids slots, Offsets frame_offsets, Ids frames, Offsets label_offsets, Ids labels)
        : ids{argument, slots, frames, labels}, offsets{slot_offsets, frame_offsets, label_offsets},
          grammar{tags, relations, root, argument.data(),
                  list(slot_offsets, slots, relations * 2),
                  list(frame_offsets, frames, static_cast<int32_t>(slot_offsets.shape(0)) - 1),
                  list(label_offsets, labels, tags * relations)} {
        if (static_cast<int32_t>(argument.shape(0)) != relations || root < 0 || root >= relations ||
            static_cast<int32_t>(grammar.frames.rows) != tags || !grammar.slots.rows ||
            grammar.slots.size(0))
            throw nb::value_error("the grammar does not hold together");
        for (size_t f = 0; f < grammar.slots.rows; ++f)
            if (grammar.slots.size(static_cast<int64_t>(f)) > most_slots)
                throw nb::value_error("a frame has too many slots");
    }

    static List list(const Offsets& o, const Ids& v, int32_t below) {
        return List(o.data(), o.shape(0), v.data(), v.shape(0), below);
    }
};

// Trees as flat arrays; every column has one value per node, suffixes have three.
struct Columns {
    Ids words, labels, heads, suffixes;
    Offsets offsets;

    Columns(Ids w, Ids h, Offsets o) : words(w), labels(w), heads(h), suffixes(w), offsets(o) {
        const size_t n = words.shape(0);
        if (heads.shape(0) != n || !o.shape(0) || o.data()[0] ||
            o.data()[o.shape(0) - 1] != static_cast<int64_t>(n))
            throw nb::value_error("the columns of the trees do not fit");
        for (size_t i = 0; i + 1 < o.shape(0); ++i) check(i);
    }

    Columns(Ids w, Ids l, Ids h, Ids s, Offsets o, const Grammar* grammar) : Columns(w, h, o) {
        labels = l;
        suffixes = s;
        const size_t n = words.shape(0);
        if (labels.shape(0) != n || suffixes.shape(0) != 3 * n)
            throw nb::value_error("the columns of the trees do not fit");
        const auto n_words = static_cast<int32_t>(grammar->labels.rows);
        for (size_t j = 0; j < n; ++j)
            if (words.data()[j] >= n_words ||
                labels.data()[j] >= grammar->tags * grammar->relations)
                throw nb::value_error("a word or label is out of range");
    }

    void check(size_t i) const {
        const int64_t begin = offsets.data()[i], end = offsets.data()[i + 1];
        if (begin >= end || end > static_cast<int64_t>(words.shape(0)))
            throw nb::value_error("a tree has no nodes");
        for (int64_t j = begin; j < end; ++j)
            if ((j == begin) != (heads.data()[j] < 0) || heads.data()[j] >= j - begin)
                throw nb::value_error("the nodes of a tree are not in canonical order");
    }

    size_t size() const { return offsets.shape(0) - 1; }

    TreeNodes tree(size_t i) const {
        const int64_t begin = offsets.data()[i];
        return {words.data() + begin, labels.data() + begin, heads.data() + begin,
                suffixes.data() + 3 * begin,
                static_cast<int32_t>(offsets.data()[i + 1] - begin)};
    }
};

nb::tuple counted(Counting& counting) {
    std::vector<uint32_t> keys;
    std::vector<int32_t> values;
    {
        nb::gil_scoped_release release;
        counting.finish(keys, values);
    }
    return nb::make_tuple(give(std::move(keys)), give(std::move(values)));
}

nb::tuple count_trees(const PyGrammar& g, Ids words, Ids labels, Ids heads, Ids suffixes,
                      Offsets offsets, Ids frames, Ids rare, Ids places) {
    const Columns columns(words, labels, heads, suffixes, offsets, &g.grammar);
    Counting counting;
    TreeCounting tree(g.grammar, counting);
    PrecedenceCounting precedence(g.grammar, counting);
    for (size_t i = 0; i < columns.size(); ++i) {
        const int64_t begin = offsets.data()[i];
        tree.tree(columns.tree(i), frames.data() + begin, rare.data() + begin);
        precedence.tree(columns.tree(i), places.data() + begin);
    }
    return counted(counting);
}

nb::tuple count_sides(Ids words, Ids mothers, Ids lefts) {
    Counting counting;
    for (size_t i = 0; i < words.shape(0); ++i)
        LeftRight::note(counting, words.data()[i], mothers.data()[i], lefts.data()[i]);
    return counted(counting);
}

// The tree model and the adjunction table; `open` are the labels that unknown words may have.
struct PyTreeModel {
    const PyGrammar& g;
    Keys keys;
    Ids values;
    Counts counts;
    double words;
    std::vector<int32_t> open;

    PyTreeModel(const PyGrammar& grammar, Keys k, Ids v, Ids o)
        : g(grammar), keys(k), values(v), counts(k.data(), v.data(), k.shape(0)),
          words(static_cast<double>(grammar.grammar.labels.rows) + 1),
          open(o.data(), o.data() + o.shape(0)) {
        if (k.shape(0) != v.shape(0)) throw nb::value_error("keys and counts differ in number");
        for (const int32_t label : open)
            if (label < 0 || label >= g.grammar.tags * g.grammar.relations)
                throw nb::value_error("an open label is out of range");
        if (open.empty()) throw nb::value_error("there are no open labels");
    }
};

// The k best supertaggings of every tree: labels, frames, slots, scores, and the start of each
// tree's.
nb::tuple choose_trees(const PyTreeModel& f, Ids words, Ids labels, Ids heads, Ids suffixes,
                       Offsets offsets, int k) {
    const Columns columns(words, labels, heads, suffixes, offsets, &f.g.grammar);
    std::vector<int32_t> out_labels, out_frames, out_slots;
    std::vector<int64_t> starts{0};
    std::vector<double> scores;
    {
        nb::gil_scoped_release release;
        const TreeModel model(f.g.grammar, f.counts, f.words);
        TreeChooser chooser(model, f.open, k);
        for (size_t i = 0; i < columns.size(); ++i) {
            for (const Supertagged& s : chooser.choose(columns.tree(i))) {
                out_labels.insert(out_labels.end(), s.labels.begin(), s.labels.end());
                out_frames.insert(out_frames.end(), s.frames.begin(), s.frames.end());
                out_slots.insert(out_slots.end(), s.slots.begin(), s.slots.end());
                scores.push_back(s.score);
            }
            starts.push_back(static_cast<int64_t>(scores.size()));
        }
    }
    return nb::make_tuple(give(std::move(out_labels)), give(std::move(out_frames)),
                          give(std::move(out_slots)), give(std::move(scores)),
                          give(std::move(starts)));
}

// Treelets of supertagged trees; labels, frames and slots are columns too.
class TaggedTreelets {
  public:
    TaggedTreelets(const PyTreeModel& f, const Columns& columns, Ids frames, Ids slots,
                   const Weights& w)
        : columns_(columns), frames_(frames), slots_(slots), table_(f.g.grammar, f.counts),
          treelet_(f.g.grammar, table_, w) {
        if (frames.shape(0) != columns.words.shape(0) || slots.shape(0) != columns.words.shape(0))
            throw nb::value_error("the columns of the supertags do not fit");
        for (size_t j = 0; j < frames.shape(0); ++j) {
            const int32_t frame = frames.data()[j];
            if (frame < free_frame || frame >= static_cast<int32_t>(f.g.grammar.slots.rows) ||
                columns.labels.data()[j] < 0)
                throw nb::value_error("a frame or label is out of range");
        }
        check_slots(f.g.grammar);
    }

    TreeletCosts costs(const TreeNodes& t, const Daughters& daughters, int32_t m,
                       size_t tree) const {
        const int64_t begin = columns_.offsets.data()[tree];
        return treelet_.costs(t, {t.labels, frames_.data() + begin, slots_.data() + begin},
                              daughters, m);
    }

  private:
    void check_slots(const Grammar& g) const {
        for (size_t i = 0; i < columns_.size(); ++i) {
            const int64_t begin = columns_.offsets.data()[i];
            const TreeNodes t = columns_.tree(i);
            for (int32_t j = 1; j < t.size; ++j) {
                const int32_t frame = frames_.data()[begin + t.heads[j]];
                const int32_t slot = slots_.data()[begin + j];
                if (frame != free_frame && slot >= g.slots.size(frame))
                    throw nb::value_error("a slot is out of range");
            }
        }
    }

    const Columns& columns_;
    Ids frames_, slots_;
    Precedence table_;
    Treelet treelet_;
};

struct LeftRightTreelets {
    LeftRight table;

    TreeletCosts costs(const TreeNodes& t, const Daughters& daughters, int32_t m, size_t) const {
        return table.costs(t, daughters[m], m);
    }
};

template <class Treelets>
std::vector<Lattice> unravel(const Treelets& treelets, Unraveler& unraveler, const TreeNodes& t,
                             const Daughters& daughters, size_t tree) {
    std::vector<Lattice> lattices(t.size);
    for (int32_t m = 0; m < t.size; ++m)
        if (!daughters[m].empty())
            lattices[m] = unraveler.unravel(treelets.costs(t, daughters, m, tree));
    return lattices;
}

// The k best orders of every tree: nodes, scores, the language model's part, and the start of each
// order.
template <class Treelets>
nb::tuple linearize(const Columns& columns, const Treelets& treelets, const PyModel& lm,
                    const Ids& lm_words, const Weights& w, int k) {
    if (lm_words.shape(0) != columns.words.shape(0)) throw nb::value_error("words do not fit");
    std::vector<int32_t> nodes;
    std::vector<double> scores, parts;
    std::vector<int64_t> starts{0};
    {
        nb::gil_scoped_release release;
        Unraveler unraveler(w.width, w.margin);
        LpChooser<lm::Model, lm::State> chooser(lm.model, w.lm, w.beam, k);
        for (size_t i = 0; i < columns.size(); ++i) {
            const TreeNodes t = columns.tree(i);
            const auto daughters = t.daughters();
            const int32_t* words = lm_words.data() + columns.offsets.data()[i];
            const auto lattices = unravel(treelets, unraveler, t, daughters, i);
            for (const Sentence& s : chooser.choose(lattices, daughters, {words, words + t.size})) {
                nodes.insert(nodes.end(), s.nodes.begin(), s.nodes.end());
                scores.push_back(s.score);
                parts.push_back(s.lm);
            }
            starts.push_back(static_cast<int64_t>(scores.size()));
        }
    }
    return nb::make_tuple(give(std::move(nodes)), give(std::move(scores)), give(std::move(parts)),
                          give(std::move(starts)));
}

Weights weights(const std::vector<double>& w) {
    if (w.size() != 6) throw nb::value_error("expected six weights");
    return {w[0], w[1], w[2], static_cast<int>(w[3]), w[4], static_cast<int>(w[5])};
}

nb::tuple linearize_tagged(const PyTreeModel& f, Ids words, Ids labels, Ids heads, Ids suffixes,
                           Offsets offsets, Ids frames, Ids slots, const PyModel& lm, Ids lm_words,
                           const std::vector<double>& w, int k) {
    const Columns columns(words, labels, heads, suffixes, offsets, &f.g.grammar);
    const TaggedTreelets treelets(f, columns, frames, slots, weights(w));
    return linearize(columns, treelets, lm, lm_words, weights(w), k);
}

nb::tuple linearize_left_right(Keys keys, Ids values, Ids words, Ids heads, Offsets offsets,
                               const PyModel& lm, Ids lm_words, const std::vector<double>& w,
                               int k) {
    if (keys.shape(0) != values.shape(0)) throw nb::value_error("keys and counts do not fit");
    const Counts counts(keys.data(), values.data(), keys.shape(0));
    const Columns columns(words, heads, offsets);
    return linearize(columns, LeftRightTreelets{{counts}}, lm, lm_words, weights(w), k);
}

// The arcs of a tree's lattice: the treelet's head, from, to, the node placed, score; and for each
// treelet its head, its states, its paths and whether it was pruned.
nb::tuple tree_lattice(const PyTreeModel& f, Ids words, Ids labels, Ids heads, Ids suffixes,
                       Ids frames, Ids slots, const std::vector<double>& weight_values) {
    const std::vector<int64_t> ends{0, static_cast<int64_t>(words.shape(0))};
    const Columns columns(words, labels, heads, suffixes, Offsets(ends.data(), {2}), &f.g.grammar);
    const Weights w = weights(weight_values);
    const TaggedTreelets treelets(f, columns, frames, slots, w);
    Unraveler unraveler(w.width, w.margin);
    const TreeNodes t = columns.tree(0);
    const auto daughters = t.daughters();
    nb::list arcs, sizes;
    const auto lattices = unravel(treelets, unraveler, t, daughters, 0);
    for (int32_t m = 0; m < t.size; ++m) {
        if (daughters[m].empty()) continue;
        const Lattice& l = lattices[m];
        for (const Arc& a : l.arcs)
            arcs.append(nb::make_tuple(m, a.from, a.to, a.item < 0 ? m : daughters[m][a.item],
                                       a.score));
        sizes.append(nb::make_tuple(m, l.states, l.paths, l.pruned));
    }
    return nb::make_tuple(arcs, sizes);
}

}  // namespace

void bind_fergus(nb::module_& m) {
    nb::class_<PyGrammar>(m, "Grammar")
        .def(nb::init<int32_t, int32_t, int32_t, Ids, Offsets, Ids, Offsets, Ids, Offsets, Ids>(),
             "tags"_a, "relations"_a, "root"_a, "argument"_a, "slot_offsets"_a, "slots"_a,
             "frame_offsets"_a, "frames"_a, "label_offsets"_a, "labels"_a);
    nb::class_<PyTreeModel>(m, "TreeModel")
        .def(nb::init<const PyGrammar&, Keys, Ids, Ids>(), "grammar"_a, "keys"_a, "counts"_a,
             "open"_a, nb::keep_alive<1, 2>());
    m.def("count_trees", &count_trees, "grammar"_a, "words"_a, "labels"_a, "heads"_a, "suffixes"_a,
          "offsets"_a, "frames"_a, "rare"_a, "places"_a);
    m.def("count_sides", &count_sides, "daughters"_a, "mothers"_a, "lefts"_a);
    m.def("choose_trees", &choose_trees, "model"_a, "words"_a, "labels"_a, "heads"_a, "suffixes"_a,
          "offsets"_a, "k"_a);
    m.def("linearize_tagged", &linearize_tagged, "model"_a, "words"_a, "labels"_a, "heads"_a,
          "suffixes"_a, "offsets"_a, "frames"_a, "slots"_a, "lm"_a, "lm_words"_a, "weights"_a,
          "k"_a);
    m.def("linearize_left_right", &linearize_left_right, "keys"_a, "counts"_a, "words"_a,
          "heads"_a, "offsets"_a, "lm"_a, "lm_words"_a, "weights"_a, "k"_a);
    m.def("tree_lattice", &tree_lattice, "model"_a, "words"_a, "labels"_a, "heads"_a, "suffixes"_a,
          "frames"_a, "slots"_a, "weights"_a);
}

}  // namespace karat::fergus
