// The Python face of treebanks: CoNLL-U with the columns that a realiser needs.
#include <memory>

#include "core/bind.hpp"
#include "text/conllu.hpp"

namespace karat {
namespace {

nb::object shown(std::vector<std::string_view>&& items, nb::handle file) {
    auto views = std::make_unique<PyViews>();
    views->items = std::move(items);
    views->owners.push_back(nb::borrow(file));
    return nb::cast(views.release(), nb::rv_policy::take_ownership);
}

// Either the problem, its line and its sentence, or the columns one after the other.
nb::tuple read_treebank(nb::object file, int64_t begin) {
    const Buffer buffer(file);
    if (begin < 0 || begin > buffer.size()) throw nb::value_error("no such place in the buffer");
    Treebank bank;
    {
        nb::gil_scoped_release release;
        bank = ConlluReader().read(buffer.data() + begin, buffer.data() + buffer.size());
    }
    if (!bank.error.empty())
        return nb::make_tuple(to_str(bank.error), bank.error_line, to_str(bank.error_id));
    const size_t n = bank.heads.size(), m = bank.offsets.size(), k = bank.lines.size();
    return nb::make_tuple(
        shown(std::move(bank.words), file), shown(std::move(bank.lemmas), file),
        shown(std::move(bank.upos), file), shown(std::move(bank.xpos), file),
        shown(std::move(bank.relations), file), give(std::move(bank.heads), {n}),
        give(std::move(bank.offsets), {m}), shown(std::move(bank.ids), file),
        give(std::move(bank.documents), {k}), give(std::move(bank.lines), {k}));
}

}  // namespace

void bind_treebank(nb::module_& m) {
    m.def("read_treebank", &read_treebank, "buffer"_a, "begin"_a);
}

}  // namespace karat
