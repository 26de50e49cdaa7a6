// Python bindings for training language models in bounded memory (karat/lm/training.py).
#include <nanobind/stl/unique_ptr.h>

#include "core/bind.hpp"
#include "lm/bind.hpp"
#include "lm/training.hpp"

namespace karat {
namespace {

// A long pass that reports progress and can be interrupted: `check` is called regularly.
template <class Work>
void watched(nb::object check, const Work& work) {
    Poll poll{std::move(check)};
    nb::gil_scoped_release release;
    Watch watch(std::ref(poll));
    work(watch);
}

void check_length(const lm::Training& self, int n) {
    if (n < 2 || n > self.levels().order()) throw nb::index_error("no n-grams of such a length");
}

void make(lm::Training* self, nb::object open, int order, size_t bytes, size_t room, size_t piece) {
    if (order < 1 || order > lm::MAX_ORDER) throw nb::value_error("no such order");
    const auto opened = [open = std::move(open)] {
        nb::gil_scoped_acquire acquire;
        return nb::cast<int>(open());
    };
    new (self) lm::Training(opened, order, bytes, room, piece);
}

void add(lm::Training& self, Ids ids, Offsets offsets, nb::object check) {
    ragged_in_order(ids, offsets);
    for (size_t i = 0; i < ids.shape(0); ++i)
        if (ids(i) < 0) throw nb::value_error("a word has no number");
    watched(check, [&](Watch& watch) {
        for (size_t s = 0; s + 1 < offsets.shape(0); ++s)
            self.add(ids.data() + offsets(s), offsets(s + 1) - offsets(s), watch);
    });
}

template <class Numbers>
Array<int64_t> to_int64(const Numbers& numbers) {
    return give(std::vector<int64_t>(numbers.begin(), numbers.end()));
}

void gather(lm::Training& self, int n, Numbers p, nb::object check) {
    check_length(self, n);
    if (p.shape(0) != self.levels().words().size())
        throw nb::value_error("expected a probability for each word");
    watched(check, [&](Watch& watch) { self.gather(n, p.data(), watch); });
}

nb::tuple batch(lm::Training& self, size_t enough) {
    lm::ContextPass::Batch next;
    {
        nb::gil_scoped_release release;
        next = self.pass().batch(enough);
    }
    const size_t contexts = self.pass().batch_contexts();
    return nb::make_tuple(contexts, give(std::move(next.contexts)), give(std::move(next.counts)),
                          give(std::move(next.adjusted)), give(std::move(next.lower)));
}

void put(lm::Training& self, Numbers p, Floats logs, Floats weights, nb::object check) {
    const size_t n = self.pass().batch_ngrams();
    if (p.shape(0) != n || logs.shape(0) != n || weights.shape(0) != self.pass().batch_contexts())
        throw nb::value_error("the estimates do not belong to the batch");
    watched(check,
            [&](Watch& watch) { self.put(p.data(), logs.data(), weights.data(), watch); });
}

Array<float> word_backoffs(const lm::Training& self) {
    std::vector<float> values;
    Sequence<float>::Reader reader(self.backoffs(1));
    for (float backoff; reader.next(backoff);) values.push_back(backoff);
    return give(std::move(values));
}

// The cells of a table, or None if the table is in a file.
nb::object table(lm::Training& self, int n, uint32_t least, size_t most, nb::object check) {
    check_length(self, n);
    watched(check, [&](Watch& watch) { self.make_table(n, least, most, watch); });
    lm::Table& trained = self.table(n);
    if (trained.file.used()) return nb::none();
    auto* owned = new Records<lm::Cell>(std::move(trained.cells));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Records<lm::Cell>*>(p); });
    auto* cells = reinterpret_cast<uint64_t*>(owned->data());
    return nb::cast(Array<uint64_t>(cells, {owned->size() * 2}, owner));
}

// The size of a table's file in 64-bit numbers, and its file descriptor.
nb::tuple table_file(lm::Training& self, int n) {
    check_length(self, n);
    return nb::make_tuple(self.table(n).slots * 2, self.table(n).file.number());
}

// The next rows, at most `most`: words, log10 p, back-offs.
nb::tuple next_rows(lm::RowPass& self, size_t most) {
    std::vector<int32_t> words;
    std::vector<float> logs, backoffs;
    size_t many = 0;
    for (lm::Row row; many < most && self.next(row); ++many) {
        words.insert(words.end(), row.words, row.words + self.length());
        logs.push_back(row.log), backoffs.push_back(row.backoff);
    }
    const size_t length = static_cast<size_t>(self.length());
    return nb::make_tuple(give(std::move(words), {many, length}), give(std::move(logs)),
                          give(std::move(backoffs)));
}

}  // namespace

void bind_lm_training(nb::module_& m) {
    nb::class_<lm::RowPass>(m, "NgramRows")
        .def("__len__", &lm::RowPass::size)
        .def("next", &next_rows, "most"_a);
    nb::class_<lm::Training>(m, "NgramTraining")
        .def("__init__", &make, "open"_a, "order"_a, "bytes"_a, "room"_a, "piece"_a)
        .def_ro("done", &lm::Training::done)
        .def_ro("total", &lm::Training::total)
        .def("close", &lm::Training::close)
        .def("limit", &lm::Training::limit, "bytes"_a)
        .def("add", &add, "ids"_a, "offsets"_a, "check"_a.none() = nb::none())
        .def(
            "merge",
            [](lm::Training& self, size_t words, nb::object check) {
                watched(check, [&](Watch& watch) { self.merge(words, watch); });
            },
            "words"_a, "check"_a.none() = nb::none())
        .def("words", [](const lm::Training& self) { return to_int64(self.levels().words()); })
        .def("preceding",
             [](const lm::Training& self) { return to_int64(self.levels().preceding()); })
        .def(
            "adjusted",
            [](const lm::Training& self, int n) {
                check_length(self, n);
                return to_int64(self.levels().adjusted(n));
            },
            "n"_a)
        .def(
            "counts",
            [](const lm::Training& self, int n) {
                check_length(self, n);
                return to_int64(self.levels().counts(n));
            },
            "n"_a)
        .def("gather", &gather, "n"_a, "p"_a, "check"_a.none() = nb::none())
        .def("batch", &batch, "enough"_a)
        .def("put", &put, "p"_a, "logs"_a, "weights"_a, "check"_a.none() = nb::none())
        .def(
            "scatter",
            [](lm::Training& self, nb::object check) {
                watched(check, [&](Watch& watch) { self.scatter(watch); });
            },
            "check"_a.none() = nb::none())
        .def("word_backoffs", &word_backoffs)
        .def("table", &table, "n"_a, "least"_a, "most"_a, "check"_a.none() = nb::none())
        .def("table_file", &table_file, "n"_a)
        .def(
            "kept",
            [](const lm::Training& self, int n, uint32_t least) {
                check_length(self, n);
                nb::gil_scoped_release release;
                return self.levels().count_at_least(n, least);
            },
            "n"_a, "least"_a)
        .def(
            "rows",
            [](lm::Training& self, int n, uint32_t least, nb::object check) {
                check_length(self, n);
                std::unique_ptr<lm::RowPass> pass;
                watched(check, [&](Watch& watch) { pass = self.rows(n, least, watch); });
                return pass;
            },
            "n"_a, "least"_a, "check"_a.none() = nb::none(), nb::keep_alive<0, 1>());
}

}  // namespace karat
