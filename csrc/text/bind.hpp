// A WordTable that keeps alive the arrays it looks into; other bindings take it as an argument.
#pragma once
#include "core/bind.hpp"
#include "text/word_table.hpp"

namespace karat {

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct PyWordTable {
    Bytes bytes;
    Offsets offsets;
    Ids slots;
    WordTable table;

    PyWordTable(Bytes b, Offsets o, Ids s)
        : bytes(b), offsets(o), slots(s),
          table(b.data(), b.shape(0), o.data(), o.shape(0), s.data(), s.shape(0)) {}
};

}  // namespace karat
