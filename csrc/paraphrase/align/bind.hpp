// Links of words, checked; other bindings take them too.
#pragma once
#include "core/bind.hpp"
#include "paraphrase/align/symmetrizer.hpp"

namespace karat::paraphrase {

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
