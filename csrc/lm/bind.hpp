// A language model that keeps its arrays alive; other bindings accept it as an argument.
#pragma once
#include "core/bind.hpp"
#include "lm/model.hpp"

namespace karat {

using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CellArray = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct PyModel {
    Floats p, backoff;
    std::vector<CellArray> longer;
    lm::Model model;

    PyModel(Floats p_, Floats backoff_, std::vector<CellArray> longer_)
        : p(p_), backoff(backoff_), longer(longer_), model(view(p_, backoff_, longer_)) {}

  private:
    static lm::Model view(const Floats& p, const Floats& backoff,
                          const std::vector<CellArray>& longer) {
        if (p.shape(0) != backoff.shape(0))
            throw nb::value_error("probabilities and back-offs differ in number");
        std::vector<lm::Cells> tables;
        for (const CellArray& cells : longer) {
            if (cells.shape(0) % 2) throw nb::value_error("a table is cut short");
            tables.push_back({reinterpret_cast<const lm::Cell*>(cells.data()), cells.shape(0) / 2});
        }
        return lm::Model(p.data(), backoff.data(), p.shape(0), std::move(tables));
    }
};

}  // namespace karat
