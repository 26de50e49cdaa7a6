// A range of segments as string views: the kernel's only representation of text.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/utf8.hpp"

namespace karat {

struct Views {
    std::vector<std::string_view> items;
    // Bytes that belong to no file and no Python string: encoded or rewritten segments.
    std::vector<std::shared_ptr<char[]>> arena;

    size_t size() const { return items.size(); }

    size_t bytes() const {
        size_t total = 0;
        for (const auto& item : items) total += item.size();
        return total;
    }

    char* allocate(size_t bytes) {
        arena.emplace_back(new char[bytes ? bytes : 1]);
        return arena.back().get();
    }
};

// Segment-major order: the first segment of every part, then the second of every part, …; also
// returns the start of each segment's items. Empty items can be omitted.
inline Views interleave(const std::vector<const Views*>& parts, bool skip_empty,
                        std::vector<int64_t>& starts) {
    Views out;
    starts.assign(1, 0);
    if (parts.empty()) return out;
    const size_t n = parts.front()->size();
    out.items.reserve(n * parts.size());
    for (size_t i = 0; i < n; ++i) {
        for (const Views* part : parts)
            if (!skip_empty || !part->items[i].empty()) out.items.push_back(part->items[i]);
        starts.push_back(static_cast<int64_t>(out.items.size()));
    }
    for (const Views* part : parts)
        out.arena.insert(out.arena.end(), part->arena.begin(), part->arena.end());
    return out;
}

// Lowercases the ASCII segments; the indices of all others are added to `not_ascii`, for Python's
// str.lower().
inline Views lower_ascii(const Views& in, std::vector<size_t>& not_ascii) {
    Views out;
    out.items.reserve(in.size());
    out.arena = in.arena;
    char* p = out.allocate(in.bytes());
    for (size_t i = 0; i < in.size(); ++i) {
        const std::string_view s = in.items[i];
        if (!is_ascii(s.data(), s.data() + s.size())) {
            not_ascii.push_back(i);
            out.items.push_back(s);
            continue;
        }
        for (size_t k = 0; k < s.size(); ++k) {
            const char c = s[k];
            p[k] = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
        }
        out.items.emplace_back(p, s.size());
        p += s.size();
    }
    return out;
}

// The non-empty pieces of every segment between occurrences of `separator`, and the start of each
// segment's pieces.
inline Views split_sentences(const Views& in, std::string_view separator,
                             std::vector<int64_t>& starts) {
    Views out;
    out.arena = in.arena;
    starts.assign(1, 0);
    for (const std::string_view s : in.items) {
        size_t from = 0;
        while (from <= s.size()) {
            size_t to = s.find(separator, from);
            if (to == std::string_view::npos) to = s.size();
            if (to > from) out.items.push_back(s.substr(from, to - from));
            from = to + separator.size();
        }
        starts.push_back(static_cast<int64_t>(out.items.size()));
    }
    return out;
}

}  // namespace karat
