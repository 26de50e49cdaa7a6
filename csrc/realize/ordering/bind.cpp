// Python bindings of the ordering model.
#include "lm/bind.hpp"
#include "realize/ordering/half_bytes.hpp"
#include "realize/ordering/labelling.hpp"
#include "realize/ordering/model.hpp"
#include "realize/ordering/scales.hpp"
#include "realize/ordering/training.hpp"
#include "text/bind.hpp"

namespace karat::ordering {
namespace {

using Symbols = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using HalfBytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Columns that keep their arrays alive. They are checked once; later code relies on that.
struct PyColumns {
    Symbols words, endings, shapes, tags, fine, relations, further;
    Ids heads;
    Offsets offsets;

    PyColumns(Symbols w, Symbols e, Symbols s, Symbols t, Symbols f, Symbols r, Symbols d, Ids h,
              Offsets o)
        : words(w),
          endings(e),
          shapes(s),
          tags(t),
          fine(f),
          relations(r),
          further(d),
          heads(h),
          offsets(o) {
        const size_t n = heads.shape(0);
        for (const Symbols& c : {words, endings, shapes, tags, fine, relations, further})
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
        return {words.data(),     endings.data(), shapes.data(), tags.data(),    fine.data(),
                relations.data(), further.data(), heads.data(),  offsets.data(), trees()};
    }
    int64_t trees() const { return static_cast<int64_t>(offsets.shape(0)) - 1; }
};

// Not a vector, which would be zeroed first.
Array<float> py_half_bytes(HalfBytes packed, Weights scales, size_t width) {
    const size_t rows = scales.shape(0);
    if (width > (size_t{1} << 20) || packed.shape(0) != (rows * width + 1) / 2)
        throw nb::value_error("half bytes and scales differ in number");
    float* const weights = new float[rows * width];
    nb::capsule owner(weights, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    {
        nb::gil_scoped_release release;
        from_half_bytes(packed.data(), scales.data(), rows, width, weights);
    }
    return Array<float>(weights, {rows * width}, owner);
}

Array<uint32_t> symbols_of(const PyViews& views) {
    std::vector<uint32_t> out;
    for (const std::string_view s : views.items) out.push_back(symbol_of(s));
    return give(std::move(out));
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
    std::vector<double> slope_sums(n);
    const double loss = self.slopes(columns.view(), places.data(), t,
                                    {weights.data(), weights.data() + n}, slope_sums);
    return nb::make_tuple(loss, give(std::move(slope_sums), {n}));
}

int bits_of(const Weights& weights) {
    int bits = 0;
    while ((size_t{1} << bits) < weights.shape(0)) ++bits;
    if (!bits || (size_t{1} << bits) != weights.shape(0))
        throw nb::value_error("the weights are a power of two");
    return bits;
}

// The best orders of the trees from `begin` to `end`: the number of orders per tree, their scores,
// and their nodes, order after order.
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
            auto orders = decoder.best(tree, model ? words.data() + view.offsets[t] : nullptr, k);
            if (orders.size() > static_cast<size_t>(k)) orders.resize(k);
            counts.push_back(static_cast<int32_t>(orders.size()));
            for (const Phrase& phrase : orders) {
                scores.push_back(phrase.score);
                nodes.insert(nodes.end(), phrase.nodes.begin(), phrase.nodes.end());
            }
        }
    }
    return nb::make_tuple(give(std::move(counts)), give(std::move(scores)), give(std::move(nodes)));
}

using Classes = nb::ndarray<const uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Array<uint16_t> feature_classes(const PyColumns& columns, Ids places, Offsets chosen, int bits) {
    if (places.shape(0) != columns.heads.shape(0)) throw nb::value_error("one place a node");
    if (bits < 1 || bits > 30) throw nb::value_error("bits: expected 1 to 30");
    check_chosen(chosen, columns);
    std::vector<FeatureClass> feature_class;
    {
        nb::gil_scoped_release release;
        const TreeColumns view = columns.view();
        FeatureClasses classes(bits);
        for (size_t i = 0; i < chosen.shape(0); ++i)
            classes.see(TreeNodes(view, chosen(i)), places.data() + view.offsets[chosen(i)]);
        feature_class = classes.classes();
    }
    return give(std::move(feature_class));
}

// A trainer of scales that keeps its arrays alive.
struct PyScaleTrainer {
    Weights weights;
    Classes classes;
    ScaleTrainer trainer;

    PyScaleTrainer(Weights w, Classes c)
        : weights(w), classes(c), trainer(w.data(), c.data(), bits_of(w)) {
        if (c.shape(0) != w.shape(0)) throw nb::value_error("one class a weight");
        for (size_t i = 0; i < c.shape(0); ++i)
            if (c(i) >= most_templates * frequencies) throw nb::value_error("no such class");
    }
};

// Orders the chosen trees and stores the training data from their k best orders.
void see_best_orders(PyScaleTrainer& self, const PyColumns& columns, Ids places, Offsets chosen,
                     int k, int beam, int alternatives, const PyModel* model, Ids words,
                     double weight) {
    if (places.shape(0) != columns.heads.shape(0)) throw nb::value_error("one place a node");
    if (model && words.shape(0) != columns.heads.shape(0)) throw nb::value_error("one word a node");
    check_chosen(chosen, columns);
    const DecodeSettings settings{beam, alternatives, model ? &model->model : nullptr, weight};
    OrderDecoder decoder(self.weights.data(), bits_of(self.weights), settings);
    nb::gil_scoped_release release;
    const TreeColumns view = columns.view();
    for (size_t i = 0; i < chosen.shape(0); ++i) {
        const TreeNodes tree(view, chosen(i));
        const int64_t at = view.offsets[chosen(i)];
        auto orders = decoder.best(tree, model ? words.data() + at : nullptr, k);
        if (orders.size() > static_cast<size_t>(k)) orders.resize(k);
        self.trainer.see(tree, places.data() + at, orders);
    }
}

// For one sentence: the index of the correct order, the scores, and rows of order, scale and sum.
nb::tuple scale_parts(const PyScaleTrainer& self, size_t i) {
    if (i >= self.trainer.sentences().size()) throw nb::index_error("no such sentence");
    const ScaleTrainer::Sentence& s = self.trainer.sentences()[i];
    std::vector<double> rows;
    for (size_t k = 0; k < s.parts.size(); ++k)
        for (const ScaleTrainer::Part& part : s.parts[k])
            rows.insert(rows.end(), {static_cast<double>(k), static_cast<double>(part.scale),
                                     static_cast<double>(part.sum)});
    const size_t n = rows.size() / 3, k = s.scores.size();
    return nb::make_tuple(s.right, give(std::vector<double>(s.scores), {k}),
                          give(std::move(rows), {n, 3}));
}

// The heads of a tree's treelets, and the contribution of each kind of feature to their orders.
nb::tuple explain_order(Weights weights, const PyColumns& columns, int64_t t, Ids places) {
    if (t < 0 || t >= columns.trees()) throw nb::index_error("no such tree");
    const TreeNodes tree(columns.view(), t);
    if (static_cast<int>(places.shape(0)) != tree.size()) throw nb::value_error("one place a node");
    OrderParts explained = order_parts(weights.data(), bits_of(weights), tree, places.data());
    const size_t n = explained.heads.size();
    return nb::make_tuple(give(std::move(explained.heads), {n}),
                          give(std::move(explained.parts), {n, static_cast<size_t>(part_kinds)}));
}

// Returns the map from features to rows after a check: its size is a power of two, and all rows are
// in the table.
FeatureRows feature_rows(const Ids& row_of_hash, int64_t rows) {
    int bits = 0;
    while ((size_t{1} << bits) < row_of_hash.shape(0)) ++bits;
    if (!bits || (size_t{1} << bits) != row_of_hash.shape(0))
        throw nb::value_error("the features are a power of two");
    for (size_t i = 0; i < row_of_hash.shape(0); ++i)
        if (row_of_hash(i) >= rows) throw nb::value_error("a feature beyond the table");
    return {row_of_hash.data(), bits};
}

using Affixes2d = nb::ndarray<const uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels2d = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Some trees of columns whose words have affixes.
struct ChosenTrees {
    TreeColumns view;
    const Symbol* affixes;
    const Offsets& chosen;

    ChosenTrees(const PyColumns& columns, const Affixes2d& a, const Offsets& selected)
        : view(columns.view()), affixes(a.data()), chosen(selected) {
        if (a.shape(0) != columns.heads.shape(0) || a.shape(1) != Affixes::columns)
            throw nb::value_error("affixes of other words");
        check_chosen(selected, columns);
    }

    template <class See>
    void visit(See&& see) const {
        for (size_t c = 0; c < chosen.shape(0); ++c)
            see(LabelledTree(view, affixes, chosen(c)), view.offsets[chosen(c)]);
    }
};

RowsOfNodes rows_of_nodes(const PyColumns& columns, Affixes2d affixes, Offsets chosen,
                          Ids row_of_hash, bool second) {
    const ChosenTrees trees(columns, affixes, chosen);
    const FeatureRows table = feature_rows(row_of_hash, int64_t{1} << 31);
    nb::gil_scoped_release release;
    RowsOfNodes rows(columns.heads.shape(0));
    trees.visit([&](const LabelledTree& t, int64_t at) { rows.add(t, at, second, table); });
    return rows;
}

Array<int32_t> rows_of_node(const RowsOfNodes& self, size_t node) {
    if (node >= self.begins.size()) throw nb::index_error("no such node");
    std::vector<int32_t> node_rows(self.rows.begin() + self.begins[node],
                                   self.rows.begin() + self.ends[node]);
    return give(std::move(node_rows));
}

void check_labels(const LabelTrainer& trainer, const RowsOfNodes& rows, const Labels2d& gold) {
    const std::vector<int>& labels = trainer.settings().labels;
    if (gold.shape(0) != rows.begins.size() || gold.shape(1) != labels.size())
        throw nb::value_error("one label of each kind a node");
    for (size_t i = 0; i < gold.shape(0); ++i)
        for (size_t k = 0; k < labels.size(); ++k)
            if (gold(i, k) < 0 || gold(i, k) >= labels[k]) throw nb::index_error("no such label");
    for (const int32_t r : rows.rows)
        if (r >= trainer.settings().rows) throw nb::value_error("a feature beyond the table");
}

double train_labels(LabelTrainer& self, const RowsOfNodes& rows, Labels2d gold,
                    const PyColumns& columns, Offsets chosen, uint64_t seed) {
    check_labels(self, rows, gold);
    check_chosen(chosen, columns);
    if (columns.heads.shape(0) != rows.begins.size()) throw nb::value_error("rows of other trees");
    nb::gil_scoped_release release;
    double loss = 0;
    for (size_t i = 0; i < chosen.shape(0); ++i) {
        const int64_t t = chosen(i), begin = columns.offsets(t), end = columns.offsets(t + 1);
        loss += self.see(rows, gold.data(), begin, end, mix(seed, static_cast<uint64_t>(t) + 1));
    }
    return loss;
}

// The rows of nodes whose features were computed elsewhere; rows of node i begin at `offsets[i]`.
RowsOfNodes given_rows(Ids rows, Offsets offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(rows.shape(0)))
        throw nb::value_error("the offsets do not fit the rows");
    RowsOfNodes result(n - 1);
    for (size_t i = 0; i + 1 < n; ++i) {
        if (offsets(i + 1) < offsets(i)) throw nb::value_error("offsets fall");
        result.begins[i] = offsets(i), result.ends[i] = offsets(i + 1);
    }
    for (size_t i = 0; i < rows.shape(0); ++i)
        if (rows(i) < 0) throw nb::value_error("a row below 0");
    result.rows.assign(rows.data(), rows.data() + rows.shape(0));
    return result;
}

double train_nodes(LabelTrainer& self, const RowsOfNodes& rows, Labels2d gold, Offsets nodes,
                   uint64_t seed) {
    check_labels(self, rows, gold);
    for (size_t i = 0; i < nodes.shape(0); ++i)
        if (nodes(i) < 0 || nodes(i) >= static_cast<int64_t>(rows.begins.size()))
            throw nb::index_error("no such node");
    nb::gil_scoped_release release;
    return self.see(rows, gold.data(), nodes.data(), nodes.shape(0), seed);
}

// The probability of each label for every node.
Array<float> label_chances(Weights table, int labels, const RowsOfNodes& rows) {
    const auto size = static_cast<int64_t>(table.shape(0));
    if (labels < 1 || size % labels) throw nb::value_error("the weights do not fit the labels");
    for (const int32_t r : rows.rows)
        if (r >= size / labels) throw nb::value_error("a feature beyond the table");
    const size_t n = rows.begins.size();
    std::vector<float> out(n * static_cast<size_t>(labels));
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < n; ++i) {
            float* p = out.data() + i * static_cast<size_t>(labels);
            const int32_t* first = rows.rows.data();
            add_rows(table.data(), labels, first + rows.begins[i], first + rows.ends[i], p);
            softmax_of(p, labels);
        }
    }
    return give(std::move(out), {n, static_cast<size_t>(labels)});
}

Array<uint8_t> count_labelling(const PyColumns& columns, Affixes2d affixes, Offsets chosen,
                               int bits, bool second) {
    const ChosenTrees trees(columns, affixes, chosen);
    if (bits < 1 || bits > 30) throw nb::value_error("bits: expected 1 to 30");
    std::vector<uint8_t> counts(size_t{1} << bits);
    {
        nb::gil_scoped_release release;
        trees.visit([&](const LabelledTree& t, int64_t) {
            count_features(t, second, bits, counts.data());
        });
    }
    return give(std::move(counts));
}

// Checks the table of each kind of label; returns their common number of rows.
int64_t rows_of_tables(const std::vector<Weights>& tables, const std::vector<int>& labels) {
    if (tables.empty() || tables.size() != labels.size())
        throw nb::value_error("one table a kind of label");
    int64_t rows = -1;
    for (size_t k = 0; k < tables.size(); ++k) {
        const auto size = static_cast<int64_t>(tables[k].shape(0));
        if (labels[k] < 1 || size % labels[k] || (k && size / labels[k] != rows))
            throw nb::value_error("the weights do not fit the labels");
        rows = size / labels[k];
    }
    return rows;
}

// For every node of the chosen trees, the most probable label of each kind (the first in a tie),
// and the second most probable, or -1 if the first is certain.
Array<int32_t> label_trees(std::vector<Weights> tables, std::vector<int> labels, Ids row_of_hash,
                           const PyColumns& columns, Affixes2d affixes, Offsets chosen, bool second,
                           float sure) {
    const FeatureRows table = feature_rows(row_of_hash, rows_of_tables(tables, labels));
    const ChosenTrees trees(columns, affixes, chosen);
    std::vector<int32_t> out;
    {
        nb::gil_scoped_release release;
        std::vector<int32_t> rows;
        std::vector<float> p;
        trees.visit([&](const LabelledTree& t, int64_t) {
            for (int i = 0; i < t.nodes.size(); ++i) {
                rows.clear();
                label_rows(t, i, second, table, rows);
                for (size_t k = 0; k < tables.size(); ++k) {
                    p.assign(labels[k], 0);
                    add_rows(tables[k].data(), labels[k], rows, p.data());
                    const BestTwo pair = best_two(p, sure);
                    out.push_back(pair.best);
                    out.push_back(pair.other);
                }
            }
        });
    }
    const size_t k = tables.size(), n = out.size() / (2 * k);
    return give(std::move(out), {n, k, size_t{2}});
}

void bind_scales(nb::module_& m) {
    m.attr("TEMPLATES") = most_templates;
    m.attr("FREQUENCIES") = frequencies;
    m.def("feature_classes", &feature_classes, "columns"_a, "places"_a, "chosen"_a, "bits"_a);
    nb::class_<PyScaleTrainer>(m, "ScaleTrainer")
        .def(nb::init<Weights, Classes>(), "weights"_a, "classes"_a)
        .def("__len__", [](const PyScaleTrainer& self) { return self.trainer.sentences().size(); })
        .def("see", &see_best_orders, "columns"_a, "places"_a, "chosen"_a, "k"_a, "beam"_a,
             "alternatives"_a, "model"_a.none(), "words"_a, "weight"_a)
        .def("parts", &scale_parts, "sentence"_a)
        .def(
            "fit",
            [](PyScaleTrainer& self, int epochs, float rate, float damping, float decay,
               uint64_t seed) {
                return give(self.trainer.fit({epochs, rate, damping, decay}, seed),
                            {static_cast<size_t>(scale_count)});
            },
            "epochs"_a, "rate"_a, "damping"_a, "decay"_a, "seed"_a);
}

void bind_labels(nb::module_& m) {
    nb::class_<RowsOfNodes>(m, "RowsOfNodes")
        .def("__len__", [](const RowsOfNodes& self) { return self.rows.size(); })
        .def("of", &rows_of_node, "node"_a);
    m.def("given_rows", &given_rows, "rows"_a, "offsets"_a);
    m.def("label_chances", &label_chances, "table"_a, "labels"_a, "rows"_a);
    m.def("rows_of_nodes", &rows_of_nodes, "columns"_a, "affixes"_a, "chosen"_a, "known"_a,
          "second"_a);
    nb::class_<LabelTrainer>(m, "LabelTrainer")
        .def(
            "__init__",
            [](LabelTrainer* self, std::vector<int> labels, int rows, float rate, float dropout,
               float damping) {
                const LabelSettings settings{std::move(labels), rows, rate, dropout, damping};
                new (self) LabelTrainer(settings);
            },
            "labels"_a, "rows"_a, "rate"_a, "dropout"_a, "damping"_a)
        .def("train", &train_labels, "rows"_a, "gold"_a, "columns"_a, "chosen"_a, "seed"_a)
        .def("train_nodes", &train_nodes, "rows"_a, "gold"_a, "nodes"_a, "seed"_a)
        .def("remember", &LabelTrainer::remember)
        .def("mean", [](const LabelTrainer& self) {
            auto mean = self.mean();
            const auto all = static_cast<size_t>(self.all());
            const size_t n = mean.size() / all;
            return give(std::move(mean), {n, all});
        });
    m.def("from_half_bytes", &py_half_bytes, "found"_a, "scales"_a, "width"_a);
    m.def("label_trees", &label_trees, "tables"_a, "labels"_a, "known"_a, "columns"_a, "affixes"_a,
          "chosen"_a, "second"_a, "sure"_a);
    m.def("count_labelling", &count_labelling, "columns"_a, "affixes"_a, "chosen"_a, "bits"_a,
          "second"_a);
}

}  // namespace

void bind_ordering(nb::module_& m) {
    nb::class_<PyColumns>(m, "TreeColumns")
        .def(nb::init<Symbols, Symbols, Symbols, Symbols, Symbols, Symbols, Symbols, Ids,
                      Offsets>(),
             "words"_a, "endings"_a, "shapes"_a, "tags"_a, "fine"_a, "relations"_a, "others"_a,
             "heads"_a, "offsets"_a)
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
            return give(std::move(mean));
        });
    bind_scales(m);
    bind_labels(m);
    m.def("symbols", &symbols_of, "views"_a);
    m.def("order_trees", &order_trees, "weights"_a, "columns"_a, "begin"_a, "end"_a, "k"_a,
          "beam"_a, "alternatives"_a, "model"_a.none(), "words"_a, "weight"_a);
    m.def("explain_order", &explain_order, "weights"_a, "columns"_a, "tree"_a, "places"_a);
}

}  // namespace karat::ordering
