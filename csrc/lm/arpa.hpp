// ARPA files: a model as text, one n-gram per line. Read line by line; the first error is reported.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lm/trie.hpp"
#include "text/utf8.hpp"
#include "text/vocab.hpp"

namespace karat::lm {

constexpr float NO_P = -99.0f, NO_UNK = -100.0f;

class ArpaReader {
  public:
    explicit ArpaReader(Vocab& vocab) : vocab_(vocab) {
        for (const char* word : {"<unk>", "<s>", "</s>"}) vocab_.intern(word, std::strlen(word));
        levels_.resize(1);
        logs_.resize(1);
        logs_[0].p.resize(3, NAN), logs_[0].backoff.resize(3, 0);
    }

    // Reads whole lines until at least `enough` bytes are read or an error is found; returns the
    // end position.
    int64_t feed(const char* data, int64_t begin, int64_t size, int64_t enough) {
        const int64_t stop = size - begin > enough ? begin + enough : size;
        int64_t at = begin;
        while (at < stop && fault.empty()) {
            const void* newline = std::memchr(data + at, '\n', static_cast<size_t>(size - at));
            const int64_t end = newline ? static_cast<const char*>(newline) - data : size;
            ++line;
            read_line({data + at, static_cast<size_t>(end - at)});
            at = newline ? end + 1 : size;
        }
        return at;
    }

    // To be called after the last line: checks required entries, and adds the n-grams that are only
    // implied by longer ones.
    void finish() {
        if (!fault.empty()) return;
        if (place_ != Place::end)
            return fail(place_ == Place::start
                            ? "expected a line \\data\\, found none"
                            : "expected a line \\end\\, found the end of the file");
        if (std::isnan(logs_[0].p[BOS]) || std::isnan(logs_[0].p[EOS]))
            return fail("<s> or </s> is not among the 1-grams");
        if (std::isnan(logs_[0].p[UNK])) logs_[0].p[UNK] = NO_UNK;
        for (size_t n = 2; n <= levels_.size(); ++n) back_off(n);
    }

    struct Logs {
        std::vector<float> p, backoff;
    };

    int order() const { return static_cast<int>(levels_.size()); }
    const Level& level(int n) const { return levels_[static_cast<size_t>(n) - 1]; }
    const Logs& logs(int n) const { return logs_[static_cast<size_t>(n) - 1]; }
    std::string fault;  // the error in `line`, if any
    int64_t line = 0;

  private:
    enum class Place { start, counts, ngrams, end };

    void fail(std::string message) {
        if (fault.empty()) fault = std::move(message);
    }

    void read_line(std::string_view text) {
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
            text.remove_suffix(1);
        if (text.empty()) return;
        const char* const end = text.data() + text.size();
        if (find_invalid(text.data(), end) != end) return fail("not valid UTF-8");
        if (place_ == Place::start) {
            if (text == "\\data\\") place_ = Place::counts;
        } else if (place_ == Place::end) {
            return;
        } else if (text.front() == '\\' && is_heading(text)) {
            heading(text);
        } else if (place_ == Place::counts) {
            declare(text);
        } else {
            entry(text);
        }
    }

    static bool is_heading(std::string_view text) {
        return text == "\\end\\" || (text.size() > 8 && text.substr(text.size() - 7) == "-grams:");
    }

    // `ngram 2=1234`
    void declare(std::string_view text) {
        const std::string copy(text);
        unsigned long n = 0;
        unsigned long long count = 0;
        int used = 0;
        if (std::sscanf(copy.c_str(), "ngram %lu = %llu %n", &n, &count, &used) != 2 ||
            static_cast<size_t>(used) != copy.size())
            return fail("expected «ngram LENGTH=COUNT» or a heading such as «\\1-grams:»");
        if (n != declared_.size() + 1) return fail("the lengths of n-grams are not in order");
        if (n > MAX_ORDER)
            return fail("n-grams of more than " + std::to_string(MAX_ORDER) + " words");
        if (count > MOST_NGRAMS) return fail(TOO_MANY_NGRAMS);
        declared_.push_back(count);
    }

    void heading(std::string_view text) {
        const size_t n = section_ + 1;
        if (section_ && n_read_ != declared_[section_ - 1])
            return fail("the file has " + std::to_string(n_read_) + " " + std::to_string(section_) +
                        "-grams and says that there are " +
                        std::to_string(declared_[section_ - 1]));
        const bool last = n > declared_.size();
        const std::string expected = last ? "\\end\\" : "\\" + std::to_string(n) + "-grams:";
        if (declared_.empty() || text != expected)
            return fail("expected " + (declared_.empty() ? "ngram 1=COUNT" : expected) +
                        ", found " + shortened(text));
        if (last) {
            place_ = Place::end;
            return;
        }
        place_ = Place::ngrams;
        section_ = n;
        n_read_ = 0;
        if (n > 1) levels_.emplace_back(), logs_.emplace_back();
    }

    // `LOG10_P WORD … WORD [LOG10_BACKOFF]`
    void entry(std::string_view text) {
        std::string_view fields[MAX_ORDER + 3];
        const size_t many = split(text, fields, section_ + 3);
        if (many != section_ + 1 && many != section_ + 2)
            return fail("expected log10 p, " + std::to_string(section_) + " words and a back-off");
        float p, backoff = 0;
        if (!number(fields[0], p) ||
            (many > section_ + 1 && !number(fields[section_ + 1], backoff)))
            return fail("expected a number, found " +
                        shortened(number(fields[0], p) ? fields[section_ + 1] : fields[0]));
        if (p > 0) return fail("a probability above 1: its logarithm is " + shortened(fields[0]));
        ++n_read_;
        const int64_t at = section_ == 1 ? word(fields[1]) : ngram(fields + 1);
        if (at < 0) return;
        Logs& logs = logs_[section_ - 1];
        if (!std::isnan(logs.p[static_cast<size_t>(at)]))
            return fail("an n-gram that was there before");
        logs.p[static_cast<size_t>(at)] = p < NO_P ? NO_P : p;
        logs.backoff[static_cast<size_t>(at)] = backoff < NO_P ? NO_P : backoff;
    }

    static size_t split(std::string_view text, std::string_view* fields, size_t most) {
        size_t many = 0, at = 0;
        const auto blank = [&](size_t i) { return text[i] == ' ' || text[i] == '\t'; };
        while (many < most) {
            while (at < text.size() && blank(at)) ++at;
            if (at == text.size()) break;
            const size_t from = at;
            while (at < text.size() && !blank(at)) ++at;
            fields[many++] = text.substr(from, at - from);
        }
        return many;
    }

    static bool number(std::string_view text, float& value) {
        char copy[64];
        if (text.size() >= sizeof copy) return false;
        std::memcpy(copy, text.data(), text.size());
        copy[text.size()] = 0;
        char* end;
        value = std::strtof(copy, &end);
        return text.size() && end == copy + text.size() && value < INFINITY;  // no NaN either
    }

    // Some tools write <UNK>; if <unk> exists too, <UNK> is an ordinary word.
    std::string_view spelled(std::string_view word) const {
        return upper_case_ && word == "<UNK>" ? "<unk>" : word;
    }

    int64_t word(std::string_view text) {
        if (text == "<UNK>" && std::isnan(logs_[0].p[UNK])) upper_case_ = true;
        text = spelled(text);
        const int32_t id = vocab_.intern(text.data(), text.size());
        while (logs_[0].p.size() < static_cast<size_t>(vocab_.size()))
            logs_[0].p.push_back(NAN), logs_[0].backoff.push_back(0);
        return id;
    }

    int64_t ngram(const std::string_view* fields) {
        int32_t ids[MAX_ORDER];
        for (size_t i = 0; i < section_; ++i) {
            const std::string_view text = spelled(fields[i]);
            ids[i] = vocab_.find(text.data(), text.size());
            if (ids[i] < 0 ||
                (std::isnan(logs_[0].p[static_cast<size_t>(ids[i])]) && ids[i] != UNK)) {
                fail("the word " + shortened(text) + " is not among the 1-grams");
                return -1;
            }
        }
        return add(ids, section_);
    }

    // The number of an n-gram. Its suffixes and contexts get numbers even if the file lacks them:
    // n-grams are found through their suffixes, and a state consists of its contexts.
    uint32_t add(const int32_t* ids, size_t n) {
        if (n == 1) return static_cast<uint32_t>(ids[0]);
        const uint32_t suffix = add(ids + 1, n - 1);
        const uint32_t existing = levels_[n - 1].find(suffix, ids[0]);
        if (existing != NONE) return existing;
        const uint32_t context = add(ids, n - 1);
        logs_[n - 1].p.push_back(NAN), logs_[n - 1].backoff.push_back(0);
        return levels_[n - 1].add(suffix, ids[0], context);
    }

    void back_off(size_t n) {
        Logs& logs = logs_[n - 1];
        for (size_t i = 0; i < logs.p.size(); ++i)
            if (std::isnan(logs.p[i]))
                logs.p[i] = logs_[n - 2].backoff[levels_[n - 1].contexts()[i]] +
                            logs_[n - 2].p[levels_[n - 1].suffix(i)];
    }

    Vocab& vocab_;
    Place place_ = Place::start;
    bool upper_case_ = false;
    std::vector<unsigned long long> declared_;
    size_t section_ = 0;            // length of the n-grams being read
    unsigned long long n_read_ = 0;  // n-grams read in this section
    std::vector<Level> levels_;
    std::vector<Logs> logs_;
};

// The shortest representation that parses back to the same number.
inline void append_number(float value, std::string& out) {
    char text[32];
    std::snprintf(text, sizeof text, "%.7g", static_cast<double>(value));
    if (std::strtof(text, nullptr) != value)
        std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    out += text;
}

}  // namespace karat::lm
