// Python bindings of text: segments, vocabularies and word tables, tokenisers, treebanks.
#include <memory>
#include <string>
#include <vector>

#include "text/bind.hpp"
#include "text/conllu.hpp"
#include "text/lines.hpp"
#include "text/porter.hpp"
#include "text/tercom.hpp"
#include "text/tokenizers.hpp"
#include "text/utf8.hpp"
#include "text/views.hpp"
#include "text/vocab.hpp"

namespace karat {
namespace {

// ---------------------------------------------------------------------------------------- segments

// The bytes of a str: a view into it if it is ASCII, else a copy in the arena. Python could cache
// a UTF-8 form in the object itself, but that would grow the caller's strings and fail on lone
// surrogates.
std::string_view view_of(PyObject* str, Views& views) {
    const Py_ssize_t n = PyUnicode_GET_LENGTH(str);
    const void* data = PyUnicode_DATA(str);
    if (PyUnicode_IS_ASCII(str))
        return {static_cast<const char*>(data), static_cast<size_t>(n)};
    const int kind = PyUnicode_KIND(str);
    size_t bytes = 0;
    for (Py_ssize_t i = 0; i < n; ++i) {
        const Py_UCS4 c = PyUnicode_READ(kind, data, i);
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    char* const begin = views.allocate(bytes);
    char* out = begin;
    for (Py_ssize_t i = 0; i < n; ++i) encode(PyUnicode_READ(kind, data, i), out);
    return {begin, bytes};
}

// The items of a list or tuple.
struct Items {
    PyObject** begin;
    size_t size;

    explicit Items(nb::handle items)
        : begin(PySequence_Fast_ITEMS(items.ptr())),
          size(static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr()))) {}
};

nb::object checked(nb::handle items) {
    if (!nb::isinstance<nb::list>(items) && !nb::isinstance<nb::tuple>(items))
        throw nb::type_error("expected a list or tuple of str");
    return nb::borrow(items);
}

// The views keep a reference to an immutable tuple or to their own copy of the list, so that the
// strings stay alive.
PyViews* from_strings(nb::object strings, size_t start, size_t stop) {
    const Items items(checked(strings));
    if (start > stop || stop > items.size) throw nb::index_error("no such segments");
    nb::object owner = strings;
    if (!nb::isinstance<nb::tuple>(strings)) {
        owner = nb::steal(PyList_GetSlice(strings.ptr(), static_cast<Py_ssize_t>(start),
                                          static_cast<Py_ssize_t>(stop)));
        if (!owner) throw nb::python_error();
    }
    auto views = std::make_unique<PyViews>();
    views->owners.push_back(owner);
    views->items.reserve(stop - start);
    for (size_t i = start; i < stop; ++i) {
        if (!PyUnicode_Check(items.begin[i])) throw nb::type_error("every segment must be a str");
        views->items.push_back(view_of(items.begin[i], *views));
    }
    return views.release();
}

// The index of the first item that is not a str, or -1.
int64_t first_not_str(nb::object strings) {
    const Items items(checked(strings));
    for (size_t i = 0; i < items.size; ++i)
        if (!PyUnicode_Check(items.begin[i])) return static_cast<int64_t>(i);
    return -1;
}

// The number of characters in each run of `stride` strings.
Array<int64_t> string_sizes(nb::object strings, size_t stride) {
    const Items items(checked(strings));
    std::vector<int64_t> sizes((items.size + stride - 1) / stride, 0);
    for (size_t i = 0; i < items.size; ++i)
        sizes[i / stride] += PyUnicode_GET_LENGTH(items.begin[i]);
    return give(std::move(sizes));
}

int64_t feed(LineIndex& index, nb::object file, int64_t begin, int64_t enough) {
    const Buffer buffer(file);
    nb::gil_scoped_release release;
    return index.feed(buffer.data(), begin, buffer.size(), enough);
}

PyViews* from_lines(nb::object file, int64_t begin, int64_t end) {
    const Buffer buffer(file);
    if (begin < 0 || end < begin || end > buffer.size())
        throw nb::value_error("the range lies outside the buffer");
    auto views = std::make_unique<PyViews>();
    {
        nb::gil_scoped_release release;
        static_cast<Views&>(*views) = split_lines(buffer.data() + begin, buffer.data() + end);
    }
    // The views keep a reference to the mapped file, so that it stays mapped.
    views->owners.push_back(file);
    return views.release();
}

nb::tuple py_interleave(const std::vector<PyViews*>& parts, bool skip_empty) {
    auto views = std::make_unique<PyViews>();
    std::vector<const Views*> plain(parts.begin(), parts.end());
    for (const Views* part : plain)
        if (part->size() != plain.front()->size())
            throw nb::value_error("the parts differ in length");
    std::vector<int64_t> starts;
    static_cast<Views&>(*views) = interleave(plain, skip_empty, starts);
    for (PyViews* part : parts)
        views->owners.insert(views->owners.end(), part->owners.begin(), part->owners.end());
    return nb::make_tuple(nb::cast(views.release(), nb::rv_policy::take_ownership),
                          give(std::move(starts)));
}

// str.lower() of every segment; segments with non-ASCII characters are lowercased by Python.
PyViews* lower(const PyViews& in) {
    auto views = std::make_unique<PyViews>();
    std::vector<size_t> not_ascii;
    {
        nb::gil_scoped_release release;
        static_cast<Views&>(*views) = lower_ascii(in, not_ascii);
    }
    views->owners = in.owners;
    for (const size_t i : not_ascii) {
        nb::object lowered = to_str(in.items[i]).attr("lower")();
        views->items[i] = view_of(lowered.ptr(), *views);
        views->owners.push_back(std::move(lowered));
    }
    return views.release();
}

nb::list strings(const PyViews& views) {
    nb::list out;
    for (const std::string_view item : views.items) out.append(to_str(item));
    return out;
}

nb::tuple py_split_sentences(const PyViews& in, const std::string& separator) {
    auto views = std::make_unique<PyViews>();
    std::vector<int64_t> starts;
    static_cast<Views&>(*views) = split_sentences(in, separator, starts);
    views->owners = in.owners;
    return nb::make_tuple(nb::cast(views.release(), nb::rv_policy::take_ownership),
                          give(std::move(starts)));
}

// The items from `start` to `stop`.
PyViews* slice(const PyViews& in, size_t start, size_t stop) {
    if (start > stop || stop > in.size()) throw nb::index_error("no such segments");
    auto views = std::make_unique<PyViews>();
    views->items.assign(in.items.begin() + start, in.items.begin() + stop);
    views->arena = in.arena;
    views->owners = in.owners;
    return views.release();
}

// ------------------------------------------------------------------------------------ vocabularies

// Treats every segment as one word, whatever its content.
Array<int32_t> intern(Vocab& vocab, const PyViews& views) {
    std::vector<int32_t> ids;
    {
        nb::gil_scoped_release release;
        ids.reserve(views.size());
        for (const std::string_view item : views.items)
            ids.push_back(vocab.intern(item.data(), item.size()));
    }
    return give(std::move(ids));
}

Array<int32_t> add_words(Vocab& vocab, nb::list words) {
    std::vector<int32_t> ids;
    Views scratch;
    for (nb::handle word : words) {
        if (!PyUnicode_Check(word.ptr())) throw nb::type_error("every word must be a str");
        const std::string_view bytes = view_of(word.ptr(), scratch);
        ids.push_back(vocab.intern(bytes.data(), bytes.size()));
    }
    return give(std::move(ids));
}

Array<int32_t> find_words(const Vocab& vocab, nb::list words) {
    std::vector<int32_t> ids;
    Views scratch;
    for (nb::handle word : words) {
        if (!PyUnicode_Check(word.ptr())) throw nb::type_error("every word must be a str");
        const std::string_view bytes = view_of(word.ptr(), scratch);
        ids.push_back(vocab.find(bytes.data(), bytes.size()));
    }
    return give(std::move(ids));
}

// The ids in this vocabulary of all words of another, in its order; missing words are added. The
// GIL is held: a vocabulary is public and threads may share it.
Array<int32_t> merge(Vocab& vocab, const Vocab& other) {
    return give(vocab.merge(other));
}

// A vocabulary of the words with the given ids, in that order.
Vocab chosen(const Vocab& vocab, Ids ids) {
    Vocab selected;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        if (ids(i) < 0 || ids(i) >= vocab.size()) throw nb::index_error("no such word");
        const std::string_view word = vocab.word(ids(i));
        selected.intern(word.data(), word.size());
    }
    return selected;
}

nb::list words(const Vocab& vocab, int32_t start, int32_t stop) {
    if (start < 0 || stop < start || stop > vocab.size())
        throw nb::index_error("no such words in the vocabulary");
    nb::list out;
    for (int32_t id = start; id < stop; ++id) out.append(to_str(vocab.word(id)));
    return out;
}

// The concatenated words of a vocabulary, and the start of each.
nb::tuple vocab_bytes(const Vocab& vocab) {
    std::vector<uint8_t> bytes;
    std::vector<int64_t> offsets{0};
    for (int32_t id = 0; id < vocab.size(); ++id) {
        const std::string_view w = vocab.word(id);
        bytes.insert(bytes.end(), w.begin(), w.end());
        offsets.push_back(static_cast<int64_t>(bytes.size()));
    }
    return nb::make_tuple(give(std::move(bytes)), give(std::move(offsets)));
}

Array<int32_t> word_slots(Bytes bytes, Offsets offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(bytes.shape(0)))
        throw nb::value_error("the offsets do not fit the bytes");
    auto slots = WordTable::build(reinterpret_cast<const char*>(bytes.data()), offsets.data(),
                                  static_cast<int32_t>(n - 1));
    return give(std::move(slots));
}

// The ids in this table of a vocabulary's words from `start` on; -1 for missing words.
Array<int32_t> find_vocab(const PyWordTable& self, const Vocab& vocab, int32_t start) {
    std::vector<int32_t> ids;
    for (int32_t id = start; id < vocab.size(); ++id)
        ids.push_back(self.table.find(vocab.word(id)));
    return give(std::move(ids));
}

nb::list words_of(const PyWordTable& self, Ids ids) {
    nb::list words;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        if (ids(i) < 0 || ids(i) >= self.table.size()) throw nb::index_error("no such word");
        words.append(to_str(self.table.word(ids(i))));
    }
    return words;
}

// ------------------------------------------------------------------------------------------ tokens

Tokenizer tokenizer_named(const std::string& name) {
    if (name == "none") return Tokenizer::none;
    if (name == "13a") return Tokenizer::v13a;
    if (name == "intl") return Tokenizer::intl;
    if (name == "char") return Tokenizer::character;
    if (name == "zh") return Tokenizer::zh;
    if (name == "gtm") return Tokenizer::gtm;
    if (name == "rouge") return Tokenizer::rouge;
    if (name == "chrf") return Tokenizer::chrf;
    throw nb::value_error(("unknown tokenizer " + name).c_str());
}

nb::tuple give_ragged(std::vector<int32_t>&& ids, std::vector<int64_t>&& offsets) {
    return nb::make_tuple(give(std::move(ids)), give(std::move(offsets)));
}

// The GIL is released, because no other thread uses this vocabulary. Ragged ids from
// `split(segment, sink)` for every segment.
template <class Split>
nb::tuple intern_tokens(const PyViews& views, Vocab& vocab, const Split& split) {
    std::vector<int32_t> ids;
    std::vector<int64_t> offsets{0};
    {
        nb::gil_scoped_release release;
        ids.reserve(views.bytes() / 4);
        offsets.reserve(views.size() + 1);
        Interner sink(vocab, ids);
        for (const std::string_view item : views.items) {
            split(item, sink);
            offsets.push_back(static_cast<int64_t>(sink.size()));
        }
        sink.flush();
    }
    return give_ragged(std::move(ids), std::move(offsets));
}

nb::tuple tokenize(const PyViews& views, Vocab& vocab, const std::string& name) {
    const Tokenizer tokenizer = tokenizer_named(name);
    return intern_tokens(views, vocab, [&](std::string_view item, Interner& sink) {
        split(tokenizer, item, sink);
    });
}

nb::tuple tercom(const PyViews& views, Vocab& vocab, bool normalize, bool no_punct, bool asian,
                 bool twice) {
    const Tercom rules{normalize, no_punct, asian};
    return intern_tokens(views, vocab, [&](std::string_view item, Interner& sink) {
        split_tercom(rules, twice, item, sink);
    });
}

nb::tuple py_codepoints(const PyViews& views, bool keep_space) {
    std::vector<int32_t> ids;
    std::vector<int64_t> offsets;
    {
        nb::gil_scoped_release release;
        codepoints(views, keep_space, ids, offsets);
    }
    return give_ragged(std::move(ids), std::move(offsets));
}

// The stemmed words from `start` on, as ids of `target`; Python lowercases non-ASCII words.
Array<int32_t> porter_nltk(const Vocab& vocab, int32_t start, Vocab& target) {
    std::vector<int32_t> ids;
    for (int32_t id = start; id < vocab.size(); ++id) {
        const std::string_view word = vocab.word(id);
        std::string lowered;
        if (!is_ascii(word.data(), word.data() + word.size())) {
            Views scratch;
            nb::object str = to_str(word).attr("lower")();
            lowered = view_of(str.ptr(), scratch);
        }
        const std::string stem = porter_stem(lowered.empty() ? word : std::string_view(lowered));
        ids.push_back(target.intern(stem.data(), stem.size()));
    }
    return give(std::move(ids));
}

// --------------------------------------------------------------------------------------- treebanks

nb::object to_strings(std::vector<std::string_view>&& items, nb::handle file) {
    auto views = std::make_unique<PyViews>();
    views->items = std::move(items);
    views->owners.push_back(nb::borrow(file));
    return nb::cast(views.release(), nb::rv_policy::take_ownership);
}

// Either the problem with its line and sentence, or the columns in sequence.
nb::tuple read_treebank(nb::object file, int64_t begin) {
    const Buffer buffer(file);
    if (begin < 0 || begin > buffer.size()) throw nb::value_error("no such place in the buffer");
    Treebank bank;
    {
        nb::gil_scoped_release release;
        bank = ConlluReader().read(buffer.data() + begin, buffer.data() + buffer.size());
    }
    if (!bank.error.empty())
        return nb::make_tuple(to_str(bank.error), bank.error_line, to_str(bank.error_id));
    return nb::make_tuple(
        to_strings(std::move(bank.words), file), to_strings(std::move(bank.lemmas), file),
        to_strings(std::move(bank.upos), file), to_strings(std::move(bank.xpos), file),
        to_strings(std::move(bank.relations), file), give(std::move(bank.heads)),
        give(std::move(bank.offsets)), to_strings(std::move(bank.ids), file),
        give(std::move(bank.documents)), give(std::move(bank.lines)));
}

// The first invalid tree and its problem; (-1, "") if all trees are valid.
nb::tuple check_trees(Ids heads, Offsets offsets) {
    const Ragged trees = ragged(heads, offsets);
    for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const std::string problem = tree_problem(trees.begin(i), trees.length(i));
        if (!problem.empty()) return nb::make_tuple(i, problem);
    }
    return nb::make_tuple(-1, "");
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<PyViews>(m, "Views")
        .def("__len__", &PyViews::size)
        .def_prop_ro("nbytes", &PyViews::bytes)
        .def("strings", &strings)
        .def("lower", &lower, nb::rv_policy::take_ownership)
        .def("split_sentences", &py_split_sentences, "separator"_a)
        .def("slice", &slice, "start"_a, "stop"_a, nb::rv_policy::take_ownership)
        .def_static("from_strings", &from_strings, "strings"_a, "start"_a, "stop"_a,
                    nb::rv_policy::take_ownership)
        .def_static("from_lines", &from_lines, "buffer"_a, "begin"_a, "end"_a,
                    nb::rv_policy::take_ownership)
        .def_static("interleave", &py_interleave, "parts"_a, "skip_empty"_a);

    nb::class_<LineIndex>(m, "LineIndex")
        .def(nb::init<int64_t>(), "stride"_a)
        .def("feed", &feed, "buffer"_a, "begin"_a, "enough"_a)
        .def_ro("lines", &LineIndex::lines)
        .def_ro("invalid_line", &LineIndex::invalid_line)
        .def_ro("invalid_column", &LineIndex::invalid_column)
        .def_ro("nul_line", &LineIndex::nul_line)
        .def("starts", [](const LineIndex& index) {
            return give(std::vector<int64_t>(index.starts));
        });

    nb::class_<Vocab>(m, "Vocab", "Words to ids in order of first sight, and back.")
        .def(nb::init<>())
        .def("__len__", &Vocab::size)
        .def("bytes", &Vocab::bytes)
        .def("chosen", &chosen, "ids"_a)
        .def("add", &add_words, "words"_a)
        .def("find", &find_words, "words"_a)
        .def("intern", &intern, "views"_a)
        .def("merge", &merge, "other"_a)
        .def("words", &words, "start"_a, "stop"_a);

    m.def("first_not_str", &first_not_str, "items"_a);
    m.def("string_sizes", &string_sizes, "strings"_a, "stride"_a);
    m.def("tokenize", &tokenize, "views"_a, "vocab"_a, "tokenizer"_a);
    m.def("codepoints", &py_codepoints, "views"_a, "keep_space"_a);
    m.def("porter_nltk", &porter_nltk, "vocab"_a, "start"_a, "target"_a);
    nb::class_<PyWordTable>(m, "WordTable")
        .def(nb::init<Bytes, Offsets, Ids>(), "bytes"_a, "offsets"_a, "slots"_a)
        .def("__len__", [](const PyWordTable& self) { return self.table.size(); })
        .def("find", &find_vocab, "vocab"_a, "start"_a = 0)
        .def("words", &words_of, "ids"_a);
    m.def("vocab_bytes", &vocab_bytes, "vocab"_a);
    m.def("word_slots", &word_slots, "bytes"_a, "offsets"_a);
    m.def("tercom", &tercom, "views"_a, "vocab"_a, "normalize"_a, "no_punct"_a, "asian"_a,
          "twice"_a);
    m.def("read_treebank", &read_treebank, "buffer"_a, "begin"_a);
    m.def("check_trees", &check_trees, "heads"_a, "offsets"_a);
}

}  // namespace karat
