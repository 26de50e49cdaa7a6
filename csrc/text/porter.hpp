// The Porter stemmer in the variant that rouge-score uses: NLTK's, with its own extensions
// (irregular forms; short words in -ies and -ied; y -> i after any consonant; -alli first; -fulli,
// -logi), and applied to words of more than three characters only.
//
// "m" is Porter's measure, the number of VC sequences in a stem. Rules are tried in order; the
// first rule with a matching suffix decides, whether or not its condition is met.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "text/utf8.hpp"

namespace karat {

template <class Char>
class PorterNltk {
  public:
    using Word = std::basic_string<Char>;

    // `word` is in lower case.
    static Word stem(Word word) {
        if (word.size() <= 3) return word;
        if (const char* irregular = irregular_form(word))
            return Word(irregular, irregular + std::strlen(irregular));
        step1a(word);
        step1b(word);
        step1c(word);
        step2(word);
        step3(word);
        step4(word);
        step5a(word);
        step5b(word);
        return word;
    }

  private:
    static bool equals(const Word& word, size_t from, const char* s) {
        size_t i = from;
        for (; i < word.size() && *s; ++i, ++s)
            if (word[i] != static_cast<Char>(*s)) return false;
        return i == word.size() && !*s;
    }
    static bool ends(const Word& word, const char* suffix) {
        const size_t n = std::strlen(suffix);
        return word.size() >= n && equals(word, word.size() - n, suffix);
    }
    static void replace(Word& word, size_t drop, const char* with) {
        word.resize(word.size() - drop);
        while (*with) word.push_back(static_cast<Char>(*with++));
    }

    static const char* irregular_form(const Word& word) {
        static constexpr std::pair<const char*, const char*> forms[] = {
            {"skies", "sky"},         {"dying", "die"},       {"lying", "lie"},
            {"tying", "tie"},         {"news", "news"},       {"innings", "inning"},
            {"inning", "inning"},     {"outings", "outing"},  {"outing", "outing"},
            {"cannings", "canning"},  {"canning", "canning"}, {"howe", "howe"},
            {"proceed", "proceed"},   {"exceed", "exceed"},   {"succeed", "succeed"},
        };
        for (const auto& [form, stem] : forms)
            if (equals(word, 0, form)) return stem;
        return nullptr;
    }

    // A consonant is a letter other than a, e, i, o, u, and other than y after a consonant.
    static bool consonant_after(Char c, bool after_consonant) {
        if (c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u') return false;
        return c != 'y' || !after_consonant;
    }
    static bool is_consonant(const Word& word, size_t at) {
        bool consonant = false;
        size_t i = at;
        while (i > 0 && word[i] == 'y') --i;  // only a run of y needs to look back
        for (; i <= at; ++i) consonant = consonant_after(word[i], i > 0 && consonant);
        return consonant;
    }
    static int measure(const Word& word, size_t length) {
        int m = 0;
        bool consonant = false, vowel_before = false;
        for (size_t i = 0; i < length; ++i) {
            consonant = consonant_after(word[i], i > 0 && consonant);
            if (consonant && vowel_before) ++m;
            vowel_before = !consonant;
        }
        return m;
    }
    static bool has_vowel(const Word& word, size_t length) {
        bool consonant = false;
        for (size_t i = 0; i < length; ++i) {
            consonant = consonant_after(word[i], i > 0 && consonant);
            if (!consonant) return true;
        }
        return false;
    }
    static bool ends_cvc(const Word& word, size_t n) {
        if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
        if (n < 3) return false;
        const Char last = word[n - 1];
        return is_consonant(word, n - 3) && !is_consonant(word, n - 2) &&
               is_consonant(word, n - 1) && last != 'w' && last != 'x' && last != 'y';
    }

    struct Rule {
        const char* suffix;
        const char* with;
    };
    // Applies the first rule with a matching suffix if the rest of the word has m > least.
    template <size_t N>
    static bool apply(Word& word, const Rule (&rules)[N], int least) {
        for (const Rule& rule : rules) {
            if (!ends(word, rule.suffix)) continue;
            const size_t n = std::strlen(rule.suffix);
            if (measure(word, word.size() - n) > least) replace(word, n, rule.with);
            return true;
        }
        return false;
    }

    static void step1a(Word& word) {
        if (ends(word, "ies")) return replace(word, word.size() == 4 ? 1 : 2, "");
        if (ends(word, "sses")) return replace(word, 2, "");
        if (ends(word, "s") && !ends(word, "ss")) replace(word, 1, "");
    }

    static void step1b(Word& word) {
        if (ends(word, "ied")) return replace(word, word.size() == 4 ? 1 : 2, "");
        if (ends(word, "eed")) {
            if (measure(word, word.size() - 3) > 0) replace(word, 1, "");
            return;
        }
        if (ends(word, "ed") && has_vowel(word, word.size() - 2))
            replace(word, 2, "");
        else if (ends(word, "ing") && has_vowel(word, word.size() - 3))
            replace(word, 3, "");
        else
            return;
        const size_t n = word.size();
        const Char last = word[n - 1];
        if (ends(word, "at") || ends(word, "bl") || ends(word, "iz")) {
            word.push_back('e');
        } else if (n >= 2 && last == word[n - 2] && is_consonant(word, n - 1)) {
            if (last != 'l' && last != 's' && last != 'z') word.pop_back();
        } else if (measure(word, n) == 1 && ends_cvc(word, n)) {
            word.push_back('e');
        }
    }

    static void step1c(Word& word) {
        const size_t n = word.size();
        if (ends(word, "y") && n > 2 && is_consonant(word, n - 2)) word[n - 1] = 'i';
    }

    static void step2(Word& word) {
        while (ends(word, "alli") && measure(word, word.size() - 4) > 0) replace(word, 2, "");
        static constexpr Rule rules[] = {
            {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
            {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
            {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
            {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
            {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
            {"fulli", "ful"},
        };
        if (apply(word, rules, 0)) return;
        // The l of -logi is counted as part of the stem, so that short stems (geo-, theo-) match
        // too.
        if (ends(word, "logi") && measure(word, word.size() - 3) > 0) word.pop_back();
    }

    static void step3(Word& word) {
        static constexpr Rule rules[] = {
            {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
            {"ical", "ic"},  {"ful", ""},   {"ness", ""},
        };
        apply(word, rules, 0);
    }

    static void step4(Word& word) {
        static constexpr Rule before[] = {
            {"al", ""},   {"ance", ""}, {"ence", ""},  {"er", ""},   {"ic", ""},  {"able", ""},
            {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""}, {"ent", ""},
        };
        if (apply(word, before, 1)) return;
        if (ends(word, "ion")) {
            const size_t n = word.size() - 3;
            if (measure(word, n) > 1 && (word[n - 1] == 's' || word[n - 1] == 't'))
                replace(word, 3, "");
            return;
        }
        static constexpr Rule after[] = {
            {"ou", ""},  {"ism", ""}, {"ate", ""}, {"iti", ""},
            {"ous", ""}, {"ive", ""}, {"ize", ""},
        };
        apply(word, after, 1);
    }

    static void step5a(Word& word) {
        if (!ends(word, "e")) return;
        const size_t n = word.size() - 1;
        const int m = measure(word, n);
        if (m > 1 || (m == 1 && !ends_cvc(word, n))) word.pop_back();
    }

    static void step5b(Word& word) {
        if (ends(word, "ll") && measure(word, word.size() - 1) > 1) word.pop_back();
    }
};

// The stem of a UTF-8 word; non-ASCII characters must already be in lower case.
inline std::string porter_stem(std::string_view word) {
    if (is_ascii(word.data(), word.data() + word.size())) {
        std::string lowered(word);
        for (char& c : lowered)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
        return PorterNltk<char>::stem(std::move(lowered));
    }
    std::u32string wide;
    for (const char *p = word.data(), *end = p + word.size(); p < end;) wide.push_back(decode(p));
    std::string out;
    for (const char32_t c : PorterNltk<char32_t>::stem(std::move(wide))) {
        char bytes[4], *end = bytes;
        encode(c, end);
        out.append(bytes, end);
    }
    return out;
}

}  // namespace karat
