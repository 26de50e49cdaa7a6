// Python bindings of unordered trees.
#include "core/bind.hpp"
#include "realize/canonical_order.hpp"

namespace karat {
namespace {

// The original index of each node, tree after tree; the trees must be valid.
Array<int32_t> canonical_order(Ids keys, Ids heads, Offsets offsets) {
    std::vector<int32_t> order(heads.shape(0));
    {
        nb::gil_scoped_release release;
        Canonical canonical;
        for (size_t i = 0; i + 1 < offsets.shape(0); ++i) {
            const int64_t begin = offsets.data()[i];
            const auto n = static_cast<int32_t>(offsets.data()[i + 1] - begin);
            canonical.sort(keys.data() + begin, heads.data() + begin, n, order.data() + begin);
        }
    }
    return give(std::move(order));
}

}  // namespace

void bind_realize(nb::module_& m) {
    m.def("canonical_order", &canonical_order, "keys"_a, "heads"_a, "offsets"_a);
}

}  // namespace karat
