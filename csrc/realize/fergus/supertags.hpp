// Supertags: elementary trees of a lexicalised grammar extracted from a treebank.
//
// A supertag is a label (category and relation to the mother) and a frame: the argument slots in
// their order around the head. An argument substitutes into a slot of its mother's frame; any other
// daughter adjoins, at a position chosen with the adjunction table (precedence.hpp). The free
// frame, -1, has no slots and lets arguments adjoin too, so that unseen structures can still be
// realised.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace karat::fergus {

constexpr int32_t free_frame = -1;
constexpr int most_slots = 6;

// Lists of values as flat arrays, which may be mapped; row i has values[offsets[i]] to
// values[offsets[i + 1]].
struct List {
    const int64_t* offsets;
    size_t rows;
    const int32_t* values;

    List(const int64_t* o, size_t n_offsets, const int32_t* v, size_t n_values, int32_t below)
        : offsets(o), rows(n_offsets - 1), values(v) {
        if (!n_offsets || o[0] || o[rows] != static_cast<int64_t>(n_values))
            throw std::invalid_argument("the offsets of the grammar do not fit its values");
        for (size_t i = 0; i < rows; ++i)
            if (o[i] > o[i + 1]) throw std::invalid_argument("offsets are not in order");
        for (size_t i = 0; i < n_values; ++i)
            if (v[i] < 0 || v[i] >= below) throw std::invalid_argument("a value is out of range");
    }

    const int32_t* begin(int64_t row) const { return values + offsets[row]; }
    const int32_t* end(int64_t row) const { return values + offsets[row + 1]; }
    int size(int64_t row) const { return static_cast<int>(offsets[row + 1] - offsets[row]); }
};

struct Grammar {
    int32_t tags, relations;  // counts; the last of each is "any other"
    int32_t root;             // the relation of a root
    const int32_t* argument;  // whether each relation fills slots
    List slots;               // of each frame: relation * 2, plus 1 if right of the head
    List frames;              // frames seen with each tag
    List labels;              // labels seen with each word, most frequent first

    int32_t label(int32_t tag, int32_t relation) const { return tag * relations + relation; }
    int32_t tag(int32_t label) const { return label / relations; }
    int32_t relation(int32_t label) const { return label % relations; }
    bool is_argument(int32_t label) const { return argument[relation(label)]; }
};

using Daughters = std::vector<std::vector<int32_t>>;

// One tree: words (-1 unknown), labels (-1 hidden), heads before their daughters, and three
// suffixes per word, longest first, that replace unseen words.
struct TreeNodes {
    const int32_t* words;
    const int32_t* labels;
    const int32_t* heads;
    const int32_t* suffixes;
    int32_t size;

    Daughters daughters() const {
        Daughters daughters_of(size);
        for (int32_t i = 1; i < size; ++i) daughters_of[heads[i]].push_back(i);
        return daughters_of;
    }
};

}  // namespace karat::fergus
