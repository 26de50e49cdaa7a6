// Python bindings: mapped files that are watched while they are read.
#include "core/bind.hpp"
#include "core/mapped_files.hpp"

namespace karat {

namespace {

// A registered mapping, for as long as Python keeps it.
class Watched {
  public:
    Watched(nb::object mapped, std::string_view name) {
        const Buffer buffer(mapped);
        file_ = register_mapping(buffer.data(), static_cast<size_t>(buffer.size()), name);
    }
    ~Watched() { forget_mapping(file_); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    bool lost() const { return file_->lost.load(); }

  private:
    MappedFile* file_;
};

}  // namespace

void bind_mapped(nb::module_& m) {
    nb::class_<Watched>(m, "Watched")
        .def("__init__", [](Watched* self, nb::object mapped, const std::string& name) {
            new (self) Watched(mapped, name);
        }, "mapped"_a, "name"_a)
        .def_prop_ro("lost", &Watched::lost);
}

}  // namespace karat
