// Views and word tables that keep the underlying data alive; other bindings accept them as
// arguments.
#pragma once
#include <string_view>
#include <vector>

#include "core/bind.hpp"
#include "text/views.hpp"
#include "text/word_table.hpp"

namespace karat {

// Views that keep the underlying strings or file alive.
struct PyViews : Views {
    std::vector<nb::object> owners;
};

inline nb::str to_str(std::string_view s) {
    const auto size = static_cast<Py_ssize_t>(s.size());
    PyObject* str = PyUnicode_DecodeUTF8(s.data(), size, "surrogatepass");
    if (!str) throw nb::python_error();
    return nb::steal<nb::str>(str);
}

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A word table that keeps its arrays alive.
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
