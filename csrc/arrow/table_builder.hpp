// Tables that Python fills column by column and exports as capsules.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "arrow/tables.hpp"
#include "text/bind.hpp"

namespace karat::arrow {

// An unconsumed object is released with its capsule.
template <class T>
nb::capsule capsule(T* object, const char* name) {
    return nb::capsule(object, name, [](void* pointer) noexcept {
        T* const held = static_cast<T*>(pointer);
        if (held->release) held->release(held);
        delete held;
    });
}

using Whole = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Column numbers(std::string name, const char* format, const T* data, size_t size) {
    const auto* bytes = reinterpret_cast<const char*>(data);
    Column column;
    column.name = std::move(name);
    column.format = format;
    column.length = static_cast<int64_t>(size);
    column.data.assign(bytes, bytes + size * sizeof(T));
    return column;
}

class TableBuilder {
  public:
    TableBuilder() : table_(std::make_shared<TableData>()) { table_->columns.format = "+s"; }

    void integers(const std::string& name, Whole values) {
        add(numbers(name, "l", values.data(), values.shape(0)));
    }
    void floats(const std::string& name, Numbers values) {
        add(numbers(name, "g", values.data(), values.shape(0)));
    }
    // Strings, which may be None if `nullable`; `extension` is the extension type, such as
    // "arrow.json".
    void strings(const std::string& name, nb::list values, bool nullable,
                 const std::string& extension) {
        Column column = nothing(name, "u", nullable);
        if (!extension.empty()) column.metadata = extension_metadata(extension);
        append(column, values);
        add(std::move(column));
    }
    void text_lists(const std::string& name, nb::list values, bool nullable) {
        Column column = nothing(name, "+l", nullable), items = nothing("item", "u", false);
        for (nb::handle value : values) {
            if (value.is_none() && nullable)
                column.mark_missing(column.length);
            else if (PyList_Check(value.ptr()))
                append(items, nb::borrow<nb::list>(value));
            else
                throw nb::type_error("no list of texts");
            column.offsets.push_back(offset(static_cast<size_t>(items.length)));
            ++column.length;
        }
        column.children.push_back(std::move(items));
        add(std::move(column));
    }
    // Integers, some of which may be None.
    void nullable_integers(const std::string& name, nb::list values) {
        std::vector<int64_t> integers;
        Column marks = nothing(name, "l", true);
        for (nb::handle value : values) {
            if (value.is_none()) marks.mark_missing(static_cast<int64_t>(integers.size()));
            integers.push_back(value.is_none() ? 0 : nb::cast<int64_t>(value));
        }
        Column column = numbers(name, "l", integers.data(), integers.size());
        column.nullable = true;
        column.missing = marks.missing;
        column.present = std::move(marks.present);
        add(std::move(column));
    }
    void lists(const std::string& name, Offsets offsets, Whole values) {
        const size_t rows = offsets.shape(0) - 1;
        Column column;
        column.name = name;
        column.format = "+l";
        column.length = static_cast<int64_t>(rows);
        for (size_t i = 0; i <= rows; ++i)
            column.offsets.push_back(offset(static_cast<size_t>(offsets(i))));
        column.children.push_back(numbers("item", "l", values.data(), values.shape(0)));
        add(std::move(column));
    }

    int64_t rows() const { return table_->rows; }

    void columns(const std::vector<std::string>& names, std::vector<Column>&& new_columns) {
        for (size_t i = 0; i < new_columns.size(); ++i) {
            new_columns[i].name = names[i];
            add(std::move(new_columns[i]));
        }
    }

    nb::capsule schema() const {
        auto* out = new ArrowSchema{};
        export_schema(table_, out);
        return capsule(out, "arrow_schema");
    }
    nb::tuple array() const {
        auto* out = new ArrowArray{};
        export_array(table_, out);
        return nb::make_tuple(schema(), capsule(out, "arrow_array"));
    }
    nb::capsule stream() const {
        auto* out = new ArrowArrayStream{};
        export_stream(table_, out);
        return capsule(out, "arrow_array_stream");
    }

  private:
    // An empty column of a type with offsets.
    static Column nothing(const std::string& name, const char* format, bool nullable) {
        Column column;
        column.name = name;
        column.format = format;
        column.offsets = {0};
        column.nullable = nullable;
        return column;
    }
    static void append(Column& column, const nb::list& values) {
        for (nb::handle value : values) {
            Py_ssize_t size = 0;
            const bool missing = column.nullable && value.is_none();
            const char* const text = missing ? "" : PyUnicode_AsUTF8AndSize(value.ptr(), &size);
            if (!text) throw nb::python_error();
            if (missing) column.mark_missing(column.length);
            column.data.insert(column.data.end(), text, text + size);
            column.offsets.push_back(offset(column.data.size()));
            ++column.length;
        }
    }
    static int32_t offset(size_t at) {
        if (at > INT32_MAX) throw nb::value_error("the table is too large");
        return static_cast<int32_t>(at);
    }
    void add(Column&& column) {
        if (!table_->columns.children.empty() && column.length != table_->rows)
            throw nb::value_error("the columns differ in length");
        column.end_marks();
        table_->rows = table_->columns.length = column.length;
        table_->columns.children.push_back(std::move(column));
    }

    std::shared_ptr<TableData> table_;
};

}  // namespace karat::arrow
