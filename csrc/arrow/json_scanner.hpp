// A strict scanner for one line of JSON.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/utf8.hpp"

namespace karat::arrow {

// Reads JSON according to RFC 8259. Functions return false for input they do not handle.
class JsonScanner {
  public:
    JsonScanner(const char* begin, const char* end) : at_(begin), end_(end) {}

    bool take(char expected) {
        skip_blanks();
        if (at_ == end_ || *at_ != expected) return false;
        ++at_;
        return true;
    }
    bool next_is(char expected) {
        skip_blanks();
        return at_ < end_ && *at_ == expected;
    }
    bool at_end() {
        skip_blanks();
        return at_ == end_;
    }

    // Reads a string and appends it to `out`, if `out` is given.
    bool string(std::vector<char>* out) {
        if (!take('"')) return false;
        for (;;) {
            const char* const begin = at_;
            while (at_ < end_ && is_plain(*at_)) ++at_;
            if (out) out->insert(out->end(), begin, at_);
            if (at_ == end_) return false;
            const char character = *at_++;
            if (character == '"') return true;
            if (character != '\\' || !escape(out)) return false;
        }
    }

    // A member name without escapes.
    bool name(std::string_view& out) {
        if (!next_is('"')) return false;
        const char* const begin = at_ + 1;
        if (!string(nullptr)) return false;
        out = {begin, static_cast<size_t>(at_ - 1 - begin)};
        return out.find('\\') == std::string_view::npos;
    }

    // A number with few digits; `is_integer` is set if it has no fraction.
    bool number(std::string_view& out, bool& is_integer) {
        skip_blanks();
        const char* const begin = at_;
        if (at_ < end_ && *at_ == '-') ++at_;
        const char* const first = at_;
        if (!digits() || (*first == '0' && at_ - first > 1)) return false;
        is_integer = !(at_ < end_ && *at_ == '.');
        if (!is_integer && (++at_, !digits())) return false;
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) return false;  // the value may be infinite
        out = {begin, static_cast<size_t>(at_ - begin)};
        return out.size() <= 100;
    }

    // Skips any value.
    bool value(int depth) {
        if (depth > 50) return false;
        if (next_is('"')) return string(nullptr);
        if (next_is('[')) return list(depth);
        if (next_is('{'))
            return object([&](std::string_view) { return value(depth + 1); });
        if (at_ < end_ && (*at_ == '-' || (*at_ >= '0' && *at_ <= '9'))) {
            std::string_view digits_read;
            bool is_integer;
            return number(digits_read, is_integer);
        }
        return word("true") || word("false") || word("null");
    }

    // Calls `read` for each member name; `read` must read the value. Rejects duplicate names.
    template <class Read>
    bool object(Read read) {
        if (!take('{')) return false;
        if (next_is('}')) return take('}');
        const size_t n_outer_names = names_.size();
        do {
            std::string_view field;
            if (!name(field) || !take(':')) return false;
            const auto begin = names_.begin() + static_cast<int64_t>(n_outer_names);
            if (std::find(begin, names_.end(), field) != names_.end()) return false;
            names_.push_back(field);
            if (names_.size() > 1000 || !read(field)) return false;
        } while (next_is(',') && take(','));
        names_.resize(n_outer_names);
        return take('}');
    }

  private:
    static bool is_plain(char c) {
        return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 32;
    }
    void skip_blanks() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    bool digits() {
        const char* const begin = at_;
        while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        return at_ > begin;
    }
    bool word(std::string_view expected) {
        if (static_cast<size_t>(end_ - at_) < expected.size()) return false;
        if (std::string_view(at_, expected.size()) != expected) return false;
        at_ += expected.size();
        return true;
    }
    bool list(int depth) {
        if (!take('[')) return false;
        if (next_is(']')) return take(']');
        do {
            if (!value(depth + 1)) return false;
        } while (next_is(',') && take(','));
        return take(']');
    }
    bool escape(std::vector<char>* out) {
        if (at_ == end_) return false;
        const char kind = *at_++;
        if (kind == 'u') return code_point(out);
        static constexpr std::string_view kinds = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
        const size_t place = kinds.find(kind);
        if (place == std::string_view::npos) return false;
        if (out) out->push_back(values[place]);
        return true;
    }
    bool code_point(std::vector<char>* out) {
        uint32_t code, low;
        if (!hexadecimal(code)) return false;
        if (code >= 0xD800 && code < 0xE000) {
            if (code >= 0xDC00 || !word("\\u") || !hexadecimal(low)) return false;
            if (low < 0xDC00 || low >= 0xE000) return false;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        if (!out) return true;
        char bytes[4], *end = bytes;
        encode(code, end);
        out->insert(out->end(), bytes, end);
        return true;
    }
    bool hexadecimal(uint32_t& code) {
        if (end_ - at_ < 4) return false;
        code = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            const char c = *at_;
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) return false;
            code = code * 16 + static_cast<uint32_t>(digit);
        }
        return true;
    }

    const char *at_, *end_;
    std::vector<std::string_view> names_;
};

}  // namespace karat::arrow
