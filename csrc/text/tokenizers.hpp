// The tokenisers: one segment in, its tokens out, in order.
//
// A sink receives the tokens by `sink(begin, end, limit)`, where `limit` is the end of the readable
// bytes; `sink.flush()` announces that the bytes passed so far will become invalid. Each tokeniser
// returns exactly the tokens of the tool that defined it. Those tools apply regular expressions in
// sequence to the whole line; here one pass over the bytes does the same. The one subtle part, runs
// of periods, is derived at `Run`.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/bits.hpp"
#include "text/unicode_classes.hpp"
#include "text/utf8.hpp"
#include "text/views.hpp"

namespace karat {

// A run of L "periods" (13a: `.` and `,`; intl: any \p{P}) is between x, the character before it,
// and y, the character after it; both may be missing at the ends of the line. The original tools
// apply  (non-digit)(period) -> "\1 \2 "  and then  (period)(non-digit) -> " \1 \2",  each from
// left to right without overlap. It follows that:
// - the first rule takes periods 1, 3, 5, … if x is present and no digit, else periods 2, 4, 6, …;
//   one of two neighbours is always taken, so the periods of a run are separated;
// - a period that the first rule took is separated from its successor; others are, by the
//   second rule, unless a digit or the end follows;
// - the run is separated from x unless x is a digit, L = 1 and a digit or the end follows.
enum class Around { missing, digit, other };

struct Run {
    bool joins_left;   // the first period stays with x
    bool joins_right;  // the last period stays with y

    Run(Around x, size_t length, Around y) {
        const bool last_taken = (x == Around::other) == (length % 2 == 1);
        joins_left = x == Around::digit && length == 1 && y != Around::other;
        joins_right = y == Around::digit && !last_taken;
    }
};

// Collects the bytes start of the current token; a gap ends it.
template <class Sink>
class Cutter {
  public:
    Cutter(Sink& sink, const char* limit) : sink_(sink), limit_(limit) {}
    void extend(const char* p) {
        if (!start_) start_ = p;
    }
    void cut(const char* p) {
        if (start_) sink_(start_, p, limit_);
        start_ = nullptr;
    }
    void alone(const char* p, const char* end) {
        cut(p);
        sink_(p, end, limit_);
    }
    // The periods in [p, end), split and joined according to `run`.
    void periods(const char* p, const char* end, Run run) {
        const bool goes_on = run.joins_left || run.joins_right;  // "1.5", ".5", "1." at the end
        if (!run.joins_left) cut(p);
        while (p < end) {
            extend(p);
            p += utf8_length(static_cast<unsigned char>(*p));
            if (p < end || !goes_on) cut(p);
        }
    }

  private:
    Sink& sink_;
    const char* limit_;
    const char* start_ = nullptr;
};

// ------------------------------------------------------------------------------------ 13a, zh

namespace ascii {
enum Class : uint8_t { word, digit, space, symbol, period, dash, lead };

struct Table {
    Class of[256];
    constexpr Table() : of() {
        for (int c = 0; c < 256; ++c) {
            of[c] = word;
            if (c >= '0' && c <= '9') of[c] = digit;
            if ((c >= 9 && c <= 13) || (c >= 28 && c <= 32)) of[c] = space;
            if ((c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
                (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/')
                of[c] = symbol;
            if (c == '.' || c == ',') of[c] = period;
            if (c == '-') of[c] = dash;
            if (c >= 0x80) of[c] = lead;
        }
    }
};
constexpr Table table{};

inline Class of(const char* p) { return table.of[static_cast<unsigned char>(*p)]; }

#if defined(__SSE2__)
// A mask of the bytes in the range of `count` values from `first`.
inline __m128i within(__m128i x, char first, char count) {
    const __m128i t = _mm_sub_epi8(x, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(t, _mm_set1_epi8(static_cast<char>(count - 1))), t);
}
#endif

// Skips ASCII letters and digits, sixteen bytes per step; stops at anything else.
inline const char* skip_alphanumeric(const char* p, const char* end) {
#if defined(__SSE2__)
    while (end - p >= 16) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i lowered = _mm_or_si128(x, _mm_set1_epi8(0x20));
        const __m128i alphanumeric = _mm_or_si128(within(lowered, 'a', 26), within(x, '0', 10));
        const auto stops = ~static_cast<unsigned>(_mm_movemask_epi8(alphanumeric)) & 0xFFFFu;
        if (stops) return p + __builtin_ctz(stops);
        p += 16;
    }
#endif
    while (p < end && of(p) <= digit) ++p;
    return p;
}
}  // namespace ascii

// Characters that `zh` separates. The original table has two ranges written with five hexadecimal
// digits after \u, which Python parses as four digits and a letter; so it also contains
// U+2001..U+2A6D.
inline bool is_chinese(char32_t c) {
    static constexpr char32_t ranges[][2] = {
        {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F},
        {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF},
        {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9},
        {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF},
    };
    for (const auto& range : ranges)
        if (c <= range[1]) return c >= range[0];
    return false;
}

// The rules common to 13a and zh. `padded`: 13a puts a space at both ends of the line, zh does not.
template <bool chinese, class Sink>
void split_western(std::string_view s, Sink& sink) {
    constexpr bool padded = !chinese;
    const char* const begin = s.data();
    const char* const end = begin + s.size();
    Cutter<Sink> cutter(sink, end);
    const char* p = begin;
    while (p < end) {
        switch (ascii::of(p)) {
            case ascii::word:
            case ascii::digit:
                do {  // most text is words with single spaces between them
                    cutter.extend(p);
                    p = ascii::skip_alphanumeric(p + 1, end);
                    if (p == end || *p != ' ') break;
                    cutter.cut(p++);
                } while (p < end && ascii::of(p) <= ascii::digit);
                break;
            case ascii::space:
                cutter.cut(p++);
                break;
            case ascii::symbol:
                cutter.alone(p, p + 1);
                ++p;
                break;
            case ascii::dash:  // separated only after a digit
                if (p > begin && ascii::of(p - 1) == ascii::digit)
                    cutter.alone(p, p + 1);
                else
                    cutter.extend(p);
                ++p;
                break;
            case ascii::period: {
                const char* stop = p;
                while (stop < end && ascii::of(stop) == ascii::period) ++stop;
                const auto around = [](bool inside, const char* q) {
                    if (!inside) return padded ? Around::other : Around::missing;
                    return ascii::of(q) == ascii::digit ? Around::digit : Around::other;
                };
                cutter.periods(p, stop,
                               Run(around(p > begin, p - 1), static_cast<size_t>(stop - p),
                                   around(stop < end, stop)));
                p = stop;
                break;
            }
            case ascii::lead: {
                const char* next = p;
                const char32_t c = decode(next);
                if (is_space(c))
                    cutter.cut(p);
                else if (chinese && is_chinese(c))
                    cutter.alone(p, next);
                else
                    cutter.extend(p);
                p = next;
                break;
            }
        }
    }
    cutter.cut(end);
}

inline void replace_all(std::string& s, std::string_view from, std::string_view to) {
    if (s.find(from) == std::string::npos) return;
    std::string out;
    size_t at = 0;
    for (size_t hit; (hit = s.find(from, at)) != std::string::npos; at = hit + from.size()) {
        out.append(s, at, hit - at);
        out.append(to);
    }
    s = out.append(s, at, std::string::npos);
}

// Replaces four entities in sequence (so `&amp;lt;` becomes `<`).
inline void resolve_entities(std::string& s) {
    replace_all(s, "&quot;", "\"");
    replace_all(s, "&amp;", "&");
    replace_all(s, "&lt;", "<");
    replace_all(s, "&gt;", ">");
}

// mteval's preprocessing: removes `<skipped>`, joins lines broken at a hyphen, resolves entities.
inline std::string mteval_unescape(std::string_view line) {
    std::string s(line);
    replace_all(s, "<skipped>", "");
    replace_all(s, "-\n", "");
    replace_all(s, "\n", " ");
    resolve_entities(s);
    return s;
}

template <class Sink>
void split_13a(std::string_view s, Sink& sink) {
    s = rstrip(s);
    const auto has = [&](char c) { return std::memchr(s.data(), c, s.size()) != nullptr; };
    if (s.empty()) return;
    if (!has('&') && !has('<') && !has('\n')) return split_western<false>(s, sink);
    const std::string plain = mteval_unescape(s);
    split_western<false>(plain, sink);
    sink.flush();
}

template <class Sink>
void split_zh(std::string_view s, Sink& sink) {
    split_western<true>(lstrip(rstrip(s)), sink);
}

// --------------------------------------------------------------------------------------- intl

namespace unicode {
enum Class : uint8_t { other, number, punctuation, symbol, space };

inline const std::vector<uint8_t>& classes() {
    static const std::vector<uint8_t> table = [] {
        std::vector<uint8_t> t(0x110000, other);
        const auto fill = [&](const auto& ranges, Class value) {
            for (const auto& range : ranges)
                for (uint32_t c = range[0]; c <= range[1]; ++c) t[c] = value;
        };
        fill(NUMBER, number);
        fill(PUNCTUATION, punctuation);
        fill(SYMBOL, symbol);
        for (uint32_t c = 0; c <= 0x3000; ++c)
            if (is_space(c)) t[c] = space;
        return t;
    }();
    return table;
}
}  // namespace unicode

template <class Sink>
void split_intl(std::string_view s, Sink& sink) {
    s = rstrip(s);
    const auto& classes = unicode::classes();
    const char* p = s.data();
    const char* const end = p + s.size();
    Cutter<Sink> cutter(sink, end);
    Around before = Around::missing;
    while (p < end) {
        const char* next = p;
        const uint8_t kind = classes[decode(next)];
        if (kind == unicode::punctuation) {
            size_t length = 1;
            Around after = Around::missing;
            while (next < end) {
                const char* ahead = next;
                const uint8_t following = classes[decode(ahead)];
                if (following != unicode::punctuation) {
                    after = following == unicode::number ? Around::digit : Around::other;
                    break;
                }
                next = ahead;
                ++length;
            }
            cutter.periods(p, next, Run(before, length, after));
        } else if (kind == unicode::symbol) {
            cutter.alone(p, next);
        } else if (kind == unicode::space) {
            cutter.cut(p);
        } else {
            cutter.extend(p);
        }
        before = kind == unicode::number ? Around::digit : Around::other;
        p = next;
    }
    cutter.cut(end);
}

// -------------------------------------------------------------------------------- none, char

// Which of 64 bytes are ASCII white space, and which may begin other white space (U+0085 to
// U+3000).
struct Stops {
    uint64_t spaces = 0, leads = 0;
};

inline Stops stops(const char* p) {
    Stops result;
#if defined(__SSE2__)
    for (int k = 0; k < 4; ++k) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + k);
        const __m128i spaces = _mm_or_si128(ascii::within(x, 9, 5), ascii::within(x, 28, 5));
        const __m128i leads = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('\xC2')),
                                           ascii::within(x, '\xE1', 3));
        const auto bits = [](__m128i x) { return static_cast<uint64_t>(_mm_movemask_epi8(x)); };
        result.spaces |= bits(spaces) << 16 * k;
        result.leads |= bits(leads) << 16 * k;
    }
#else
    for (int k = 0; k < 64; ++k) {
        const auto c = static_cast<unsigned char>(p[k]);
        const bool leads = c == 0xC2 || (c >= 0xE1 && c <= 0xE3);
        result.spaces |= static_cast<uint64_t>(ascii::of(p + k) == ascii::space) << k;
        result.leads |= static_cast<uint64_t>(leads) << k;
    }
#endif
    return result;
}

// The same masks for the last bytes of a text, at most 64, without reading beyond its end.
inline Stops stops(const char* p, std::string_view text) {
    const auto count = static_cast<size_t>(text.data() + text.size() - p);
    if (count >= 64) return stops(p);
    if (text.size() >= 64) {
        const Stops last_stops = stops(text.data() + text.size() - 64);
        return {last_stops.spaces >> (64 - count), last_stops.leads >> (64 - count)};
    }
    char padded[64] = {};
    std::memcpy(padded, p, count);
    return stops(padded);
}

template <class Sink>
void split_none(std::string_view s, Sink& sink) {
    const char* const end = s.data() + s.size();
    const char* start = s.data();  // of the current token
    for (const char* p = start; p < end; p += 64) {
        const Stops marks = stops(p, s);
        for (uint64_t all = marks.spaces | marks.leads; all; all &= all - 1) {
            const char* const at = p + lowest(all);
            const char* next = at;
            if (!marks.leads)
                ++next;
            else if (!is_space(decode(next)))
                continue;
            if (start < at) sink(start, at, end);
            start = next;
        }
    }
    if (start < end) sink(start, end, end);
}

template <class Sink>
void split_char(std::string_view s, Sink& sink) {
    const char* p = s.data();
    const char* const end = p + s.size();
    while (p < end) {
        const char* next = p;
        if (!is_space(decode(next))) sink(p, next, end);
        p = next;
    }
}

// ---------------------------------------------------------------------------------------- gtm

// GTM 1.4 splits with Java's StringTokenizer: at five characters and at no other white space.
template <class Sink>
void split_gtm(std::string_view s, Sink& sink) {
    const auto parts = [](char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
    };
    const char* const end = s.data() + s.size();
    Cutter<Sink> cutter(sink, end);
    for (const char* p = s.data(); p < end; ++p) parts(*p) ? cutter.cut(p) : cutter.extend(p);
    cutter.cut(end);
}

// -------------------------------------------------------------------------------------- rouge

// Lower case, then runs of [a-z0-9]. Only two non-ASCII characters have ASCII letters in their
// lower case: the Kelvin sign (`k`) and capital I with dot (`i` and a combining dot, which
// separates tokens).
namespace rouge {
struct Table {
    char fold[128];  // lower case of token characters, 0 for separators
    constexpr Table() : fold() {
        for (int c = 0; c < 128; ++c) {
            const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
            fold[c] = static_cast<char>(alphanumeric ? c : c >= 'A' && c <= 'Z' ? c | 0x20 : 0);
        }
    }
};
constexpr Table table{};
}  // namespace rouge

template <class Sink>
void split_rouge(std::string_view s, Sink& sink) {
    thread_local std::vector<char> scratch;
    if (scratch.size() < s.size()) scratch.resize(s.size());
    char* start = scratch.data();
    const char* const limit = start + scratch.size();
    char* out = start;
    const auto flush = [&] {
        if (out > start) sink(start, out, limit);
        start = out;
    };
    const char* p = s.data();
    const char* const end = p + s.size();
    while (p < end) {
        const auto c = static_cast<unsigned char>(*p);
        if (c < 0x80) {
            ++p;
            if (const char folded = rouge::table.fold[c])
                *out++ = folded;
            else
                flush();
            continue;
        }
        const char32_t wide = decode(p);
        if (wide == 0x212A) {
            *out++ = 'k';
        } else {
            if (wide == 0x0130) *out++ = 'i';
            flush();
        }
    }
    flush();
    sink.flush();
}

// ------------------------------------------------------------------------------------ chrf

// chrF++'s words: one ASCII punctuation mark is split off, at the end or else at the beginning.
template <class Sink>
void split_chrf(std::string_view s, Sink& sink) {
    const auto is_mark = [](const char* p) {
        const auto c = static_cast<unsigned char>(*p);
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
               (c >= '{' && c <= '~');
    };
    auto word = [&](const char* p, const char* end, const char* limit) {
        if (end - p == utf8_length(static_cast<unsigned char>(*p))) {
            sink(p, end, limit);
        } else if (is_mark(end - 1)) {
            sink(p, end - 1, limit);
            sink(end - 1, end, limit);
        } else if (is_mark(p)) {
            sink(p, p + 1, limit);
            sink(p + 1, end, limit);
        } else {
            sink(p, end, limit);
        }
    };
    split_none(s, word);
}

// ----------------------------------------------------------------------------------- dispatch

enum class Tokenizer { none, v13a, intl, character, zh, gtm, rouge, chrf };

template <class Sink>
void split(Tokenizer tokenizer, std::string_view s, Sink& sink) {
    switch (tokenizer) {
        case Tokenizer::none: return split_none(s, sink);
        case Tokenizer::v13a: return split_13a(s, sink);
        case Tokenizer::intl: return split_intl(s, sink);
        case Tokenizer::character: return split_char(s, sink);
        case Tokenizer::zh: return split_zh(s, sink);
        case Tokenizer::gtm: return split_gtm(s, sink);
        case Tokenizer::rouge: return split_rouge(s, sink);
        case Tokenizer::chrf: return split_chrf(s, sink);
    }
}

// Every character becomes an id, its code point; white space is kept or dropped.
inline void codepoints(const Views& views, bool keep_space, std::vector<int32_t>& ids,
                       std::vector<int64_t>& offsets) {
    ids.resize(views.bytes());
    offsets.assign(1, 0);
    int32_t* out = ids.data();
    for (const std::string_view item : views.items) {
        const char *p = item.data(), *const end = p + item.size();
        if (is_ascii(p, end))  // true for most text, and twice as fast
            for (; p < end; ++p) {
                *out = *p;
                out += keep_space || ascii::of(p) != ascii::space;
            }
        while (p < end) {
            const char32_t c = decode(p);
            *out = static_cast<int32_t>(c);
            out += keep_space || !is_space(c);
        }
        offsets.push_back(out - ids.data());
    }
    ids.resize(out - ids.data());
}

}  // namespace karat
