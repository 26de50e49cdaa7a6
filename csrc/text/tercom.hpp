// Tercom's tokeniser, as in sacreBLEU: rewrites a line so that white space separates its tokens.
//
// The original applies regular expressions in sequence, and so does this code: every pass below is
// one of them, applied left to right without overlap. They inspect only ASCII characters, so
// working on bytes is enough, except for the Asian characters at the end.
#pragma once
#include <cstring>
#include <string>
#include <string_view>

#include "text/tokenizers.hpp"
#include "text/utf8.hpp"

namespace karat {

struct Tercom {
    bool normalize = false;  // resolve entities, separate punctuation
    bool no_punct = false;   // punctuation removed
    bool asian = false;      // apply both to Asian characters and punctuation too

    std::string operator()(std::string_view line) const {
        std::string s(rstrip(line));
        if (s.empty()) return s;
        if (normalize) {
            replace_all(s, "\n-", "");
            replace_all(s, "\n", " ");
            resolve_entities(s);
            s = set_symbols_apart(" " + s + " ");
            replace_all(s, "'s ", " 's ");
            s = set_periods_apart(s);
            if (asian) s = asian_characters<true>(s);
        }
        if (no_punct) {
            s = remove_punctuation(s);
            if (asian) s = asian_characters<false>(s);
        }
        return s;
    }

  private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_period(char c) { return c == '.' || c == ','; }

    // [{-~[-` -&(-+:-@/], the space included.
    static std::string set_symbols_apart(const std::string& s) {
        std::string out;
        out.reserve(s.size() * 2);
        for (const char c : s) {
            const bool symbol = (c >= '{' && c <= '~') || (c >= '[' && c <= '`') ||
                                (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
                                (c >= ':' && c <= '@') || c == '/';
            if (symbol) out += ' ';
            out += c;
            if (symbol) out += ' ';
        }
        return out;
    }

    // ([^0-9])([.,]) -> "\1 \2 ", then ([.,])([^0-9]) -> " \1 \2", then ([0-9])(-) -> "\1 \2 ".
    static std::string set_periods_apart(const std::string& s) {
        const auto first = pairs(s, [](char a, char b) { return !is_digit(a) && is_period(b); },
                                 [](char a, char b) { return std::string{a, ' ', b, ' '}; });
        const auto second =
            pairs(first, [](char a, char b) { return is_period(a) && !is_digit(b); },
                  [](char a, char b) { return std::string{' ', a, ' ', b}; });
        return pairs(second, [](char a, char b) { return is_digit(a) && b == '-'; },
                     [](char a, char b) { return std::string{a, ' ', b, ' '}; });
    }

    template <class Test, class Rewrite>
    static std::string pairs(const std::string& s, const Test& test, const Rewrite& rewrite) {
        std::string out;
        out.reserve(s.size() + 16);
        for (size_t i = 0; i < s.size(); ++i) {
            if (i + 1 < s.size() && test(s[i], s[i + 1])) {
                out += rewrite(s[i], s[i + 1]);
                ++i;
            } else {
                out += s[i];
            }
        }
        return out;
    }

    static std::string remove_punctuation(const std::string& s) {
        std::string out;
        for (const char c : s)
            if (!c || !std::strchr(".,?:;!\"()", c)) out += c;
        return out;
    }

    static bool is_asian_mark(char32_t c) {
        switch (c) {
            case 0x3001: case 0x3002: case 0x30FB: case 0xFF0E: case 0xFF0C: case 0xFF1F:
            case 0xFF1A: case 0xFF1B: case 0xFF01: case 0xFF02: case 0xFF08: case 0xFF09:
                return true;
        }
        return (c >= 0x3008 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301F) ||
               (c >= 0xFF61 && c <= 0xFF65);
    }
    // The last range is the original's. Its rules for kana apply only to lines of nothing but kana,
    // which cannot occur after padding.
    static bool stands_alone(char32_t c) {
        return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
               (c >= 0x31C0 && c <= 0x31EF) || (c >= 0x2E80 && c <= 0x2EFF) ||
               (c >= 0x3300 && c <= 0x33FF) || (c >= 0xF900 && c <= 0xFAFF) ||
               (c >= 0xFE30 && c <= 0xFE4F) || (c >= 0x3200 && c <= 0x3F22);
    }

    // Separates characters and punctuation marks, or removes the marks.
    template <bool apart>
    static std::string asian_characters(const std::string& s) {
        std::string out;
        out.reserve(s.size() + 16);
        for (const char *p = s.data(), *end = p + s.size(); p < end;) {
            const char* const begin = p;
            const char32_t c = decode(p);
            const bool mark = is_asian_mark(c);
            const bool parted = apart && (mark || stands_alone(c));
            if (parted) out += ' ';
            if (apart || !mark) out.append(begin, p);
            if (parted) out += ' ';
        }
        return out;
    }
};

// Tokens of the line; with `twice`, the result is tokenised again, as sacreBLEU does for
// references.
template <class Sink>
void split_tercom(const Tercom& tercom, bool twice, std::string_view s, Sink& sink) {
    std::string line = tercom(s);
    if (twice) {
        std::string joined;
        auto join = [&](const char* p, const char* end, const char*) {
            if (!joined.empty()) joined += ' ';
            joined.append(p, end);
        };
        split_none(line, join);
        line = tercom(joined);
    }
    split_none(line, sink);
    sink.flush();
}

}  // namespace karat
