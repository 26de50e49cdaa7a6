// Python bindings for querying language models (karat/lm/).
#include "lm/bind.hpp"

#include <functional>

#include "core/sorter.hpp"
#include "lm/arpa.hpp"
#include "lm/places.hpp"
#include "text/bind.hpp"

namespace karat {
namespace {

using Places = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Visits all words and sentence ends, and prefetches some words ahead.
class Ahead {
  public:
    Ahead(const lm::Model& model, const Ids& ids, const Offsets& offsets)
        : model_(model),
          ids_(ids.data()),
          offsets_(offsets.data()),
          sentences_(offsets.shape(0) - 1) {
        for (int i = 0; i < 8; ++i) step();
    }
    void step() {
        if (s_ == sentences_) return;
        const int64_t length = offsets_[s_ + 1] - offsets_[s_];
        model_.prefetch(ids_ + offsets_[s_], length, i_);
        if (i_++ == length) ++s_, i_ = 0;
    }

  private:
    const lm::Model& model_;
    const int32_t* ids_;
    const int64_t* offsets_;
    size_t sentences_, s_ = 0;
    int64_t i_ = 0;
};

// log10 Pr of every sentence including its end, summed in word order.
Array<double> score(const PyModel& self, Ids ids, Offsets offsets) {
    ragged_in_order(ids, offsets);
    std::vector<double> log_probabilities(offsets.shape(0) - 1);
    {
        nb::gil_scoped_release release;
        Ahead ahead(self.model, ids, offsets);
        for (size_t s = 0; s < log_probabilities.size(); ++s) {
            lm::State state = self.model.begin();
            for (int64_t i = offsets(s); i <= offsets(s + 1); ++i) {
                ahead.step();
                const int32_t word = i < offsets(s + 1) ? ids(i) : lm::EOS;
                log_probabilities[s] += self.model.score(state, word, state);
            }
        }
    }
    return give(std::move(log_probabilities));
}

// log10 p and the length of the matched n-gram, for every word and every sentence end.
nb::tuple score_words(const PyModel& self, Ids ids, Offsets offsets) {
    ragged_in_order(ids, offsets);
    std::vector<float> p;
    std::vector<int32_t> lengths;
    {
        nb::gil_scoped_release release;
        for (size_t s = 0; s + 1 < offsets.shape(0); ++s) {
            lm::State state = self.model.begin();
            for (int64_t i = offsets(s); i <= offsets(s + 1); ++i) {
                const int32_t word = i < offsets(s + 1) ? ids(i) : lm::EOS;
                int length;
                p.push_back(self.model.score(state, word, state, length));
                lengths.push_back(length);
            }
        }
    }
    return nb::make_tuple(give(std::move(p)), give(std::move(lengths)));
}

// The table of n-grams of one length: its cells, and the slot and hash of each n-gram. The slots
// and hashes of suffixes refer to the table of the next shorter length.
nb::tuple lm_table(Places suffixes, CellArray hashes, Ids firsts, Floats p, Floats backoff) {
    const size_t n = suffixes.shape(0);
    if (hashes.shape(0) != n || firsts.shape(0) != n || p.shape(0) != n || backoff.shape(0) != n)
        throw nb::value_error("the columns of a table differ in length");
    std::vector<uint64_t> cells(2 * lm::table_slots(n), lm::EMPTY), cell_hashes(n);
    std::vector<uint32_t> places(n);
    Poll poll{nb::none()};
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        Records<lm::Hashed> ngrams;
        ngrams.resize(n);
        for (size_t i = 0; i < n; ++i) {
            cell_hashes[i] = lm::cell_hash(hashes(i), firsts(i));
            const uint64_t key = lm::cell_key(suffixes(i), firsts(i));
            ngrams[i] = {cell_hashes[i], key, p(i), backoff(i), static_cast<uint32_t>(i)};
        }
        sort_records(ngrams.data(), n, watch);
        lm::Places table(n);
        for (size_t i = 0; i < n; ++i) {
            const size_t at = table.take(ngrams[i].hash);
            const lm::Cell cell{ngrams[i].cell, ngrams[i].log, ngrams[i].backoff};
            std::memcpy(&cells[2 * at], &cell, sizeof cell);
            places[ngrams[i].number] = static_cast<uint32_t>(at);
        }
    }
    return nb::make_tuple(give(std::move(cells)), give(std::move(places)),
                          give(std::move(cell_hashes)));
}

Array<uint64_t> word_hashes(int32_t words) {
    std::vector<uint64_t> hashes;
    for (int32_t word = 0; word < words; ++word) hashes.push_back(lm::cell_hash(0, word));
    return give(std::move(hashes));
}

nb::tuple level_arrays(const lm::Level& level) {
    std::vector<uint32_t> suffixes(level.size());
    std::vector<int32_t> firsts(level.size());
    for (size_t i = 0; i < level.size(); ++i) {
        suffixes[i] = level.suffix(i);
        firsts[i] = level.first(i);
    }
    std::vector<uint32_t> contexts = level.contexts();
    return nb::make_tuple(give(std::move(suffixes)), give(std::move(firsts)),
                          give(std::move(contexts)));
}

int64_t feed_arpa(lm::ArpaReader& self, nb::object file, int64_t begin, int64_t enough) {
    const Buffer buffer(file);
    if (begin < 0 || begin > buffer.size()) throw nb::value_error("outside the buffer");
    nb::gil_scoped_release release;
    return self.feed(buffer.data(), begin, buffer.size(), enough);
}

nb::tuple arpa_ngrams(const lm::ArpaReader& self, int n) {
    if (n < 2 || n > self.order()) throw nb::index_error("no n-grams of such a length");
    return level_arrays(self.level(n));
}

nb::tuple arpa_logs(const lm::ArpaReader& self, int n) {
    if (n < 1 || n > self.order()) throw nb::index_error("no n-grams of such a length");
    std::vector<float> p = self.logs(n).p, backoff = self.logs(n).backoff;
    return nb::make_tuple(give(std::move(p)), give(std::move(backoff)));
}

using Rows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The lines of n-grams, given as rows of word ids.
nb::bytes arpa_lines(const PyWordTable& words, Rows ids, Floats p, Floats backoff, bool last) {
    if (p.shape(0) != ids.shape(0) || backoff.shape(0) != ids.shape(0))
        throw nb::value_error("the columns differ in length");
    std::string out;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        lm::append_number(p(i), out);
        for (size_t k = 0; k < ids.shape(1); ++k) {
            if (ids(i, k) < 0 || ids(i, k) >= words.table.size())
                throw nb::index_error("no such word");
            out += k ? ' ' : '\t';
            out += words.table.word(ids(i, k));
        }
        if (!last) {
            out += '\t';
            lm::append_number(backoff(i), out);
        }
        out += '\n';
    }
    return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_lm(nb::module_& m) {
    m.attr("MAX_ORDER") = static_cast<int>(lm::MAX_ORDER);
    nb::class_<PyModel>(m, "LanguageModel")
        .def(nb::init<Floats, Floats, std::vector<CellArray>>(), "p"_a, "backoff"_a, "longer"_a)
        .def_prop_ro("finite", [](const PyModel& self) { return self.model.finite(); })
        .def("score", &score, "ids"_a, "offsets"_a)
        .def("words", &score_words, "ids"_a, "offsets"_a);
    m.def("lm_word_hashes", &word_hashes, "words"_a);
    m.def("lm_table_slots", &lm::table_slots, "ngrams"_a);
    m.def("lm_table", &lm_table, "suffixes"_a, "hashes"_a, "firsts"_a, "p"_a, "backoff"_a);
    nb::class_<lm::ArpaReader>(m, "ArpaReader")
        .def(nb::init<Vocab&>(), "vocab"_a, nb::keep_alive<1, 2>())
        .def("feed", &feed_arpa, "buffer"_a, "begin"_a, "enough"_a)
        .def("finish", &lm::ArpaReader::finish)
        .def_ro("fault", &lm::ArpaReader::fault)
        .def_ro("line", &lm::ArpaReader::line)
        .def_prop_ro("order", &lm::ArpaReader::order)
        .def("ngrams", &arpa_ngrams, "n"_a)
        .def("logs", &arpa_logs, "n"_a);
    m.def("arpa_lines", &arpa_lines, "words"_a, "ids"_a, "p"_a, "backoff"_a, "last"_a);
}

}  // namespace karat
