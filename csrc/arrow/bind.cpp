// Python bindings of Arrow: streams of record batches in, small tables out.
#include <memory>
#include <string>
#include <vector>

#include "arrow/columns.hpp"
#include "arrow/delimited.hpp"
#include "arrow/json_lines.hpp"
#include "arrow/table_builder.hpp"
#include "text/bind.hpp"

namespace karat::arrow {
namespace {

template <class T>
T& claim(nb::handle capsule, const char* name) {
    void* const pointer = PyCapsule_GetPointer(capsule.ptr(), name);
    if (!pointer) throw nb::python_error();
    T& object = *static_cast<T*>(pointer);
    if (!object.release) throw nb::value_error("its data was taken before");
    return object;
}

// ----------------------------------------------------------------------------------- what comes in

class Batch {
  public:
    Batch(std::shared_ptr<Owned<ArrowSchema>> schema, Owned<ArrowArray>&& array)
        : schema_(std::move(schema)), array_(std::move(array)) {}

    int64_t rows() const { return (*array_).length; }
    const ArrowSchema& schema(size_t column) const { return *(**schema_).children[column]; }
    const ArrowArray& array(size_t column) const { return *(*array_).children[column]; }
    // Rows of a column start at the offset of the struct array.
    int64_t first() const { return (*array_).offset; }

    // Rows from `start` to `stop` of a column, as rows of its array.
    std::pair<int64_t, int64_t> range(size_t column, int64_t start, int64_t stop) const {
        if (column >= static_cast<size_t>((*array_).n_children))
            throw nb::index_error("no such column");
        if (start < 0 || stop < start || stop > rows()) throw nb::index_error("no such rows");
        if (first() + stop > array(column).length) throw nb::index_error("a column is too short");
        return {first() + start, first() + stop};
    }

  private:
    std::shared_ptr<Owned<ArrowSchema>> schema_;
    Owned<ArrowArray> array_;
};

void check_structure(const ArrowSchema& schema) {
    if (std::string_view(schema.format) != "+s")
        throw nb::value_error("it has no columns");
}

// Neither rows nor columns may be null.
void check_rows(const ArrowSchema& schema, const ArrowArray& array) {
    if (array.n_children != schema.n_children) throw std::runtime_error("columns are missing");
    for (int64_t i = 0; i < array.length; ++i)
        if (is_null(array, i))
            throw std::runtime_error("row " + std::to_string(i + 1) + " of a batch is null");
}

class Stream {
  public:
    explicit Stream(nb::handle capsule)
        : stream_(claim<ArrowArrayStream>(capsule, "arrow_array_stream")),
          schema_(std::make_shared<Owned<ArrowSchema>>()) {
        if (stream_->get_schema(stream_.get(), schema_->get())) fail();
        check_structure(**schema_);
    }

    const ArrowSchema& schema() const { return **schema_; }

    std::unique_ptr<Batch> next() {
        Owned<ArrowArray> array;
        if (!read(array.get())) return nullptr;
        return std::make_unique<Batch>(schema_, std::move(array));
    }

    // The next batch, with its own schema; None at the end.
    nb::object next_capsules() {
        nb::capsule schema = capsule(new ArrowSchema{}, "arrow_schema");
        nb::capsule array = capsule(new ArrowArray{}, "arrow_array");
        if (!read(static_cast<ArrowArray*>(array.data()))) return nb::none();
        if (stream_->get_schema(stream_.get(), static_cast<ArrowSchema*>(schema.data()))) fail();
        return nb::make_tuple(schema, array);
    }

  private:
    bool read(ArrowArray* array) {
        int problem;
        {
            nb::gil_scoped_release release;  // the producer of the batches may need it
            problem = stream_->get_next(stream_.get(), array);
        }
        if (PyErr_Occurred()) throw nb::python_error();
        if (problem) fail();
        if (array->release) check_rows(**schema_, *array);
        return array->release != nullptr;
    }
    void fail() {
        const char* const reason = stream_->get_last_error(stream_.get());
        throw std::runtime_error(reason ? reason : "the stream of record batches failed");
    }

    Owned<ArrowArrayStream> stream_;
    std::shared_ptr<Owned<ArrowSchema>> schema_;
};

nb::list names(const ArrowSchema& schema) {
    nb::list result;
    for (int64_t i = 0; i < schema.n_children; ++i) {
        const char* const name = schema.children[i]->name;
        result.append(to_str(name ? name : ""));
    }
    return result;
}

// The format of each column; for dictionaries and lists, also the format of their values. JSON is
// stored as strings, but has its own format.
std::string format_of(const ArrowSchema& column) {
    if (extension_name(column.metadata) == "arrow.json") return "json";
    std::string text = column.format;
    if (column.dictionary) return text + " " + format_of(*column.dictionary);
    if (Lists::reads(text)) return text + " " + format_of(*column.children[0]);
    return text;
}

nb::list formats(const ArrowSchema& schema) {
    nb::list result;
    for (int64_t i = 0; i < schema.n_children; ++i) result.append(format_of(*schema.children[i]));
    return result;
}

std::unique_ptr<Batch> one_batch(nb::handle schema, nb::handle array) {
    auto shared_schema =
        std::make_shared<Owned<ArrowSchema>>(claim<ArrowSchema>(schema, "arrow_schema"));
    check_structure(**shared_schema);
    Owned<ArrowArray> rows(claim<ArrowArray>(array, "arrow_array"));
    check_rows(**shared_schema, *rows);
    return std::make_unique<Batch>(shared_schema, std::move(rows));
}

bool holds_text(const ArrowSchema& schema) {
    return Strings::reads(schema) ||
           (Lists::reads(schema.format) && Strings::reads(*schema.children[0]));
}

// Views of the texts of a column; for lists, the start of each row; the first unusable row, and the
// reason.
nb::tuple texts(nb::handle self, size_t column, int64_t start, int64_t stop) {
    const auto& batch = nb::cast<const Batch&>(self);
    const auto [first, last] = batch.range(column, start, stop);
    const ArrowSchema& schema = batch.schema(column);
    if (!holds_text(schema)) throw nb::type_error("no column of text");
    auto views = std::make_unique<PyViews>();
    std::vector<int64_t> starts;
    Problem problem;
    {
        nb::gil_scoped_release release;
        problem = read_texts(schema, batch.array(column), first, last, views->items, starts);
    }
    views->owners.push_back(nb::borrow(self));
    const bool lists = Lists::reads(schema.format);
    return nb::make_tuple(nb::cast(views.release(), nb::rv_policy::take_ownership),
                          lists ? nb::cast(give(std::move(starts))) : nb::none(), problem.row,
                          problem.reason);
}

// The number of bytes in each run of `stride` views.
Array<int64_t> view_sizes(const PyViews& views, size_t stride) {
    std::vector<int64_t> sizes((views.size() + stride - 1) / stride, 0);
    for (size_t i = 0; i < views.size(); ++i)
        sizes[i / stride] += static_cast<int64_t>(views.items[i].size());
    return give(std::move(sizes));
}

// Integers of a column, and the first row without one (-1 if there is none).
nb::tuple integers(const Batch& batch, size_t column, int64_t start, int64_t stop) {
    const auto [first, last] = batch.range(column, start, stop);
    if (!Integers::reads(batch.schema(column)))
        throw nb::type_error("no column of whole numbers");
    const Integers numbers(batch.schema(column), batch.array(column));
    std::vector<int64_t> values;
    for (int64_t i = first; i < last; ++i) {
        if (numbers.null(i)) return nb::make_tuple(give(std::move(values)), i - first);
        values.push_back(numbers.at(i));
    }
    return nb::make_tuple(give(std::move(values)), -1);
}

// Floating-point numbers of a column, and the first row without one (-1 if there is none).
nb::tuple floats(const Batch& batch, size_t column, int64_t start, int64_t stop) {
    const auto [first, last] = batch.range(column, start, stop);
    const std::string_view format(batch.schema(column).format);
    if (format != "g" && format != "f")
        throw nb::type_error("no column of floats of 32 or 64 bits");
    const ArrowArray& array = batch.array(column);
    std::vector<double> values;
    for (int64_t i = first; i < last; ++i) {
        if (is_null(array, i)) return nb::make_tuple(give(std::move(values)), i - first);
        const int64_t at = array.offset + i;
        values.push_back(format == "g" ? static_cast<const double*>(array.buffers[1])[at]
                                       : static_cast<const float*>(array.buffers[1])[at]);
    }
    return nb::make_tuple(give(std::move(values)), -1);
}

// Lists of integers: all numbers, the start of each row, and the first row without a list (-1 if
// there is none).
nb::tuple integer_lists(const Batch& batch, size_t column, int64_t start, int64_t stop) {
    const auto [first, last] = batch.range(column, start, stop);
    const ArrowSchema& schema = batch.schema(column);
    if (!Lists::reads(schema.format) || !Integers::reads(*schema.children[0]))
        throw nb::type_error("no column of lists of whole numbers");
    const Lists lists(schema, batch.array(column));
    const Integers numbers(*schema.children[0], *batch.array(column).children[0]);
    std::vector<int64_t> values, starts{0};
    int64_t bad = -1;
    for (int64_t i = first; i < last && bad < 0; ++i) {
        if (lists.null(i)) {
            bad = i - first;
            break;
        }
        const auto [begin, end] = lists.at(i);
        for (int64_t k = begin; k < end; ++k) {
            if (numbers.null(k)) bad = i - first;
            values.push_back(numbers.at(k));
        }
        starts.push_back(static_cast<int64_t>(values.size()));
    }
    return nb::make_tuple(give(std::move(values)), give(std::move(starts)), bad);
}

Array<int64_t> hash_integers(Offsets ids) {
    std::vector<int64_t> hashes(ids.shape(0));
    for (size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = static_cast<int64_t>(splitmix64(static_cast<uint64_t>(ids(i))));
    return give(std::move(hashes));
}

Array<int64_t> hash_views(const PyViews& views) {
    std::vector<int64_t> hashes(views.size());
    for (size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = static_cast<int64_t>(hash_text(views.items[i]));
    return give(std::move(hashes));
}

nb::tuple groups(const PyViews& views) {
    Groups grouping;
    for (const std::string_view item : views.items) grouping.add(item);
    nb::list group_names;
    for (const std::string_view name : grouping.names) group_names.append(to_str(name));
    return nb::make_tuple(group_names, give(std::move(grouping.codes)));
}

// ----------------------------------------------------------------------------------- what goes out

// Parses the rows of a text file from chunks of its bytes.
template <class Reader>
class RowsFile {
  public:
    RowsFile(std::vector<std::string> names, Reader&& reader)
        : names_(std::move(names)), reader_(std::move(reader)) {}

    bool read(const nb::bytes& data, bool last) {
        const std::string_view chunk(data.c_str(), data.size());
        nb::gil_scoped_release release;
        return reader_.read(chunk, last);
    }
    int64_t rows() const { return reader_.rows(); }
    TableBuilder* take() {
        auto table = std::make_unique<TableBuilder>();
        table->columns(names_, reader_.take());
        return table.release();
    }

  private:
    std::vector<std::string> names_;
    Reader reader_;
};
using DelimitedFile = RowsFile<DelimitedReader>;
using JsonLinesFile = RowsFile<JsonLinesReader>;

void open_delimited(DelimitedFile* self, const std::string& delimiter,
                    const std::vector<int32_t>& places, const std::vector<std::string>& names,
                    size_t longest) {
    for (const int32_t place : places)
        if (place >= static_cast<int32_t>(names.size())) throw nb::index_error("no such column");
    new (self) DelimitedFile(names, {delimiter.at(0), places, names.size(), longest});
}

void open_json_lines(JsonLinesFile* self, const std::vector<std::string>& names,
                     const std::vector<std::string>& formats, size_t longest) {
    if (formats.size() != names.size()) throw nb::value_error("a format for each column");
    new (self) JsonLinesFile(names, {names, formats, longest});
}

template <class File>
void bind_rows_file(nb::class_<File>& type) {
    type.def("read", &File::read, "data"_a, "last"_a)
        .def("rows", &File::rows)
        .def("take", &File::take, nb::rv_policy::take_ownership);
}

}  // namespace

void bind_arrow(nb::module_& m) {
    nb::class_<Batch>(m, "ArrowBatch", "A record batch that somebody gave.")
        .def_static("from_capsules", [](nb::handle schema, nb::handle array) {
            return one_batch(schema, array).release();
        }, "schema"_a, "array"_a, nb::rv_policy::take_ownership)
        .def("__len__", &Batch::rows)
        .def("texts", [](nb::handle self, size_t column, int64_t start, int64_t stop) {
            return texts(self, column, start, stop);
        }, "column"_a, "start"_a, "stop"_a)
        .def("integers", &integers, "column"_a, "start"_a, "stop"_a)
        .def("floats", &floats, "column"_a, "start"_a, "stop"_a)
        .def("integer_lists", &integer_lists, "column"_a, "start"_a, "stop"_a);
    nb::class_<Stream>(m, "ArrowStream", "Record batches that come one after the other.")
        .def("__init__", [](Stream* self, nb::handle capsule) { new (self) Stream(capsule); },
             "capsule"_a)
        .def("next", [](Stream& self) { return self.next().release(); },
             nb::rv_policy::take_ownership)
        .def("next_capsules", &Stream::next_capsules)
        .def("names", [](const Stream& self) { return names(self.schema()); })
        .def("formats", [](const Stream& self) { return formats(self.schema()); });
    m.def(
        "arrow_columns",
        [](nb::handle capsule) {
            const ArrowSchema& schema = claim<ArrowSchema>(capsule, "arrow_schema");
            check_structure(schema);
            return nb::make_tuple(names(schema), formats(schema));
        },
        "schema"_a);
    m.def("view_sizes", &view_sizes, "views"_a, "stride"_a);
    m.def("view_groups", &groups, "views"_a);
    m.def("hash_ids", &hash_integers, "ids"_a);
    m.def("hash_views", &hash_views, "views"_a);
    nb::class_<TableBuilder>(m, "ArrowTable", "A small table that others can take.")
        .def(nb::init<>())
        .def("__len__", &TableBuilder::rows)
        .def("integers", &TableBuilder::integers, "name"_a, "values"_a)
        .def("floats", &TableBuilder::floats, "name"_a, "values"_a)
        .def("strings", &TableBuilder::strings, "name"_a, "values"_a, "nullable"_a = false,
             "extension"_a = "")
        .def("lists", &TableBuilder::lists, "name"_a, "offsets"_a, "values"_a)
        .def("text_lists", &TableBuilder::text_lists, "name"_a, "values"_a, "nullable"_a = false)
        .def("nullable_integers", &TableBuilder::nullable_integers, "name"_a, "values"_a)
        .def("schema", &TableBuilder::schema)
        .def("array", &TableBuilder::array)
        .def("stream", &TableBuilder::stream);
    bind_rows_file(
        nb::class_<DelimitedFile>(m, "DelimitedFile", "Rows of a CSV or TSV file.")
            .def("__init__", &open_delimited, "delimiter"_a, "places"_a, "names"_a, "longest"_a));
    bind_rows_file(nb::class_<JsonLinesFile>(m, "JsonLinesFile", "Rows of a file of JSON lines.")
                       .def("__init__", &open_json_lines, "names"_a, "formats"_a, "longest"_a));
}

}  // namespace karat::arrow
