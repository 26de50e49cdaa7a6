// Lines of a mapped file: one pass validates and indexes them; views of any range of lines follow.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "text/utf8.hpp"
#include "text/views.hpp"

namespace karat {

// The start of every `stride`-th line. Reads in chunks, so that reading a long file can be
// interrupted.
struct LineIndex {
    int64_t stride;
    int64_t lines = 0;
    std::vector<int64_t> starts;    // of lines 0, stride, 2*stride, …
    int64_t invalid_line = -1;      // the first line that is not UTF-8, 0-based
    int64_t invalid_column = -1;    // byte offset in that line
    int64_t nul_line = -1;          // the first line with a NUL byte, 0-based

    explicit LineIndex(int64_t stride) : stride(stride) {}

    // Reads whole lines from `begin` until at least `enough` bytes are read; returns the end
    // position: `size`, or the start of a line.
    int64_t feed(const char* data, int64_t begin, int64_t size, int64_t enough) {
        const char* p = data + begin;
        const char* end = data + size;
        const char* stop = size - begin > enough ? p + enough : end;
        while (p < stop && invalid_line < 0) {
            const auto* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
            const char* line_end = newline ? newline : end;
            add_line(data, p, line_end);
            p = newline ? newline + 1 : end;
        }
        return p - data;
    }

  private:
    void add_line(const char* data, const char* p, const char* end) {
        if (lines % stride == 0) starts.push_back(p - data);
        const char* bad = find_invalid(p, end);
        if (bad != end) {
            invalid_line = lines;
            invalid_column = bad - p;
        }
        if (nul_line < 0 && std::memchr(p, 0, end - p)) nul_line = lines;
        ++lines;
    }
};

// The lines in [p, end); `\n` ends a line, and a `\r` before it belongs to the ending.
inline Views split_lines(const char* p, const char* end) {
    Views out;
    while (p < end) {
        const auto* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
        const char* line_end = newline ? newline : end;
        const char* next = newline ? newline + 1 : end;
        if (line_end > p && line_end[-1] == '\r') --line_end;
        out.items.emplace_back(p, line_end - p);
        p = next;
    }
    return out;
}

}  // namespace karat
