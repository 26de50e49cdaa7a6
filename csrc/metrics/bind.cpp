// The Python face of the kernel: conversions, checks of shapes, and the GIL; the algorithms are in
// the headers.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/bind.hpp"
#include "core/ragged.hpp"
#include "core/watch.hpp"
#include "metrics/edit_alignment.hpp"
#include "metrics/gtm/exact_matching.hpp"
#include "metrics/gtm/greedy_matching.hpp"
#include "metrics/gtm/narrow_grid.hpp"
#include "metrics/lcs.hpp"
#include "metrics/ngrams.hpp"
#include "metrics/ter.hpp"
#include "metrics/treelets.hpp"
#include "metrics/tying.hpp"
#include "stats/exchange.hpp"
#include "stats/pearson.hpp"
#include "stats/ranks.hpp"
#include "stats/tally.hpp"
#include "stats/tie_calibration.hpp"
#include "text/conllu.hpp"
#include "text/lines.hpp"
#include "text/porter.hpp"
#include "text/tercom.hpp"
#include "text/tokenizers.hpp"
#include "text/utf8.hpp"
#include "text/views.hpp"
#include "text/vocab.hpp"

using namespace karat;

namespace {

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

// The views hold on to a tuple, which nobody can change, or to a list of their own, so that nobody
// can take the strings away.
PyViews* from_strings(nb::object strings, size_t start, size_t stop) {
    const Items items(checked(strings));
    if (start > stop || stop > items.size) throw nb::index_error("no such segments");
    nb::object own = strings;
    if (!nb::isinstance<nb::tuple>(strings)) {
        own = nb::steal(PyList_GetSlice(strings.ptr(), static_cast<Py_ssize_t>(start),
                                        static_cast<Py_ssize_t>(stop)));
        if (!own) throw nb::python_error();
    }
    auto views = std::make_unique<PyViews>();
    views->owners.push_back(own);
    views->items.reserve(stop - start);
    for (size_t i = start; i < stop; ++i) {
        if (!PyUnicode_Check(items.begin[i])) throw nb::type_error("every segment must be a str");
        views->items.push_back(view_of(items.begin[i], *views));
    }
    return views.release();
}

// The index of the first item that is no str, or -1.
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
    const size_t n = sizes.size();
    return give(std::move(sizes), {n});
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
    // The file object itself stays mapped for as long as somebody holds it.
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
    const size_t n = starts.size();
    return nb::make_tuple(nb::cast(views.release(), nb::rv_policy::take_ownership),
                          give(std::move(starts), {n}));
}

// str.lower() of every segment; Python itself lowers what is not ASCII.
PyViews* lower(const PyViews& in) {
    auto views = std::make_unique<PyViews>();
    std::vector<size_t> rest;
    {
        nb::gil_scoped_release release;
        static_cast<Views&>(*views) = lower_ascii(in, rest);
    }
    views->owners = in.owners;
    for (const size_t i : rest) {
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
    const size_t n = starts.size();
    return nb::make_tuple(nb::cast(views.release(), nb::rv_policy::take_ownership),
                          give(std::move(starts), {n}));
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
    const size_t n = ids.size(), m = offsets.size();
    return nb::make_tuple(give(std::move(ids), {n}), give(std::move(offsets), {m}));
}

// The vocabulary is one that no other thread uses: the GIL is released.
// `split(segment, sink)` of every segment, as ragged ids.
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

// Every segment is one word, whatever is in it.
Array<int32_t> intern(Vocab& vocab, const PyViews& views) {
    std::vector<int32_t> ids;
    {
        nb::gil_scoped_release release;
        ids.reserve(views.size());
        for (const std::string_view item : views.items)
            ids.push_back(vocab.intern(item.data(), item.size()));
    }
    const size_t n = ids.size();
    return give(std::move(ids), {n});
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

Array<int32_t> add_words(Vocab& vocab, nb::list words) {
    std::vector<int32_t> ids;
    Views scratch;
    for (nb::handle word : words) {
        if (!PyUnicode_Check(word.ptr())) throw nb::type_error("every word must be a str");
        const std::string_view bytes = view_of(word.ptr(), scratch);
        ids.push_back(vocab.intern(bytes.data(), bytes.size()));
    }
    const size_t n = ids.size();
    return give(std::move(ids), {n});
}

Array<int32_t> find_words(const Vocab& vocab, nb::list words) {
    std::vector<int32_t> ids;
    Views scratch;
    for (nb::handle word : words) {
        if (!PyUnicode_Check(word.ptr())) throw nb::type_error("every word must be a str");
        const std::string_view bytes = view_of(word.ptr(), scratch);
        ids.push_back(vocab.find(bytes.data(), bytes.size()));
    }
    const size_t n = ids.size();
    return give(std::move(ids), {n});
}

// The ids that all words of another vocabulary have here, in its order; new ones are added. The GIL
// is kept: a vocabulary is public and may be shared by threads.
Array<int32_t> merge(Vocab& vocab, const Vocab& other) {
    std::vector<int32_t> ids = vocab.merge(other);
    const size_t n = ids.size();
    return give(std::move(ids), {n});
}

nb::list words(const Vocab& vocab, int32_t start, int32_t stop) {
    if (start < 0 || stop < start || stop > vocab.size())
        throw nb::index_error("no such words in the vocabulary");
    nb::list out;
    for (int32_t id = start; id < stop; ++id) out.append(to_str(vocab.word(id)));
    return out;
}

// The words from `start` on, stemmed, as ids of `target`; Python lowers what is not ASCII.
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
    const size_t n = ids.size();
    return give(std::move(ids), {n});
}

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

// The sum of all rows, which are added in their order.
Array<int64_t> sum_rows(nb::ndarray<const int64_t, nb::ndim<2>, nb::device::cpu> rows) {
    const size_t n = rows.shape(0), columns = rows.shape(1);
    const int64_t down = rows.stride(0), across = rows.stride(1);
    std::vector<int64_t> sums(columns, 0);
    const int64_t* row = rows.data();
    for (size_t i = 0; i < n; ++i, row += down)
        for (size_t j = 0; j < columns; ++j) sums[j] += row[static_cast<int64_t>(j) * across];
    return give(std::move(sums), {columns});
}

// -1 for pairs whose table, without their common ends, has more than `most` cells.
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

// As lcs, but every text is a run of sentences: c_sentences and r_sentences say where each text's
// sentences start, c_offsets and r_offsets where each sentence's tokens do.
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

// ------------------------------------------------------------------------------------------- GTM

// Both searches of GTM behind one call; all ids are below `ids`.
class GtmSearch {
  public:
    GtmSearch(double e, bool exact, int64_t budget, uint32_t ids, Watch& watch)
        : power_(e), exact_(e, budget), is_exact_(exact), narrow_(ids), grid_(ids), watch_(watch) {}

    // `taken` gets the runs; of the greedy search they are in order but for those of one hit.
    gtm::Answer operator()(const int32_t* candidate, int64_t length, const Ragged& references,
                           int64_t first, int64_t last, std::vector<gtm::Run>& taken) {
        if (!narrow(length, references, first, last))
            return wide(candidate, length, references, first, last, taken);
        taken.clear();
        gtm::List list{taken};
        narrow_.match(candidate, length, references, first, last, list);
        return greedy_answer(gtm::weigh(taken, cap, power_));
    }

    // The same without the runs.
    gtm::Answer weigh(const int32_t* candidate, int64_t length, const Ragged& references,
                      int64_t first, int64_t last) {
        if (!narrow(length, references, first, last))
            return wide(candidate, length, references, first, last, taken_);
        gtm::Weight weight(power_, cap);
        narrow_.match(candidate, length, references, first, last, weight);
        return greedy_answer(weight.sum());
    }
    const gtm::Power& power() const { return power_; }

    double mean_length = 0, cap = 0;  // of the last segment
    gtm::Greedy greedy;
    bool may_be_narrow = true;

  private:
    // Sets the lengths of a segment; gives whether it is one for the narrow search.
    bool narrow(int64_t length, const Ragged& references, int64_t first, int64_t last) {
        const int64_t tokens = references.offsets[last] - references.offsets[first];
        mean_length = gtm::mean(tokens, last - first);
        cap = gtm::cap(length, mean_length);
        const int64_t columns = tokens + last - first;  // with barriers
        return !is_exact_ && may_be_narrow && gtm::Narrow::fits(length, columns);
    }

    gtm::Answer wide(const int32_t* candidate, int64_t length, const Ragged& references,
                     int64_t first, int64_t last, std::vector<gtm::Run>& taken) {
        grid_.set(candidate, length, references, first, last);
        if (is_exact_) return exact_.match(grid_, taken, watch_);
        greedy.match(grid_, taken, watch_);
        return greedy_answer(gtm::weigh(taken, cap, power_));
    }

    gtm::Answer greedy_answer(double sum) const { return {sum, sum, power_.exponent() == 1}; }

    gtm::Power power_;
    gtm::Exact exact_;
    bool is_exact_;
    gtm::Narrow narrow_;
    gtm::Grid grid_;
    Watch& watch_;
    std::vector<gtm::Run> taken_;
};

// Refuses what GTM cannot do; gives a number above all ids.
uint32_t check_grid(const Ids& c_ids, const Ids& r_ids, const Offsets& r_offsets, double e) {
    const size_t most = size_t{1} << 30;
    if (c_ids.shape(0) > most || r_ids.shape(0) + r_offsets.shape(0) > most)
        throw nb::value_error("more tokens than GTM can number");
    if (!(e >= 1)) throw nb::value_error("the exponent must be at least 1");
    uint32_t largest = 0;
    for (const Ids* ids : {&c_ids, &r_ids})
        for (size_t k = 0; k < ids->shape(0); ++k)
            largest = std::max(largest, static_cast<uint32_t>(ids->data()[k]));
    if (largest >= 1u << 28)  // a table over all ids is made
        throw nb::value_error("ids must be those of a vocabulary");
    return largest + 1;
}

// For each segment: size, |C|, mean |R|, a bound for the size, and whether it is proven to be the
// largest.
Array<double> gtm_sizes(Ids c_ids, Offsets c_offsets, Ids r_ids, Offsets r_offsets, Offsets starts,
                        double e, bool exact, int64_t budget, nb::object check) {
    const Ragged candidates = ragged(c_ids, c_offsets), references = ragged(r_ids, r_offsets);
    const size_t segments = c_offsets.shape(0) - 1;
    check_starts(starts, segments, r_offsets.shape(0) - 1);
    const uint32_t ids = check_grid(c_ids, r_ids, r_offsets, e);
    std::vector<double> rows(segments * 5);
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        Watch watch(std::ref(poll));
        GtmSearch search(e, exact, budget, ids, watch);
        double* row = rows.data();
        for (size_t i = 0; i < segments; ++i, row += 5) {
            const int64_t length = candidates.length(i);
            const gtm::Answer found = search.weigh(candidates.begin(i), length, references,
                                                   starts(i), starts(i + 1));
            row[0] = search.power().root(found.sum);
            row[1] = static_cast<double>(length);
            row[2] = search.mean_length;
            row[3] = found.bound == found.sum ? row[0] : search.power().root(found.bound);
            row[4] = found.proven ? 1.0 : 0.0;
            const int64_t* const at = references.offsets;
            const int64_t tokens = at[starts(i + 1)] - at[starts(i)];
            watch.worked(256 + length + tokens);  // whatever else was counted
        }
    }
    return give(std::move(rows), {segments, 5});
}

// The matching of one candidate with all references given: its runs as (row, column, length), the
// column counting barriers; how much of each counts; sum of length^e, size, a bound for the size,
// proven, and the cap. `most_hits` and `narrow` say which ways to the greedy matching are open.
nb::tuple gtm_runs(Ids c_ids, Ids r_ids, Offsets r_offsets, double e, bool exact, int64_t budget,
                   double most_hits, bool narrow) {
    const Ragged references = ragged(r_ids, r_offsets);
    Poll poll{nb::none()};
    Watch watch(std::ref(poll));
    GtmSearch search(e, exact, budget, check_grid(c_ids, r_ids, r_offsets, e), watch);
    search.greedy.most_hits = most_hits;
    search.may_be_narrow = narrow;
    std::vector<gtm::Run> runs;
    std::vector<double> kept;
    std::vector<int32_t> flat;
    gtm::Answer found;
    {
        nb::gil_scoped_release release;
        found = search(c_ids.data(), static_cast<int64_t>(c_ids.shape(0)), references, 0,
                       static_cast<int64_t>(r_offsets.shape(0)) - 1, runs);
        gtm::sort_runs(runs);
        gtm::weigh(runs, search.cap, search.power(), &kept);
        for (const gtm::Run& run : runs)
            flat.insert(flat.end(), {run.row, run.column, run.length});
    }
    const size_t n = runs.size();
    const gtm::Power& power = search.power();
    return nb::make_tuple(give(std::move(flat), {n, 3}), give(std::move(kept), {n}), found.sum,
                          power.root(found.sum), power.root(found.bound), found.proven, search.cap);
}

// ------------------------------------------------------------------------------------- edits

// Rows of four numbers for `pairs` pairs: `count(segment, pair)` of each.
template <class Count>
Array<int64_t> count_pairs(const Offsets& starts, size_t segments, size_t pairs,
                           const Count& count) {
    check_starts(starts, segments, pairs);
    std::vector<int64_t> rows(pairs * 4);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < segments; ++i)
            for (int64_t k = starts(i); k < starts(i + 1); ++k) {
                const EditCounts found = count(i, k);
                int64_t* row = &rows[4 * k];
                row[0] = found.substitutions;
                row[1] = found.insertions;
                row[2] = found.deletions;
                row[3] = found.moves;
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

// The result's positions for the nodes of one tree, those that `tree_edits` counts by; -1 for nodes
// that it lacks.
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
    const size_t n = places.size();
    return give(std::move(places), {n});
}

// The same by distance alone, which is where the search for the fewest errors begins.
Array<int64_t> tie_nodes(Ids result, Ids words, Ids heads) {
    if (heads.shape(0) != words.shape(0)) throw nb::value_error("the heads do not fit the words");
    Tying tying;
    tying.tie({words.data(), heads.data(), static_cast<int64_t>(words.shape(0))}, result.data(),
              static_cast<int64_t>(result.shape(0)));
    const size_t n = tying.place.size();
    return give(std::move(tying.place), {n});
}

// The operations of every pair, in the order of the text: rows of (operation, reference position,
// candidate position), and where each pair's begin.
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
        rows.reserve(c_ids.shape(0) + r_ids.shape(0));  // the most there can be
        EditAlignment<Costs> alignment;
        Row* first = nullptr;
        auto visit = [&](Edit edit, int64_t i, int64_t j) {  // the last one comes first
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

// Edits and shifts of every pair.
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

// Of one pair: the shifts as rows of (start, length, target), the ids of the candidate after them,
// and the operations as rows of (operation, reference position, candidate position).
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
        ter.walk_back([&](Edit edit, int64_t j, int64_t i) {  // the last one, backwards
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

// The first tree that is none, and what is wrong with it; (-1, "") if all are well.
nb::tuple check_trees(Ids heads, Offsets offsets) {
    const Ragged trees = ragged(heads, offsets);
    for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
        const std::string problem = tree_problem(trees.begin(i), trees.length(i));
        if (!problem.empty()) return nb::make_tuple(i, problem);
    }
    return nb::make_tuple(-1, "");
}

Array<double> py_tally(Draws draws, size_t items) {
    const size_t rows = draws.shape(0), n = draws.shape(1);
    std::vector<double> counts;
    {
        nb::gil_scoped_release release;
        counts = tally(draws.data(), rows, n, items);
    }
    return give(std::move(counts), {rows, items});
}

Array<double> py_chosen_sums(Words words, Table rows) {
    const size_t trials = words.shape(1), n = rows.shape(0), columns = rows.shape(1);
    if (n > 64 * words.shape(0)) throw nb::value_error("there are more rows than bits");
    std::vector<double> sums;
    {
        nb::gil_scoped_release release;
        sums = chosen_sums(words.data(), words.shape(0), trials, rows.data(), n, columns);
    }
    return give(std::move(sums), {trials, columns});
}

// Sorting relies on an order, which NaN does not have.
template <class Scores>
void check_no_nan(const Scores& scores) {
    const double* const x = scores.data();
    if (std::any_of(x, x + scores.size(), [](double v) { return std::isnan(v); }))
        throw nb::value_error("there is a NaN among the scores");
}

Array<double> py_average_ranks(Table rows) {
    const size_t count = rows.shape(0), n = rows.shape(1);
    check_no_nan(rows);
    std::vector<double> ranks(count * n);
    {
        nb::gil_scoped_release release;
        Order order;
        for (size_t i = 0; i < count; ++i)
            average_ranks(rows.data() + i * n, static_cast<int64_t>(n), order, &ranks[i * n]);
    }
    return give(std::move(ranks), {count, n});
}

void append(const PairCounts& c, std::vector<int64_t>& counts) {
    for (const int64_t one : {c.concordant, c.discordant, c.human_ties, c.metric_ties, c.both_ties,
                              c.human_values, c.metric_values})
        counts.push_back(one);
}

// Of each row: concordant, discordant, tied in human only, in metric only, in both; and the numbers
// of distinct values. One row of human scores serves all rows of the metric.
Array<int64_t> pair_counts(Table human, Table metric, double epsilon) {
    const size_t count = metric.shape(0), n = metric.shape(1);
    if (human.shape(1) != n || (human.shape(0) != 1 && human.shape(0) != count))
        throw nb::value_error("human and metric scores differ in shape");
    if (!(epsilon >= 0)) throw nb::value_error("epsilon is negative");
    check_no_nan(human);
    check_no_nan(metric);
    const size_t stride = human.shape(0) == 1 ? 0 : n;
    std::vector<int64_t> counts;
    {
        nb::gil_scoped_release release;
        counts.reserve(count * 7);
        PairCounter counter;
        for (size_t i = 0; i < count; ++i)
            append(counter.count(human.data() + i * stride, metric.data() + i * n,
                                 static_cast<int64_t>(n), epsilon),
                   counts);
    }
    return give(std::move(counts), {count, 7});
}

// Draws x points: each number says how often a point is there.
void check_draws(const Numbers& human, const Numbers& metric, const Times& times) {
    if (human.size() != times.shape(1) || metric.size() != times.shape(1))
        throw nb::value_error("human scores, metric scores and draws differ in shape");
    check_no_nan(human);
    check_no_nan(metric);
    const int32_t* const first = times.data();
    if (std::any_of(first, first + times.size(), [](int32_t t) { return t < 0; }))
        throw nb::value_error("a point is there a negative number of times");
}

// The same of each draw, all pairs without a threshold.
Array<int64_t> drawn_pair_counts(Numbers human, Numbers metric, Times times) {
    check_draws(human, metric, times);
    const size_t count = times.shape(0), n = times.shape(1);
    std::vector<int64_t> counts;
    {
        nb::gil_scoped_release release;
        counts.reserve(count * 7);
        DrawnPairCounter counter(human.data(), metric.data(), static_cast<int64_t>(n));
        for (size_t i = 0; i < count; ++i) append(counter.count(times.data() + i * n), counts);
    }
    return give(std::move(counts), {count, 7});
}

Array<double> py_drawn_pearson(Numbers human, Numbers metric, Times times) {
    check_draws(human, metric, times);
    const size_t count = times.shape(0), n = times.shape(1);
    std::vector<double> r(count);
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < count; ++i)
            r[i] = drawn_pearson(human.data(), metric.data(), times.data() + i * n,
                                 static_cast<int64_t>(n));
    }
    return give(std::move(r), {count});
}

// The best tie threshold over groups of points, its accuracy, and the groups and pairs it is of.
nb::tuple calibrate_ties(Numbers human, Numbers metric, Offsets offsets, int64_t band,
                         nb::object check) {
    if (band < 1) throw nb::value_error("a band holds at least one pair");
    const size_t groups = offsets.shape(0) ? offsets.shape(0) - 1 : 0;
    if (human.shape(0) != metric.shape(0)) throw nb::value_error("scores differ in number");
    for (size_t i = 0; i < human.shape(0); ++i)
        if (!std::isfinite(human(i)) || !std::isfinite(metric(i)))
            throw nb::value_error("the scores are not all finite");
    for (size_t g = 0; g < groups; ++g)
        if (offsets(g) < 0 || offsets(g) > offsets(g + 1) ||
            offsets(g + 1) > static_cast<int64_t>(human.shape(0)))
            throw nb::value_error("the groups are not in order");
    Calibrated found;
    Poll poll{std::move(check)};
    {
        nb::gil_scoped_release release;
        TieCalibration ties(band);
        for (size_t g = 0; g < groups; ++g)
            ties.group(human.data() + offsets(g), metric.data() + offsets(g),
                       offsets(g + 1) - offsets(g));
        found = ties.best(poll);
    }
    return nb::make_tuple(found.epsilon, found.accuracy, found.groups, found.pairs);
}

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
            std::vector<int64_t> copy = index.starts;
            const size_t n = copy.size();
            return give(std::move(copy), {n});
        });

    nb::class_<Vocab>(m, "Vocab", "Words to ids in order of first sight, and back.")
        .def(nb::init<>())
        .def("__len__", &Vocab::size)
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
}

// What metrics count between texts.
void bind_counts(nb::module_& m) {
    m.def("sum_rows", &sum_rows, "rows"_a.noconvert());
    m.def("overlap", &overlap, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a,
          "order"_a, "check"_a.none() = nb::none());
    m.def("lcs", &lcs, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a, "most"_a,
          "check"_a.none());
    m.def("summary_lcs", &summary_lcs, "c_ids"_a, "c_offsets"_a, "c_sentences"_a, "r_ids"_a,
          "r_offsets"_a, "r_sentences"_a, "starts"_a, "check"_a.none());
    m.def("gtm_sizes", &gtm_sizes, "c_ids"_a, "c_offsets"_a, "r_ids"_a, "r_offsets"_a, "starts"_a,
          "e"_a, "exact"_a, "budget"_a, "check"_a.none());
    m.def("gtm_runs", &gtm_runs, "c_ids"_a, "r_ids"_a, "r_offsets"_a, "e"_a, "exact"_a, "budget"_a,
          "most_hits"_a = gtm::Greedy().most_hits, "narrow"_a = true);
    m.def("tercom", &tercom, "views"_a, "vocab"_a, "normalize"_a, "no_punct"_a, "asian"_a,
          "twice"_a);
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
    m.def("check_trees", &check_trees, "heads"_a, "offsets"_a);
}

void bind_statistics(nb::module_& m) {
    m.def("tally", &py_tally, "draws"_a, "items"_a);
    m.def("chosen_sums", &py_chosen_sums, "words"_a, "rows"_a);
    m.def("average_ranks", &py_average_ranks, "rows"_a);
    m.def("pair_counts", &pair_counts, "human"_a, "metric"_a, "epsilon"_a);
    m.def("drawn_pair_counts", &drawn_pair_counts, "human"_a, "metric"_a, "times"_a);
    m.def("drawn_pearson", &py_drawn_pearson, "human"_a, "metric"_a, "times"_a);
    m.def("calibrate_ties", &calibrate_ties, "human"_a, "metric"_a, "offsets"_a, "band"_a,
          "check"_a.none());
}

}  // namespace

NB_MODULE(_kernel, m) {
    m.doc() = "Karat's compiled hot paths. Private: use the packages above it.";
    bind_text(m);
    bind_counts(m);
    bind_statistics(m);
    bind_arithmetic(m);
    bind_mapped(m);
    bind_nuggets(m);
    bind_words(m);
    bind_treebank(m);
    bind_lm(m);
    bind_paraphrase(m);
    bind_pivot(m);
    bind_paraphraser(m);
    bind_realize(m);
    bind_ordering(m);
}
