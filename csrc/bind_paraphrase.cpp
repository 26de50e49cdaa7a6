// The Python face of the kernel's part for karat/paraphrase/.
#include "bind.hpp"

void karat::bind_paraphrase(nb::module_&) {}
