// The Python face of the kernel's part for karat/realize/.
#include "bind.hpp"

void karat::bind_realize(nb::module_&) {}
