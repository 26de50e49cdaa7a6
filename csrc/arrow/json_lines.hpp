// Fast reader of JSON lines whose requested columns are strings, lists of strings or integers. It
// stops before any line it cannot handle; the slow reader then reads that line or reports the
// error.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/json_scanner.hpp"
#include "arrow/tables.hpp"
#include "text/utf8.hpp"

namespace karat::arrow {

class JsonLinesReader {
  public:
    // Formats are Arrow's: `u`, `l`, and `+l` for lists of strings.
    JsonLinesReader(std::vector<std::string> names, std::vector<std::string> formats,
                    size_t longest)
        : names_(std::move(names)), formats_(std::move(formats)), longest_(longest) {
        clear();
    }

    // Reads all complete lines of the bytes so far; false at a line that needs the slow reader.
    bool read(std::string_view data, bool last) {
        buffer_.append(data);
        const char *at = buffer_.data(), *const end = at + buffer_.size();
        bool regular = true;
        while (at < end && regular) {
            const auto left = static_cast<size_t>(end - at);
            const auto* stop = static_cast<const char*>(std::memchr(at, '\n', left));
            if (!stop && !last) break;
            const char* const next = stop ? stop + 1 : end;
            regular = static_cast<size_t>(next - at) <= longest_ && line(at, stop ? stop : end);
            if (regular) at = next;
        }
        const auto left = static_cast<size_t>(end - at);
        buffer_.erase(0, buffer_.size() - left);
        return regular && left <= longest_;
    }

    int64_t rows() const { return rows_; }

    std::vector<Column> take() {
        std::vector<Column> columns = std::move(columns_);
        for (Column& column : columns) {
            column.length = rows_;
            for (Column& items : column.children)
                items.length = static_cast<int64_t>(items.offsets.size()) - 1;
        }
        clear();
        return columns;
    }

  private:
    void clear() {
        rows_ = 0;
        columns_.assign(names_.size(), Column{});
        for (size_t i = 0; i < names_.size(); ++i) {
            columns_[i].format = formats_[i];
            if (formats_[i] != "l") columns_[i].offsets = {0};
            if (formats_[i] == "+l") {
                Column items;
                items.name = "item";
                items.format = "u";
                items.offsets = {0};
                columns_[i].children.push_back(std::move(items));
            }
        }
    }

    bool line(const char* begin, const char* end) {
        JsonScanner scanner(begin, end);
        if (scanner.at_end()) return true;  // a blank line
        size_t n_fields = 0;
        const bool is_object = find_invalid(begin, end) == end && scanner.object([&](auto name) {
            const auto place = std::find(names_.begin(), names_.end(), name);
            if (place == names_.end()) return scanner.value(0);
            ++n_fields;
            return value(scanner, columns_[static_cast<size_t>(place - names_.begin())]);
        });
        if (is_object && scanner.at_end() && n_fields == names_.size()) {
            ++rows_;
            return true;
        }
        for (Column& column : columns_) undo(column);
        return false;
    }

    // Adds the value of a column.
    static bool value(JsonScanner& scanner, Column& column) {
        if (column.format == "l") return integer(scanner, column);
        if (column.format == "u") return text(scanner, column);
        Column& items = column.children[0];
        if (!scanner.take('[')) return false;
        do {
            if (!text(scanner, items)) return false;
        } while (scanner.next_is(',') && scanner.take(','));
        column.offsets.push_back(static_cast<int32_t>(items.offsets.size()) - 1);
        return scanner.take(']');
    }
    static bool text(JsonScanner& scanner, Column& column) {
        if (!scanner.string(&column.data) || column.data.size() > INT32_MAX) return false;
        column.offsets.push_back(static_cast<int32_t>(column.data.size()));
        return true;
    }
    static bool integer(JsonScanner& scanner, Column& column) {
        std::string_view digits;
        bool is_integer = false;
        if (!scanner.number(digits, is_integer) || !is_integer || digits.size() > 18) return false;
        const int64_t parsed = std::stoll(std::string(digits));
        const auto* const bytes = reinterpret_cast<const char*>(&parsed);
        column.data.insert(column.data.end(), bytes, bytes + sizeof parsed);
        return true;
    }

    // Removes the values that a rejected line has added.
    void undo(Column& column) const {
        const auto rows = static_cast<size_t>(rows_);
        if (column.format == "l") {
            column.data.resize(rows * sizeof(int64_t));
            return;
        }
        column.offsets.resize(rows + 1);
        Column& texts = column.children.empty() ? column : column.children[0];
        if (&texts != &column)
            texts.offsets.resize(static_cast<size_t>(column.offsets.back()) + 1);
        texts.data.resize(static_cast<size_t>(texts.offsets.back()));
    }

    std::vector<std::string> names_, formats_;
    size_t longest_;
    std::string buffer_;
    std::vector<Column> columns_;
    int64_t rows_ = 0;
};

}  // namespace karat::arrow
