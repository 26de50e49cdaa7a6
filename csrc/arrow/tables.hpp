// Small tables, exported through the Arrow C data interface.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "arrow/c_data.hpp"

namespace karat::arrow {

// Numbers (`l`, `g`), strings (`u`), or lists of numbers or of strings (`+l`, with a child).
struct Column {
    std::string name, format;
    int64_t length = 0;
    std::vector<int32_t> offsets;
    std::vector<char> data;
    std::vector<Column> children;
    std::string metadata;
    bool nullable = false;
    int64_t missing = 0;
    std::vector<uint8_t> present;  // validity bits, up to the last missing value

    void mark_missing(int64_t at) {
        present.resize(static_cast<size_t>(at / 8 + 1), 0xFF);
        present[static_cast<size_t>(at / 8)] &= static_cast<uint8_t>(~(1u << at % 8));
        ++missing;
    }
    // Values after the last marked one are not missing.
    void end_marks() {
        if (missing) present.resize(static_cast<size_t>(length + 7) / 8, 0xFF);
    }
};

// The name of an extension type as metadata of a schema, in the interface's own encoding.
inline std::string extension_metadata(const std::string& name) {
    std::string metadata;
    const auto add_number = [&](size_t number) {
        const auto value = static_cast<int32_t>(number);
        metadata.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto add_text = [&](const std::string& text) {
        add_number(text.size());
        metadata += text;
    };
    add_number(2);
    add_text("ARROW:extension:name");
    add_text(name);
    add_text("ARROW:extension:metadata");
    add_text("");
    return metadata;
}

// The extension type in the metadata of a schema, if any.
inline std::string extension_name(const char* metadata) {
    if (!metadata) return "";
    const auto number = [&] {
        int32_t value;
        std::memcpy(&value, metadata, sizeof value);
        metadata += sizeof value;
        return value;
    };
    const auto text = [&] {
        const auto size = static_cast<size_t>(number());
        const std::string extension(metadata, size);
        metadata += size;
        return extension;
    };
    for (int32_t left = number(); left > 0; --left) {
        const std::string key = text(), value = text();
        if (key == "ARROW:extension:name") return value;
    }
    return "";
}

struct TableData {
    int64_t rows = 0;
    Column columns;  // a structure: one child for each column
};

namespace exporting {

constexpr int64_t nullable_flag = 2;  // flag of the interface

struct SchemaParts {
    std::vector<ArrowSchema> children;
    std::vector<ArrowSchema*> pointers;
    std::shared_ptr<const TableData> table;
};
struct ArrayParts {
    std::vector<const void*> buffers;
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> pointers;
    std::shared_ptr<const TableData> table;
};

template <class T, class Parts>
void release(T* consumed) {
    auto* parts = static_cast<Parts*>(consumed->private_data);
    for (T& child : parts->children)
        if (child.release) child.release(&child);
    delete parts;
    consumed->release = nullptr;
}

inline void schema(const Column& column, const std::shared_ptr<const TableData>& table,
                   ArrowSchema* out) {
    auto* parts = new SchemaParts{{}, {}, table};
    parts->children.resize(column.children.size());
    for (size_t i = 0; i < column.children.size(); ++i) {
        schema(column.children[i], table, &parts->children[i]);
        parts->pointers.push_back(&parts->children[i]);
    }
    *out = {column.format.c_str(),
            column.name.c_str(),
            column.metadata.empty() ? nullptr : column.metadata.data(),
            column.nullable ? nullable_flag : 0,
            static_cast<int64_t>(parts->children.size()),
            parts->pointers.data(),
            nullptr,
            release<ArrowSchema, SchemaParts>,
            parts};
}

inline void array(const Column& column, const std::shared_ptr<const TableData>& table,
                  ArrowArray* out) {
    const void* const present = column.missing ? column.present.data() : nullptr;
    auto* parts = new ArrayParts{{present}, {}, {}, table};
    if (!column.offsets.empty()) parts->buffers.push_back(column.offsets.data());
    if (column.format[0] != '+') parts->buffers.push_back(column.data.data());
    parts->children.resize(column.children.size());
    for (size_t i = 0; i < column.children.size(); ++i) {
        array(column.children[i], table, &parts->children[i]);
        parts->pointers.push_back(&parts->children[i]);
    }
    *out = {column.length,
            column.missing,
            0,
            static_cast<int64_t>(parts->buffers.size()),
            static_cast<int64_t>(parts->children.size()),
            parts->buffers.data(),
            parts->pointers.data(),
            nullptr,
            release<ArrowArray, ArrayParts>,
            parts};
}

struct StreamParts {
    std::shared_ptr<const TableData> table;
    bool consumed = false;
};

inline StreamParts& parts_of(ArrowArrayStream* stream) {
    return *static_cast<StreamParts*>(stream->private_data);
}

}  // namespace exporting

inline void export_schema(const std::shared_ptr<const TableData>& table, ArrowSchema* out) {
    exporting::schema(table->columns, table, out);
}

inline void export_array(const std::shared_ptr<const TableData>& table, ArrowArray* out) {
    exporting::array(table->columns, table, out);
}

// A stream of one batch.
inline void export_stream(const std::shared_ptr<const TableData>& table, ArrowArrayStream* out) {
    using exporting::parts_of;
    out->get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
        export_schema(parts_of(self).table, schema);
        return 0;
    };
    out->get_next = [](ArrowArrayStream* self, ArrowArray* next) {
        if (parts_of(self).consumed)
            *next = {};
        else
            export_array(parts_of(self).table, next);
        parts_of(self).consumed = true;
        return 0;
    };
    out->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    out->release = [](ArrowArrayStream* self) {
        delete &parts_of(self);
        self->release = nullptr;
    };
    out->private_data = new exporting::StreamParts{table};
}

}  // namespace karat::arrow
