// Fast reader of CSV and TSV files that follow RFC 4180. It stops before any row it cannot handle;
// the slow reader then reads that row or reports the error.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/tables.hpp"
#include "text/utf8.hpp"

namespace karat::arrow {

class DelimitedReader {
  public:
    // Field i of a row becomes column `columns[i]`; it is dropped if that is negative.
    DelimitedReader(char delimiter, std::vector<int32_t> columns, size_t n_selected, size_t longest)
        : delimiter_(delimiter),
          columns_(std::move(columns)),
          longest_(longest),
          n_selected_(n_selected) {
        clear();
    }

    // Reads all complete rows of the bytes so far; false at a row that needs the slow reader.
    bool read(std::string_view data, bool last) {
        buffer_.append(data);
        const char *at = buffer_.data(), *const end = at + buffer_.size();
        Row outcome = Row::complete;
        while (at < end) {
            const char* const begin = at;
            outcome = row(at, end, last);
            if (outcome != Row::complete) {
                at = begin;
                break;
            }
        }
        const auto left = static_cast<size_t>(end - at);
        if (outcome == Row::unfinished && (last || left > longest_)) outcome = Row::strange;
        buffer_.erase(0, buffer_.size() - left);
        return outcome != Row::strange;
    }

    int64_t rows() const { return rows_; }

    // The texts of the rows since the last call, column by column.
    std::vector<Column> take() {
        std::vector<Column> columns = std::move(selected_columns_);
        for (Column& column : columns) column.length = rows_;
        clear();
        return columns;
    }

  private:
    enum class Row { complete, unfinished, strange };

    struct Field {
        std::string_view text;
        bool doubled = false;  // contains doubled quotes, which are unescaped later
    };

    void clear() {
        rows_ = 0;
        selected_columns_.assign(n_selected_, Column{});
        for (Column& column : selected_columns_) {
            column.format = "u";
            column.offsets = {0};
        }
    }

    // Reads a row and moves `at` past its line end.
    Row row(const char*& at, const char* end, bool last) {
        const char* const begin = at;
        fields_.clear();
        bool more = true;
        while (more) {
            Field field;
            const Row outcome =
                at < end && *at == '"' ? quoted(at, end, field) : plain(at, end, field);
            if (outcome != Row::complete) return outcome;
            fields_.push_back(field);
            more = at < end && *at == delimiter_;
            if (more) ++at;
        }
        const char* const text_end = at;
        if (at == end) {
            if (!last) return Row::unfinished;
        } else {
            if (*at == '\r' && ++at == end) return last ? Row::strange : Row::unfinished;
            if (*at++ != '\n') return Row::strange;
        }
        const auto size = static_cast<size_t>(at - begin);
        if (size > longest_ || std::memchr(begin, 0, size) || find_invalid(begin, at) != at)
            return Row::strange;
        const bool blank = text_end == begin;
        if (blank) return columns_.size() == 1 ? Row::strange : Row::complete;
        if (fields_.size() != columns_.size()) return Row::strange;
        return keep() ? Row::complete : Row::strange;
    }

    // Moves `at` to the delimiter or line end after an unquoted field.
    Row plain(const char*& at, const char* end, Field& field) const {
        const char* const begin = at;
        while (at < end && *at != delimiter_ && *at != '\n' && *at != '\r') ++at;
        field.text = {begin, static_cast<size_t>(at - begin)};
        return Row::complete;
    }

    static Row quoted(const char*& at, const char* end, Field& field) {
        const char* const begin = ++at;
        for (;; at += 2, field.doubled = true) {
            const auto left = static_cast<size_t>(end - at);
            at = left ? static_cast<const char*>(std::memchr(at, '"', left)) : nullptr;
            if (!at) return Row::unfinished;
            if (at + 1 == end || at[1] != '"') break;
        }
        field.text = {begin, static_cast<size_t>(at - begin)};
        ++at;
        return Row::complete;  // the caller checks what follows
    }

    bool keep() {
        for (size_t i = 0; i < fields_.size(); ++i) {
            if (columns_[i] < 0) continue;
            Column& column = selected_columns_[static_cast<size_t>(columns_[i])];
            add(fields_[i], column.data);
            if (column.data.size() > INT32_MAX) return false;
            column.offsets.push_back(static_cast<int32_t>(column.data.size()));
        }
        ++rows_;
        return true;
    }

    static void add(const Field& field, std::vector<char>& data) {
        std::string_view text = field.text;
        while (field.doubled) {
            const size_t quote = text.find('"');
            if (quote == std::string_view::npos) break;
            data.insert(data.end(), text.begin(), text.begin() + static_cast<int64_t>(quote) + 1);
            text.remove_prefix(quote + 2);
        }
        data.insert(data.end(), text.begin(), text.end());
    }

    char delimiter_;
    std::vector<int32_t> columns_;
    size_t longest_, n_selected_;
    std::string buffer_;
    std::vector<Field> fields_;
    std::vector<Column> selected_columns_;
    int64_t rows_ = 0;
};

}  // namespace karat::arrow
