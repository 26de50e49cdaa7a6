// The Python face of the kernel's part for karat/realize/.
#include <memory>

#include "bind.hpp"
#include "canonical.hpp"
#include "fergus.hpp"

namespace karat {
namespace {

using Keys = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Where each node comes from, tree after tree; the trees are known to be trees.
Array<int32_t> canonical_order(Ids keys, Ids heads, Offsets offsets) {
    std::vector<int32_t> order(heads.shape(0));
    {
        nb::gil_scoped_release release;
        Canonical canonical;
        for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
            const int64_t begin = offsets.data()[i];
            const auto n = static_cast<int32_t>(offsets.data()[i + 1] - begin);
            canonical.sort(keys.data() + begin, heads.data() + begin, n, order.data() + begin);
        }
    }
    const size_t n = order.size();
    return give(std::move(order), {n});
}

struct TinyState {
    int32_t words[2];
    int32_t length;
};
struct TinyLm {
    const Counts& n;
    int order() const { return 3; }
    TinyState begin() const { return {{-1, 0}, 1}; }
    int32_t eos() const { return -2; }
    double score(const TinyState& in, int32_t w, TinyState& out) const {
        double p = n.witten_bell(3e-5, context(301), w, 1);
        if (in.length > 0) p = n.witten_bell(p, context(302, in.words[0]), w, 1);
        if (in.length > 1) p = n.witten_bell(p, context(303, in.words[0], in.words[1]), w, 1);
        TinyState s{{w, in.words[0]}, std::min(in.length + 1, 2)};
        out = s;
        return std::log10(p);
    }
};

// Keeps alive the arrays that a grammar looks into.
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

// Trees as flat arrays; every column has a value a node, suffixes three.
struct Columns {
    Ids words, labels, heads, suffixes;
    Offsets offsets;

    Columns(Ids w, Ids l, Ids h, Ids s, Offsets o, const Grammar* grammar)
        : words(w), labels(l), heads(h), suffixes(s), offsets(o) {
        const size_t n = words.shape(0);
        if (labels.shape(0) != n || heads.shape(0) != n || suffixes.shape(0) != 3 * n ||
            !o.shape(0) || o.data()[0] || o.data()[o.shape(0) - 1] != static_cast<int64_t>(n))
            throw nb::value_error("the columns of the trees do not fit");
        for (size_t i = 0; i + 1 < o.shape(0); ++i) check(i);
        if (!grammar) return;
        const auto known = static_cast<int32_t>(grammar->labels.rows);
        for (size_t j = 0; j < n; ++j)
            if (words.data()[j] >= known || labels.data()[j] >= grammar->tags * grammar->relations)
                throw nb::value_error("a word or label is out of range");
    }

    void check(size_t i) const {
        const int64_t begin = offsets.data()[i], end = offsets.data()[i + 1];
        if (begin >= end) throw nb::value_error("a tree has no nodes");
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
    std::vector<uint64_t> keys;
    std::vector<int32_t> values;
    {
        nb::gil_scoped_release release;
        counting.finish(keys, values);
    }
    const size_t n = keys.size();
    return nb::make_tuple(give(std::move(keys), {n}), give(std::move(values), {n}));
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

nb::tuple count_tiny(Ids words, Offsets offsets) {
    Counting c;
    for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        int32_t a = -9, b = -1;
        for (int64_t j = offsets.data()[i]; j <= offsets.data()[i + 1]; ++j) {
            const int32_t w = j < offsets.data()[i + 1] ? words.data()[j] : -2;
            c.note(context(301), w);
            c.note(context(302, b), w);
            if (a != -9) c.note(context(303, b, a), w);
            a = b;
            b = w;
        }
    }
    return counted(c);
}

struct PyFergus {
    const PyGrammar& g;
    Keys keys;
    Ids values;
    Counts counts;
    double words;
    std::vector<int32_t> open;

    PyFergus(const PyGrammar& grammar, Keys k, Ids v, Ids o)
        : g(grammar), keys(k), values(v), counts(k.data(), v.data(), k.shape(0)),
          words(static_cast<double>(grammar.grammar.labels.rows) + 1),
          open(o.data(), o.data() + o.shape(0)) {}
};

nb::tuple choose_trees(const PyFergus& f, Ids words, Ids labels, Ids heads, Ids suffixes,
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
    const size_t n = out_labels.size(), m = scores.size(), t = starts.size();
    return nb::make_tuple(give(std::move(out_labels), {n}), give(std::move(out_frames), {n}),
                          give(std::move(out_slots), {n}), give(std::move(scores), {m}),
                          give(std::move(starts), {t}));
}

nb::tuple realize_tiny(const PyFergus& f, Ids words, Ids labels, Ids heads, Ids suffixes,
                       Offsets offsets, Ids frames, Ids slots, Keys lmk, Ids lmv, Ids lmwords,
                       double ws, double wp, double wl, int width, double margin, int beam, double strength, bool hard) {
    const Columns columns(words, labels, heads, suffixes, offsets, &f.g.grammar);
    std::vector<int32_t> order;
    double paths = 0;
    {
        nb::gil_scoped_release release;
        Counts lmc(lmk.data(), lmv.data(), lmk.shape(0));
        TinyLm lm{lmc};
        Precedence table(f.g.grammar, f.counts, strength);
        Weights w{ws, wp, wl, width, margin, beam};
        Treelet treelet(f.g.grammar, table, w);
        Unraveler unraveler(width, margin);
        LpChooser<TinyLm, TinyState> lp(lm, wl, beam, 1);
        for (size_t i = 0; i < columns.size(); ++i) {
            const TreeNodes t = columns.tree(i);
            const int64_t b = offsets.data()[i];
            Supertagged s;
            s.labels.assign(labels.data() + b, labels.data() + b + t.size);
            s.frames.assign(frames.data() + b, frames.data() + b + t.size);
            s.slots.assign(slots.data() + b, slots.data() + b + t.size);
            if (!hard) s.slots.assign(t.size, -1);
            const auto daughters = t.daughters();
            std::vector<Lattice> lattices;
            for (int32_t m = 0; m < t.size; ++m) {
                lattices.push_back(daughters[m].empty() ? Lattice{} : unraveler.unravel(treelet.costs(t, s, daughters, m)));
                paths += static_cast<double>(lattices.back().arcs.size());
            }
            const auto found = lp.choose(lattices, daughters, std::vector<int32_t>(lmwords.data() + b, lmwords.data() + b + t.size));
            order.insert(order.end(), found[0].nodes.begin(), found[0].nodes.end());
        }
    }
    const size_t n = order.size();
    return nb::make_tuple(give(std::move(order), {n}), paths);
}

Array<int32_t> lr_tiny(Ids words, Ids labels, Ids heads, Ids suffixes, Offsets offsets, Keys ck, Ids cv, Keys lmk, Ids lmv, Ids lmwords, int width, int beam) {
    const Columns columns(words, labels, heads, suffixes, offsets, nullptr);
    std::vector<int32_t> order;
    {
        nb::gil_scoped_release release;
        Counts lmc(lmk.data(), lmv.data(), lmk.shape(0));
        Counts c(ck.data(), cv.data(), ck.shape(0));
        TinyLm lm{lmc};
        LeftRight lr{c};
        Unraveler unraveler(width, 100);
        LpChooser<TinyLm, TinyState> lp(lm, 1, beam, 1);
        for (size_t i = 0; i < columns.size(); ++i) {
            const TreeNodes t = columns.tree(i);
            const int64_t b = offsets.data()[i];
            const auto daughters = t.daughters();
            std::vector<Lattice> lattices;
            for (int32_t m = 0; m < t.size; ++m)
                lattices.push_back(daughters[m].empty() ? Lattice{} : unraveler.unravel(lr.costs(t, daughters[m], m)));
            const auto found = lp.choose(lattices, daughters, std::vector<int32_t>(lmwords.data() + b, lmwords.data() + b + t.size));
            order.insert(order.end(), found[0].nodes.begin(), found[0].nodes.end());
        }
    }
    const size_t n = order.size();
    return give(std::move(order), {n});
}

}  // namespace

void bind_realize(nb::module_& m) {
    m.def("canonical_order", &canonical_order, "keys"_a, "heads"_a, "offsets"_a);
    nb::class_<PyGrammar>(m, "Grammar")
        .def(nb::init<int32_t, int32_t, int32_t, Ids, Offsets, Ids, Offsets, Ids, Offsets, Ids>());
    nb::class_<PyFergus>(m, "Fergus")
        .def(nb::init<const PyGrammar&, Keys, Ids, Ids>(), nb::keep_alive<1, 2>());
    m.def("count_trees", &count_trees);
    m.def("count_sides", &count_sides);
    m.def("choose_trees", &choose_trees);
    m.def("count_tiny", &count_tiny);
    m.def("realize_tiny", &realize_tiny);
    m.def("lr_tiny", &lr_tiny);
}

}  // namespace karat
