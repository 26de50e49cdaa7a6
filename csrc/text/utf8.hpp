// UTF-8, read and written one code point at a time.
//
// Text from files is valid UTF-8 (see lines.hpp); text from Python strings may contain lone
// surrogates, which are encoded like any other code point below U+10000 (three bytes), so that
// every str has exactly one byte form and the kernel need not know where its text came from.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace karat {

inline bool is_ascii(const char* p, const char* end) {
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        std::memcpy(&word, p, 8);
        if (word & 0x8080808080808080ull) return false;
    }
    for (; p < end; ++p)
        if (static_cast<unsigned char>(*p) & 0x80) return false;
    return true;
}

// The length in bytes of the code point that starts with this byte.
inline int utf8_length(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

// Reads one code point of well-formed text and moves past it.
inline char32_t decode(const char*& p) {
    const auto* u = reinterpret_cast<const unsigned char*>(p);
    const unsigned char lead = u[0];
    if (lead < 0x80) {
        p += 1;
        return lead;
    }
    if (lead < 0xE0) {
        p += 2;
        return (lead & 0x1Fu) << 6 | (u[1] & 0x3Fu);
    }
    if (lead < 0xF0) {
        p += 3;
        return (lead & 0x0Fu) << 12 | (u[1] & 0x3Fu) << 6 | (u[2] & 0x3Fu);
    }
    p += 4;
    return (lead & 0x07u) << 18 | (u[1] & 0x3Fu) << 12 | (u[2] & 0x3Fu) << 6 | (u[3] & 0x3Fu);
}

// The start of the code point that ends at `end`.
inline const char* previous(const char* end) {
    do --end;
    while ((static_cast<unsigned char>(*end) & 0xC0) == 0x80);
    return end;
}

// A field of a file for a message: if it is long, truncated and followed by its length.
inline std::string shortened(std::string_view text) {
    constexpr size_t longest = 80;
    if (text.size() <= longest) return std::string(text);
    const char* end = text.data() + longest;
    while (end > text.data() && (static_cast<unsigned char>(*end) & 0xC0) == 0x80) --end;
    const std::string beginning(text.data(), end);
    return beginning + "… (" + std::to_string(text.size()) + " bytes)";
}

// Writes one code point and moves past it; at most four bytes.
inline void encode(char32_t c, char*& out) {
    if (c < 0x80) {
        *out++ = static_cast<char>(c);
    } else if (c < 0x800) {
        *out++ = static_cast<char>(0xC0 | c >> 6);
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = static_cast<char>(0xE0 | c >> 12);
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    } else {
        *out++ = static_cast<char>(0xF0 | c >> 18);
        *out++ = static_cast<char>(0x80 | (c >> 12 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (c & 0x3F));
    }
}

// White space as Python's str.split() and str.isspace() see it.
inline bool is_space(char32_t c) {
    if (c < 0x80) return c == 0x20 || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    if (c < 0x1680) return c == 0x85 || c == 0xA0;
    return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

// Python's str.rstrip() and str.lstrip().
inline std::string_view rstrip(std::string_view s) {
    const char* begin = s.data();
    const char* end = begin + s.size();
    while (end > begin) {
        const char* last = previous(end);
        const char* p = last;
        if (!is_space(decode(p))) break;
        end = last;
    }
    return {begin, static_cast<size_t>(end - begin)};
}

inline std::string_view lstrip(std::string_view s) {
    const char* p = s.data();
    const char* end = p + s.size();
    while (p < end) {
        const char* next = p;
        if (!is_space(decode(next))) break;
        p = next;
    }
    return {p, static_cast<size_t>(end - p)};
}

// The first byte that is not part of well-formed UTF-8 (RFC 3629), or `end`. Words that came from
// Python strings may have surrogates.
inline const char* find_invalid(const char* p, const char* end, bool surrogates = false) {
    const auto continues = [](const char* q) {
        return (static_cast<unsigned char>(*q) & 0xC0) == 0x80;
    };
    while (p < end) {
        if (end - p >= 8) {
            uint64_t word;
            std::memcpy(&word, p, 8);
            if (!(word & 0x8080808080808080ull)) {
                p += 8;
                continue;
            }
        }
        const auto lead = static_cast<unsigned char>(*p);
        if (lead < 0x80) {
            ++p;
            continue;
        }
        if (lead < 0xC2 || lead > 0xF4) return p;
        const int length = utf8_length(lead);
        if (end - p < length) return p;
        for (int i = 1; i < length; ++i)
            if (!continues(p + i)) return p;
        const auto second = static_cast<unsigned char>(p[1]);
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F && !surrogates) ||
            (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
            return p;
        p += length;
    }
    return end;
}

}  // namespace karat
