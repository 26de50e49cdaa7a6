// Links of words, checked; other bindings take them too.
#pragma once
#include "core/bind.hpp"
#include "paraphrase/align/symmetrizer.hpp"

namespace karat::paraphrase {

inline Ragged checked(const Ids& ids, const Offsets& offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(ids.shape(0)))
        throw nb::value_error("the offsets do not fit the ids");
    for (size_t i = 1; i < n; ++i)
        if (offsets(i - 1) > offsets(i)) throw nb::value_error("the offsets are not in order");
    return {ids.data(), offsets.data()};
}

// Links of sentence s are (source[k], pivot[k]) for k from offsets[s] to offsets[s + 1].
struct PyLinks {
    Ragged source, pivot;
    size_t size;

    PyLinks(const Ids& s, const Ids& p, const Offsets& offsets)
        : source(checked(s, offsets)), pivot(checked(p, offsets)), size(offsets.shape(0) - 1) {}

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
