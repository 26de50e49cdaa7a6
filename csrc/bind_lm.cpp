// The Python face of the kernel's part for karat/lm/.
#include "bind.hpp"

void karat::bind_lm(nb::module_&) {}
