// The compiled module: the bindings of each folder, in an order that registers classes before their
// first use as arguments.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace karat {

void bind_core(nb::module_& m);
void bind_text(nb::module_& m);
namespace arrow {
void bind_arrow(nb::module_& m);
}
void bind_metrics(nb::module_& m);
void bind_gtm(nb::module_& m);
void bind_stats(nb::module_& m);
void bind_stat_groups(nb::module_& m);
void bind_lm(nb::module_& m);
void bind_lm_training(nb::module_& m);
void bind_nuggets(nb::module_& m);
namespace paraphrase {
void bind_align(nb::module_& m);
void bind_table(nb::module_& m);
void bind_generate(nb::module_& m);
}  // namespace paraphrase
void bind_realize(nb::module_& m);
namespace fergus {
void bind_fergus(nb::module_& m);
}
namespace ordering {
void bind_ordering(nb::module_& m);
}

}  // namespace karat

NB_MODULE(_kernel, m) {
    m.doc() = "Karat's compiled hot paths. Private: use the packages above it.";
    karat::bind_core(m);
    karat::bind_text(m);
    karat::arrow::bind_arrow(m);
    karat::bind_metrics(m);
    karat::bind_gtm(m);
    karat::bind_stats(m);
    karat::bind_stat_groups(m);
    karat::bind_lm(m);
    karat::bind_lm_training(m);
    karat::bind_nuggets(m);
    karat::paraphrase::bind_align(m);
    karat::paraphrase::bind_table(m);
    karat::paraphrase::bind_generate(m);
    karat::bind_realize(m);
    karat::fergus::bind_fergus(m);
    karat::ordering::bind_ordering(m);
}
