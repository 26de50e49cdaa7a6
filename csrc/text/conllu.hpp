// Dependency trees from CoNLL-U: words and heads, checked sentence by sentence.
//
// Lines are comments (`#`), words (ten columns, tab-separated), or empty (the end of a sentence).
// Multiword ranges (`3-4`) and empty nodes (`5.1`) are skipped: the tree consists of the syntactic
// words.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.hpp"

namespace karat {

// The problem of a tree, or an empty string; heads count from 1, and the root has head 0.
inline std::string tree_problem(const int32_t* heads, int64_t n) {
    if (!n) return "no words: a tree has at least one";
    int64_t root = 0;
    for (int64_t i = 0; i < n; ++i) {
        const std::string word = "word " + std::to_string(i + 1);
        if (heads[i] < 0 || heads[i] > n)
            return word + " has head " + std::to_string(heads[i]) + ", but there are " +
                   std::to_string(n) + " words";
        if (heads[i] == 0 && root)
            return "words " + std::to_string(root) + " and " + std::to_string(i + 1) +
                   " are both roots: a tree has one";
        if (heads[i] == 0) root = i + 1;
    }
    if (!root) return "no root: one word must have head 0";
    std::vector<int64_t> first_walk(n + 1, 0);  // the first walk that visited each node
    first_walk[0] = -1;
    for (int64_t i = 1; i <= n; ++i) {
        int64_t at = i;
        while (!first_walk[at]) {
            first_walk[at] = i;
            at = heads[at - 1];
        }
        if (first_walk[at] == i && at)
            return "the heads of word " + std::to_string(at) + " lead back to itself: a cycle";
    }
    return "";
}

struct Treebank {
    std::vector<std::string_view> words, ids;  // `ids` and `lines`: one per sentence
    std::vector<std::string_view> lemmas, upos, xpos, relations;
    std::vector<int32_t> heads;
    std::vector<int32_t> documents;  // per sentence: number of `# newdoc` lines before it
    std::vector<int64_t> offsets{0}, lines;
    // The first error, if any: its line (from 1), the id of its sentence, and a message.
    std::string error, error_id;
    int64_t error_line = 0;
};

class ConlluReader {
  public:
    Treebank read(const char* p, const char* end) {
        while (p < end && bank_.error.empty()) {
            const auto* newline = static_cast<const char*>(std::memchr(p, '\n', end - p));
            const char* stop = newline ? newline : end;
            const char* const next = newline ? newline + 1 : end;
            if (stop > p && stop[-1] == '\r') --stop;
            ++line_;
            read_line({p, static_cast<size_t>(stop - p)});
            p = next;
        }
        if (bank_.error.empty()) finish();
        return std::move(bank_);
    }

  private:
    static constexpr int columns = 10;

    void read_line(std::string_view line) {
        const bool bad = find_invalid(line.data(), line.data() + line.size()) != line.end();
        if (bad)
            fail("not valid UTF-8; convert the file");
        else if (line.empty())
            finish();
        else if (line[0] == '#')
            comment(line);
        else
            word(line);
        if (!line.empty()) inside_ = true;
    }

    void comment(std::string_view line) {
        if (!inside_) first_ = line_;
        const auto trim = [](std::string_view s) { return lstrip(rstrip(s)); };
        if (trim(line.substr(1)).substr(0, 6) == "newdoc") ++document_;
        const size_t equals = line.find('=');
        if (equals == std::string_view::npos) return;
        if (trim(line.substr(1, equals - 1)) == "sent_id") id_ = trim(line.substr(equals + 1));
    }

    void word(std::string_view line) {
        if (!inside_) first_ = line_;
        std::string_view cells[columns];
        const int n_cells = cut(line, cells);
        if (n_cells != columns)
            return fail("found " + std::to_string(n_cells) +
                        " columns, expected 10, tab-separated (see universaldependencies.org)");
        const std::string_view id = cells[0];
        const int64_t expected = count() + 1;
        if (is_range_or_empty(id)) return;
        if (number(id) != expected)
            return fail("found word id " + quoted(id) + ", expected " + std::to_string(expected));
        if (cells[1].empty()) return fail("word " + shortened(id) + " has no form");
        const int64_t head = number(cells[6]);
        if (head < 0)
            return fail("word " + shortened(id) + " has head " + quoted(cells[6]) +
                        ", expected a number");
        bank_.words.push_back(cells[1]);
        bank_.lemmas.push_back(cells[2]);
        bank_.upos.push_back(cells[3]);
        bank_.xpos.push_back(cells[4]);
        bank_.relations.push_back(cells[7]);
        bank_.heads.push_back(static_cast<int32_t>(head));
    }

    // Returns the number of columns and stores the first ten in `cells`.
    static int cut(std::string_view line, std::string_view* cells) {
        int n_cells = 0;
        const char* p = line.data();
        const char* const end = p + line.size();
        for (;;) {
            const auto* tab = static_cast<const char*>(std::memchr(p, '\t', end - p));
            const char* const stop = tab ? tab : end;
            if (n_cells < columns) cells[n_cells] = {p, static_cast<size_t>(stop - p)};
            ++n_cells;
            if (!tab) return n_cells;
            p = tab + 1;
        }
    }

    // `3-4` or `5.1`
    static bool is_range_or_empty(std::string_view id) {
        const size_t mark = id.find_first_of("-.");
        return mark != std::string_view::npos && number(id.substr(0, mark)) >= 0 &&
               number(id.substr(mark + 1)) >= 0;
    }

    // A number of at most nine digits, or -1.
    static int64_t number(std::string_view s) {
        if (s.empty() || s.size() > 9) return -1;
        int64_t value = 0;
        for (const char c : s) {
            if (c < '0' || c > '9') return -1;
            value = value * 10 + (c - '0');
        }
        return value;
    }

    static std::string quoted(std::string_view s) { return "\"" + shortened(s) + "\""; }

    int64_t count() const {
        return static_cast<int64_t>(bank_.words.size()) - bank_.offsets.back();
    }

    // Ends a sentence; extra empty lines and comments without a sentence are skipped.
    void finish() {
        if (count()) {
            const std::string problem =
                tree_problem(bank_.heads.data() + bank_.offsets.back(), count());
            if (!problem.empty()) {
                line_ = first_;
                return fail(problem);
            }
            bank_.offsets.push_back(static_cast<int64_t>(bank_.words.size()));
            bank_.ids.push_back(id_);
            bank_.lines.push_back(first_);
            bank_.documents.push_back(document_);
        }
        inside_ = false;
        id_ = {};
    }

    void fail(const std::string& message) {
        bank_.error = message;
        bank_.error_line = line_;
        bank_.error_id = std::string(id_);
    }

    Treebank bank_;
    std::string_view id_;
    int64_t line_ = 0, first_ = 0;
    int32_t document_ = 0;
    bool inside_ = false;
};

}  // namespace karat
