// The Python face of word tables.
#include "text/bind.hpp"

#include "text/vocab.hpp"

namespace karat {
namespace {

// The words of a vocabulary, one after the other, and where each begins.
nb::tuple vocab_bytes(const Vocab& vocab) {
    std::vector<uint8_t> bytes;
    std::vector<int64_t> offsets{0};
    for (int32_t id = 0; id < vocab.size(); ++id) {
        const std::string_view w = vocab.word(id);
        bytes.insert(bytes.end(), w.begin(), w.end());
        offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    const size_t n = bytes.size(), m = offsets.size();
    return nb::make_tuple(give(std::move(bytes), {n}), give(std::move(offsets), {m}));
}

Array<int32_t> word_slots(Bytes bytes, Offsets offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(bytes.shape(0)))
        throw nb::value_error("the offsets do not fit the bytes");
    auto slots = WordTable::build(reinterpret_cast<const char*>(bytes.data()), offsets.data(),
                                  static_cast<int32_t>(n - 1));
    const size_t size = slots.size();
    return give(std::move(slots), {size});
}

// The ids here of a vocabulary's words from `start` on; -1 for those that are not here.
Array<int32_t> find_vocab(const PyWordTable& self, const Vocab& vocab, int32_t start) {
    std::vector<int32_t> ids;
    for (int32_t id = start; id < vocab.size(); ++id)
        ids.push_back(self.table.find(vocab.word(id)));
    const size_t n = ids.size();
    return give(std::move(ids), {n});
}

nb::list words_of(const PyWordTable& self, Ids ids) {
    nb::list words;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        if (ids(i) < 0 || ids(i) >= self.table.size()) throw nb::index_error("no such word");
        words.append(to_str(self.table.word(ids(i))));
    }
    return words;
}

}  // namespace

void bind_words(nb::module_& m) {
    nb::class_<PyWordTable>(m, "WordTable")
        .def(nb::init<Bytes, Offsets, Ids>(), "bytes"_a, "offsets"_a, "slots"_a)
        .def("__len__", [](const PyWordTable& self) { return self.table.size(); })
        .def("find", &find_vocab, "vocab"_a, "start"_a = 0)
        .def("words", &words_of, "ids"_a);
    m.def("vocab_bytes", &vocab_bytes, "vocab"_a);
    m.def("word_slots", &word_slots, "bytes"_a, "offsets"_a);
}

}  // namespace karat
