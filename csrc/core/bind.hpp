// Shared by all bindings: array types, and the conversion of results to Python.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "core/ragged.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace karat {

using Ids = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Draws = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Words = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
Array<T> give(std::vector<T>&& data, std::initializer_list<size_t> shape) {
    auto* owned = new std::vector<T>(std::move(data));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owned->data(), shape, owner);
}

template <class T>
Array<T> give(std::vector<T>&& data) {
    const size_t n = data.size();
    return give(std::move(data), {n});
}

// Uninitialized numbers, all written before they are read: this saves the time of zeroing them.
template <class T>
class Unset {
  public:
    explicit Unset(size_t size) : data_(new T[size]) {}
    T* data() { return data_.get(); }
    Array<T> give(std::initializer_list<size_t> shape) {
        T* const data = data_.release();
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return Array<T>(data, shape, owner);
    }

  private:
    std::unique_ptr<T[]> data_;
};

inline Ragged ragged(const Ids& ids, const Offsets& offsets) {
    const size_t n = offsets.shape(0);
    if (!n || offsets(0) != 0 || offsets(n - 1) != static_cast<int64_t>(ids.shape(0)))
        throw nb::value_error("the offsets do not fit the ids");
    return {ids.data(), offsets.data()};
}

// As above, and no row ends before it begins.
inline Ragged ragged_in_order(const Ids& ids, const Offsets& offsets) {
    const Ragged texts = ragged(ids, offsets);
    for (size_t i = 1; i < offsets.shape(0); ++i)
        if (offsets(i - 1) > offsets(i)) throw nb::value_error("the offsets are not in order");
    return texts;
}

inline void check_starts(const Offsets& starts, size_t segments, size_t references) {
    if (starts.shape(0) != segments + 1 || starts(0) != 0 ||
        starts(segments) != static_cast<int64_t>(references))
        throw nb::value_error("the starts do not fit the segments and references");
}

// Checks for Ctrl-C and stop requests while a long pair is processed.
struct Poll {
    nb::object check;
    void operator()() {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals()) throw nb::python_error();
        if (!check.is_none()) check();
    }
};

// A read-only buffer, held for the duration of one call.
class Buffer {
  public:
    explicit Buffer(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_SIMPLE)) throw nb::python_error();
    }
    ~Buffer() { PyBuffer_Release(&buffer_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    const char* data() const { return static_cast<const char*>(buffer_.buf); }
    int64_t size() const { return buffer_.len; }

  private:
    Py_buffer buffer_;
};

}  // namespace karat
