// Shared by the bindings of word alignment: checked texts and links, and the conversion of results.
#pragma once
#include <algorithm>
#include <string>

#include "core/bind.hpp"
#include "paraphrase/align/beliefs.hpp"
#include "paraphrase/align/symmetrizer.hpp"
#include "paraphrase/align/word_pairs.hpp"

namespace karat::paraphrase {

void bind_fertility_aligner(nb::module_& m);

inline int32_t words_in(const Ids& ids) {
    int32_t most = -1;
    for (size_t i = 0; i < ids.shape(0); ++i) {
        if (ids(i) < 0) throw nb::value_error("an id is negative");
        most = std::max(most, ids(i));
    }
    return most + 1;
}

inline Bitext bitext(const Ids& s_ids, const Offsets& s_offsets, const Ids& p_ids,
              const Offsets& p_offsets, int64_t longest) {
    if (s_offsets.shape(0) != p_offsets.shape(0))
        throw nb::value_error("the texts have different numbers of sentences");
    return {ragged_in_order(s_ids, s_offsets), ragged_in_order(p_ids, p_offsets),
            static_cast<int64_t>(s_offsets.shape(0)) - 1, longest};
}

inline Agreement agreement_named(const std::string& name) {
    if (name == "min") return Agreement::min;
    if (name == "root") return Agreement::root;
    if (name == "product") return Agreement::product;
    throw nb::value_error("no such agreement");
}

inline Decode decode_named(const std::string& rule) {
    return rule == "forward" ? Decode::forward : rule == "backward" ? Decode::backward
                                                                    : Decode::mean;
}

// Some counts as integers.
template <class Sums>
Array<int64_t> whole_counts(const Sums& sums, int64_t start, int64_t stop) {
    if (start < 0 || start > stop || stop > static_cast<int64_t>(sums.size()))
        throw nb::index_error("no such entries");
    std::vector<int64_t> numbers;
    numbers.reserve(stop - start);
    for (int64_t k = start; k < stop; ++k) numbers.push_back(sums.fixed_point(k));
    return give(std::move(numbers));
}

inline nb::tuple rows_of(LinkRows&& links) {
    return nb::make_tuple(give(std::move(links.source)), give(std::move(links.pivot)),
                          give(std::move(links.ends)));
}

// The posteriors of both directions, each as source x pivot.
inline nb::tuple matrices(const Beliefs& of) {
    const auto n = static_cast<size_t>(of.n), m = static_cast<size_t>(of.m);
    std::vector<double> forward(n * m), backward(n * m);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) {
            forward[i * m + j] = of.of_source(i, j);
            backward[i * m + j] = of.of_pivot(i, j);
        }
    return nb::make_tuple(give(std::move(forward), {n, m}), give(std::move(backward), {n, m}));
}

// Links of sentence s are (source[k], pivot[k]) for k from offsets[s] to offsets[s + 1].
struct PyLinks {
    Ragged source, pivot;
    size_t size;

    PyLinks(const Ids& s, const Ids& p, const Offsets& offsets)
        : source(ragged_in_order(s, offsets)), pivot(ragged_in_order(p, offsets)),
          size(offsets.shape(0) - 1) {}

    Symmetrizer::Links of(int64_t s) const {
        return {source.begin(s), pivot.begin(s), source.length(s)};
    }
    void check(int64_t s, int64_t n, int64_t m) const {
        for (int64_t k = 0; k < source.length(s); ++k) {
            const int32_t i = source.begin(s)[k], j = pivot.begin(s)[k];
            if (i < 0 || j < 0 || i >= n || j >= m)
                throw nb::value_error("a link points outside of its sentence");
        }
    }
};

}  // namespace karat::paraphrase
