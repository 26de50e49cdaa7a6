// The Python face of the ordering model.
#include "bind_lm.hpp"
#include "labelling.hpp"
#include "ordering.hpp"
#include "ordering_training.hpp"

namespace karat {
namespace {

using Symbols = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Columns that keep their arrays alive, checked once: what follows may trust them.
struct PyColumns {
    Symbols words, endings, shapes, tags, fine, relations;
    Ids heads;
    Offsets offsets;

    PyColumns(Symbols w, Symbols e, Symbols s, Symbols t, Symbols f, Symbols r, Ids h, Offsets o)
        : words(w), endings(e), shapes(s), tags(t), fine(f), relations(r), heads(h), offsets(o) {
        const size_t n = heads.shape(0);
        for (const Symbols& c : {words, endings, shapes, tags, fine, relations})
            if (c.shape(0) != n) throw nb::value_error("columns of different lengths");
        if (!offsets.shape(0) || offsets(0) != 0 ||
            offsets(offsets.shape(0) - 1) != static_cast<int64_t>(n))
            throw nb::value_error("the offsets do not fit the columns");
        for (size_t t1 = 0; t1 + 1 < offsets.shape(0); ++t1) check(offsets(t1), offsets(t1 + 1));
    }

    void check(int64_t begin, int64_t end) const {
        if (end <= begin || heads(begin) != -1)
            throw nb::value_error("a tree begins with its root");
        for (int64_t i = begin + 1; i < end; ++i)
            if (heads(i) < 0 || heads(i) >= i - begin)
                throw nb::value_error("a head comes before its daughters");
    }

    TreeColumns view() const {
        return {words.data(), endings.data(),   shapes.data(), tags.data(),
                fine.data(),  relations.data(), heads.data(),  offsets.data(), trees()};
    }
    int64_t trees() const { return static_cast<int64_t>(offsets.shape(0)) - 1; }
};

Array<uint32_t> symbols_of(const PyViews& views) {
    std::vector<uint32_t> out;
    for (const std::string_view s : views.items) out.push_back(symbol_of(s));
    const size_t n = out.size();
    return give(std::move(out), {n});
}

void check_chosen(const Offsets& chosen, const PyColumns& columns) {
    for (size_t i = 0; i < chosen.shape(0); ++i)
        if (chosen(i) < 0 || chosen(i) >= columns.trees()) throw nb::index_error("no such tree");
}

double train_trees(OrderingTrainer& self, const PyColumns& columns, Ids places, Weights hidden,
                   Offsets chosen, uint64_t seed) {
    if (places.shape(0) != columns.heads.shape(0)) throw nb::value_error("one place a node");
    if (hidden.shape(0) != columns.heads.shape(0)) throw nb::value_error("one chance a node");
    check_chosen(chosen, columns);
    nb::gil_scoped_release release;
    const TreeColumns view = columns.view();
    double loss = 0;
    for (size_t i = 0; i < chosen.shape(0); ++i)
        loss += self.see(view, places.data(), hidden.data(), chosen(i),
                         mix(seed, static_cast<uint64_t>(chosen(i)) + 1));
    return loss;
}

nb::tuple gradient(OrderingTrainer& self, const PyColumns& columns, Ids places, int64_t t,
                   Weights weights) {
    if (t < 0 || t >= columns.trees()) throw nb::index_error("no such tree");
    if (places.shape(0) != columns.heads.shape(0)) throw nb::value_error("one place a node");
    if (weights.shape(0) != self.size()) throw nb::value_error("weights of another size");
    const size_t n = weights.shape(0);
    std::vector<double> found(n);
    const double loss = self.slopes(columns.view(), places.data(), t,
                                    {weights.data(), weights.data() + n}, found);
    return nb::make_tuple(loss, give(std::move(found), {n}));
}

int bits_of(const Weights& weights) {
    int bits = 0;
    while ((size_t{1} << bits) < weights.shape(0)) ++bits;
    if (!bits || (size_t{1} << bits) != weights.shape(0))
        throw nb::value_error("the weights are a power of two");
    return bits;
}

// For the trees from `begin` to `end` their best orders: how many each has, their scores, and their
// nodes, one order after the other.
nb::tuple order_trees(Weights weights, const PyColumns& columns, int64_t begin, int64_t end, int k,
                      int beam, int alternatives, const PyModel* model, Ids words, double weight) {
    if (begin < 0 || end > columns.trees()) throw nb::index_error("no such tree");
    if (model && words.shape(0) != columns.heads.shape(0)) throw nb::value_error("one word a node");
    std::vector<int32_t> counts, nodes;
    std::vector<double> scores;
    const DecodeSettings settings{beam, alternatives, model ? &model->model : nullptr, weight};
    OrderDecoder decoder(weights.data(), bits_of(weights), settings);
    {
        nb::gil_scoped_release release;
        const TreeColumns view = columns.view();
        for (int64_t t = begin; t < end; ++t) {
            const TreeNodes tree(view, t);
            auto found = decoder.best(tree, model ? words.data() + view.offsets[t] : nullptr, k);
            if (found.size() > static_cast<size_t>(k)) found.resize(k);
            counts.push_back(static_cast<int32_t>(found.size()));
            for (const Phrase& phrase : found) {
                scores.push_back(phrase.score);
                nodes.insert(nodes.end(), phrase.nodes.begin(), phrase.nodes.end());
            }
        }
    }
    const size_t c = counts.size(), s = scores.size(), n = nodes.size();
    return nb::make_tuple(give(std::move(counts), {c}), give(std::move(scores), {s}),
                          give(std::move(nodes), {n}));
}

// The heads of a tree's treelets and what each kind of feature adds to their orders.
nb::tuple explain_order(Weights weights, const PyColumns& columns, int64_t t, Ids places) {
    if (t < 0 || t >= columns.trees()) throw nb::index_error("no such tree");
    const TreeNodes tree(columns.view(), t);
    if (static_cast<int>(places.shape(0)) != tree.size()) throw nb::value_error("one place a node");
    OrderParts found = order_parts(weights.data(), bits_of(weights), tree, places.data());
    const size_t n = found.heads.size();
    return nb::make_tuple(give(std::move(found.heads), {n}),
                          give(std::move(found.parts), {n, static_cast<size_t>(part_kinds)}));
}

// The map from features to rows, checked: a power of two, and no row beyond the table.
FeatureRows feature_rows(const Ids& known, int64_t rows) {
    int bits = 0;
    while ((size_t{1} << bits) < known.shape(0)) ++bits;
    if (!bits || (size_t{1} << bits) != known.shape(0))
        throw nb::value_error("the features are a power of two");
    for (size_t i = 0; i < known.shape(0); ++i)
        if (known(i) >= rows) throw nb::value_error("a feature beyond the table");
    return {known.data(), bits};
}

double train_labels(LabelTrainer& self, const PyColumns& columns, Ids known, Ids gold,
                    Offsets chosen, uint64_t seed) {
    if (gold.shape(0) != columns.heads.shape(0)) throw nb::value_error("one label a node");
    check_chosen(chosen, columns);
    for (size_t i = 0; i < gold.shape(0); ++i)
        if (gold(i) < 0 || gold(i) >= self.labels()) throw nb::index_error("no such label");
    const FeatureRows rows = feature_rows(known, self.rows());
    nb::gil_scoped_release release;
    const TreeColumns view = columns.view();
    double loss = 0;
    for (size_t i = 0; i < chosen.shape(0); ++i)
        loss += self.see(view, rows, gold.data(), chosen(i),
                         mix(seed, static_cast<uint64_t>(chosen(i)) + 1));
    return loss;
}

Array<uint8_t> count_labelling(const PyColumns& columns, Offsets chosen, int bits, bool second) {
    check_chosen(chosen, columns);
    if (bits < 1 || bits > 30) throw nb::value_error("bits: expected 1 to 30");
    std::vector<uint8_t> counts(size_t{1} << bits);
    {
        nb::gil_scoped_release release;
        const TreeColumns view = columns.view();
        for (size_t i = 0; i < chosen.shape(0); ++i)
            count_features(TreeNodes(view, chosen(i)), second, bits, counts.data());
    }
    const size_t n = counts.size();
    return give(std::move(counts), {n});
}

// For every node of the chosen trees the most probable label, the first of equals.
Array<int32_t> label_trees(Weights weights, Ids known, const PyColumns& columns, Offsets chosen,
                           int labels, bool second) {
    if (labels < 1 || weights.shape(0) % static_cast<size_t>(labels))
        throw nb::value_error("the weights do not fit the labels");
    const FeatureRows table =
        feature_rows(known, static_cast<int64_t>(weights.shape(0)) / labels);
    check_chosen(chosen, columns);
    std::vector<int32_t> out;
    {
        nb::gil_scoped_release release;
        const TreeColumns view = columns.view();
        std::vector<int32_t> rows;
        std::vector<float> p;
        for (size_t c = 0; c < chosen.shape(0); ++c) {
            const TreeNodes tree(view, chosen(c));
            for (int i = 0; i < tree.size(); ++i) {
                label_rows(tree, i, second, table, rows);
                label_chances(weights.data(), labels, rows, p);
                out.push_back(
                    static_cast<int32_t>(std::max_element(p.begin(), p.end()) - p.begin()));
            }
        }
    }
    const size_t n = out.size();
    return give(std::move(out), {n});
}

}  // namespace

void bind_ordering(nb::module_& m) {
    nb::class_<PyColumns>(m, "TreeColumns")
        .def(nb::init<Symbols, Symbols, Symbols, Symbols, Symbols, Symbols, Ids, Offsets>(),
             "words"_a, "endings"_a, "shapes"_a, "tags"_a, "fine"_a, "relations"_a, "heads"_a,
             "offsets"_a)
        .def("__len__", [](const PyColumns& self) { return self.trees(); });
    nb::class_<OrderingTrainer>(m, "OrderingTrainer")
        .def(
            "__init__",
            [](OrderingTrainer* self, int bits, int beam, int alternatives, float rate,
               float dropout, float damping) {
                const OrderingSettings settings{bits, beam, alternatives, rate, dropout, damping};
                new (self) OrderingTrainer(settings);
            },
            "bits"_a, "beam"_a, "alternatives"_a, "rate"_a, "dropout"_a, "damping"_a)
        .def("train", &train_trees, "columns"_a, "places"_a, "hidden"_a, "chosen"_a, "seed"_a)
        .def("gradient", &gradient, "columns"_a, "places"_a, "tree"_a, "weights"_a)
        .def("remember", &OrderingTrainer::remember)
        .def("mean", [](const OrderingTrainer& self) {
            auto mean = self.mean();
            const size_t n = mean.size();
            return give(std::move(mean), {n});
        });
    nb::class_<LabelTrainer>(m, "LabelTrainer")
        .def(
            "__init__",
            [](LabelTrainer* self, int labels, int rows, bool second, float rate, float dropout,
               float damping) {
                const LabelSettings settings{labels, rows, second, rate, dropout, damping};
                new (self) LabelTrainer(settings);
            },
            "labels"_a, "rows"_a, "second"_a, "rate"_a, "dropout"_a, "damping"_a)
        .def("train", &train_labels, "columns"_a, "known"_a, "gold"_a, "chosen"_a, "seed"_a)
        .def("remember", &LabelTrainer::remember)
        .def("mean", [](const LabelTrainer& self) {
            auto mean = self.mean();
            const size_t n = mean.size();
            return give(std::move(mean), {n});
        });
    m.def("label_trees", &label_trees, "weights"_a, "known"_a, "columns"_a, "chosen"_a, "labels"_a,
          "second"_a);
    m.def("count_labelling", &count_labelling, "columns"_a, "chosen"_a, "bits"_a, "second"_a);
    m.def("symbols", &symbols_of, "views"_a);
    m.def("order_trees", &order_trees, "weights"_a, "columns"_a, "begin"_a, "end"_a, "k"_a,
          "beam"_a, "alternatives"_a, "model"_a.none(), "words"_a, "weight"_a);
    m.def("explain_order", &explain_order, "weights"_a, "columns"_a, "tree"_a, "places"_a);
}

}  // namespace karat
