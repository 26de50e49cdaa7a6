// The ordering model's view of a treelet: symbols of its items, and features built from them.
//
// A symbol is a hash of a string (a word, a tag, a relation); a feature is a hash of its template's
// number and a few symbols. Nothing here depends on the position of a node in a file.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace karat::ordering {

using Symbol = uint32_t;

inline uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

inline Symbol symbol_of(std::string_view s) {
    uint64_t h = 0xCBF29CE484222325u ^ s.size();
    for (const char c : s) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
    return static_cast<Symbol>(mix(h, s.size()) >> 32);
}

// The columns of many trees, one entry per node; `heads` count from 0 within a tree, the root has
// -1.
struct TreeColumns {
    const Symbol *words, *endings, *shapes, *tags, *fine, *relations, *further;
    const int32_t* heads;
    const int64_t* offsets;
    int64_t trees;
};

// A daughter with its ordered subtree, or the head alone; members from `first` on are visible to
// neighbours.
struct Item {
    Symbol word = 0, ending = 0, shape = 0, tag = 0, fine = 0, relation = 0;
    Symbol size = 0, daughters = 0;
    Symbol first = 0, second = 0, last = 0, but_last = 0;
    Symbol first_tag = 0, last_tag = 0, first_relation = 0, last_relation = 0;
    Symbol first_fine = 0, last_fine = 0;
    Symbol relations = 0;  // of all its own daughters, independent of order
    Symbol other = 0;      // second most probable relation; 0 if the first is certain
    std::vector<std::pair<Symbol, Symbol>> below;  // relation and word of some daughters
};

// The shared context of a treelet's items: its head, the head's mother, and the number of items.
struct Frame {
    Item head;
    Symbol mother_word = 0, mother_tag = 0, mother_relation = 0;
    Symbol relation = 0;   // the head's own
    Symbol relations = 0;  // of all daughters, independent of order
    Symbol count = 0;
    Symbol question = 0;  // 1: question mark among the daughters, 2: above
};

constexpr Symbol edge_symbol = 0x5EED0001, head_symbol = 0x5EED0002;
constexpr Symbol hidden_symbol = 0x5EED0003;  // of a word that training hides

// The item before the first and after the last.
inline Item edge() {
    Item item;
    for (Symbol* s : {&item.word, &item.ending, &item.shape, &item.tag, &item.fine, &item.relation,
                      &item.first, &item.second, &item.last, &item.but_last, &item.first_tag,
                      &item.last_tag, &item.first_relation, &item.last_relation, &item.first_fine,
                      &item.last_fine})
        *s = edge_symbol;
    return item;
}

// Sizes in classes: 1, 2, 3-4, 5-8, …
inline Symbol size_class(int64_t n) {
    Symbol c = 0;
    for (--n; n > 0; n /= 2) ++c;
    return c;
}

// Numbers the templates in order of use and passes on the hash of each feature, optionally with the
// template number; skips features with a hidden word.
template <class Emit>
class Templates {
  public:
    Templates(uint64_t family, Emit& emit) : number_(family << 16), emit_(emit) {}

    template <class... Symbols>
    void operator()(Symbols... symbols) {
        uint64_t h = mix(0x1234567, ++number_);
        if (((static_cast<uint64_t>(symbols) == hidden_symbol) || ...)) return;
        ((h = mix(h, static_cast<uint64_t>(symbols))), ...);
        h *= 0xD6E8FEB86659FD93u;
        if constexpr (std::is_invocable_v<Emit&, uint64_t, uint64_t>)
            emit_(h, number_);
        else
            emit_(h);
    }

  private:
    uint64_t number_;
    Emit& emit_;
};

// Calls see(sister) for the daughters other than two items, each in its best order.
template <class See>
void each_sister(const std::vector<Item>& items, const std::vector<int>& daughters, size_t a,
                 size_t b, See&& see) {
    for (size_t s = 0; s < items.size(); ++s) {
        const bool again = s && daughters[s] == daughters[s - 1];
        if (!again && daughters[s] != daughters[a] && daughters[s] != daughters[b]) see(items[s]);
    }
}

// The second most probable relation of a daughter, or its relation if that is certain.
inline Symbol otherwise(const Item& a) { return a.other ? a.other : a.relation; }

// A daughter with an uncertain relation precedes the head.
template <class Emit>
void doubtful_side_features(const Frame& f, const std::vector<Item>& items,
                            const std::vector<int>& daughters, size_t at, Emit& emit) {
    Templates<Emit> on(40, emit);
    const Item &a = items[at], &h = f.head;
    if (!a.other) return;
    on(a.relation, a.other);
    on(a.relation, a.other, h.tag);
    on(a.relation, a.other, h.fine, f.relation);
    on(a.relation, a.other, a.word);
    on(a.relation, a.other, h.word);
    on(a.relation, a.other, a.tag, f.count);
    on(a.other, h.tag);
    on(a.other, a.tag, h.tag);
    on(a.other, a.word, h.tag);
    on(a.other, h.word);
    on(a.relation, a.other, f.relations);
    on(a.other, f.relations);
    each_sister(items, daughters, at, at, [&](const Item& c) {
        Templates<Emit> with(41, emit);
        with(a.relation, a.other, c.relation, h.tag);
        with(a.relation, a.other, c.relation, c.other);
        with(a.relation, a.other, c.word);
    });
}

// Daughter a precedes b on the same side, and at least one has an uncertain relation.
template <class Emit>
void doubtful_pair_features(const Frame& f, const Item& a, const Item& b, bool right, Emit& emit) {
    Templates<Emit> on(42, emit);
    if (!a.other && !b.other) return;
    const Symbol side = right, x = otherwise(a), y = otherwise(b);
    on(a.relation, a.other, b.relation, b.other, side);
    on(a.relation, a.other, b.relation, b.other, side, f.head.tag);
    on(x, y, side);
    on(x, y, side, f.head.tag);
    on(x, b.relation, side);
    on(a.relation, y, side);
    on(x, y, side, a.word);
    on(x, y, side, b.word);
    on(x, y, side, a.size, b.size);
}

// The same for neighbours.
template <class Emit>
void doubtful_neighbour_features(const Frame& f, const Item& a, const Item& b, bool right,
                                 Emit& emit) {
    Templates<Emit> on(43, emit);
    if (!a.other && !b.other) return;
    const Symbol side = right, x = otherwise(a), y = otherwise(b);
    on(a.relation, a.other, b.relation, b.other, side);
    on(x, y, side);
    on(x, y, side, f.head.tag);
    on(x, y, f.head.word);
    on(x, b.first, side);
    on(a.last, y, side);
    on(x, y, a.last_tag, b.first_tag);
}

// Further features: questions, the tags at the ends of a subtree, and the daughter's daughters.
template <class Emit>
void side_context_features(const Frame& f, const Item& a, Emit& emit) {
    Templates<Emit> on(9, emit);
    const Item& h = f.head;
    on(a.relation, f.question, h.tag);
    on(a.word, f.question, h.tag);
    on(a.first, a.relation, f.question);
    on(a.relation, f.question, f.relation, f.relations);
    on(a.relation, a.first_fine, a.last_fine, h.tag);
    on(a.relation, a.first_fine, h.fine);
    on(a.relation, a.last_fine, f.relation);
    for (const auto& [relation, word] : a.below) {
        Templates<Emit> with(10, emit);
        with(a.relation, relation, h.tag);
        with(a.relation, word, h.tag);
        with(a.relation, word, f.relation);
        with(a.word, relation, word);
    }
}

// A daughter precedes the head; sisters are the other daughters.
template <class Emit>
void side_features(const Frame& f, const std::vector<Item>& items,
                   const std::vector<int>& daughters, size_t at, Emit& emit) {
    Templates<Emit> on(1, emit);
    const Item &a = items[at], &h = f.head;
    on(a.relation);
    on(a.relation, a.tag);
    on(a.relation, h.tag);
    on(a.relation, a.tag, h.tag);
    on(a.relation, h.fine, a.fine);
    on(a.relation, h.tag, f.relation);
    on(a.relation, h.tag, f.relation, f.mother_tag);
    on(a.relation, h.word);
    on(a.relation, a.tag, h.word);
    on(a.word, h.tag);
    on(a.word, a.relation);
    on(a.word, a.relation, h.tag);
    on(a.word, a.relation, h.fine, f.relation);
    on(a.word, h.word);
    on(a.word, h.ending);
    on(a.ending, h.word);
    on(a.ending, a.relation, h.ending);
    on(a.relation, a.first, h.tag);
    on(a.relation, a.last, h.tag);
    on(a.relation, a.first, h.word);
    on(a.relation, a.first, a.second);
    on(a.relation, a.first_tag, a.last_tag, h.tag);
    on(a.relation, a.size, h.tag);
    on(a.relation, a.tag, a.size, a.daughters, h.tag);
    on(a.relation, a.tag, f.count);
    on(a.shape, a.relation, h.shape, h.tag);
    on(a.relation, a.tag, f.relations);
    on(a.relation, h.fine, f.relations);
    on(a.word, f.relations);
    on(a.relation, f.relation, f.mother_word);
    on(a.word, f.relation, f.mother_relation);
    on(a.fine, f.relation, h.tag);
    on(a.first, a.relation, f.relation);
    on(a.first, a.second, h.tag);
    on(a.relation, a.tag, f.relation, f.mother_relation, h.tag);
    on(a.ending, a.relation, h.tag);
    on(a.relation, h.ending, f.relation);
    on(a.relation, a.relations, h.tag);
    on(a.relation, a.tag, a.relations, f.relation);
    on(a.relation, a.first_relation, a.first, h.tag);
    on(a.relation, a.first_relation, a.last_relation, h.fine);
    each_sister(items, daughters, at, at, [&](const Item& c) {
        Templates<Emit> with(2, emit);
        with(a.relation, c.relation, h.tag);
        with(a.relation, c.word);
        with(a.relation, a.tag, c.relation, c.tag, h.fine);
        with(a.word, c.relation, h.tag);
        with(a.word, c.word);
        with(a.relation, c.fine, a.fine);
        with(a.relation, a.first, c.word);
        with(a.relation, c.word, f.relation, h.fine);
        with(a.relation, c.relation, f.relation, h.fine);
    });
    side_context_features(f, a, emit);
}

template <class Emit>
void pair_context_features(const Frame& f, const Item& a, const Item& b, bool right, Emit& emit) {
    Templates<Emit> on(11, emit);
    const Symbol side = right;
    on(a.relation, b.relation, side, f.question);
    on(a.relation, b.relation, side, f.question, a.tag, b.tag);
    on(a.word, b.relation, side, f.question);
    on(a.relation, b.word, side, f.question);
    on(a.relation, b.relation, side, a.first_fine, b.first_fine);
    on(a.last_fine, b.first_fine, side);
    on(a.relation, b.relation, side, a.last_fine, b.first_fine);
    for (const auto& [relation, word] : a.below) {
        Templates<Emit> with(12, emit);
        with(a.relation, b.relation, side, relation);
        with(a.relation, b.relation, side, word);
    }
    for (const auto& [relation, word] : b.below) {
        Templates<Emit> with(13, emit);
        with(a.relation, b.relation, side, relation);
        with(a.relation, b.relation, side, word);
    }
}

// Daughter a precedes daughter b, both on one side of the head.
template <class Emit>
void pair_features(const Frame& f, const std::vector<Item>& items,
                   const std::vector<int>& daughters, size_t first, size_t second, bool right,
                   Emit& emit) {
    Templates<Emit> on(3, emit);
    const Item &a = items[first], &b = items[second], &h = f.head;
    const Symbol side = right;
    on(a.relation, b.relation);
    on(a.relation, b.relation, side);
    on(a.relation, b.relation, side, h.tag);
    on(a.relation, b.relation, side, h.word);
    on(a.relation, b.relation, side, f.relation, h.tag);
    on(a.relation, b.relation, side, a.tag, b.tag);
    on(a.relation, b.relation, side, a.tag, b.tag, h.tag);
    on(a.relation, b.relation, side, a.fine, b.fine);
    on(a.relation, b.relation, side, a.size, b.size);
    on(a.tag, b.tag, side, Symbol(a.size > b.size), a.size == b.size);
    on(a.relation, b.relation, side, Symbol(a.size > b.size), a.size == b.size);
    on(a.relation, b.relation, side, a.first);
    on(a.relation, b.relation, side, b.first);
    on(a.relation, b.relation, side, a.last);
    on(a.relation, b.relation, side, b.last);
    on(a.first, b.first, side);
    on(a.first_tag, b.first_tag, a.relation, b.relation, side);
    on(a.last_tag, b.first_tag, a.relation, b.relation, side);
    on(a.word, b.word);
    on(a.word, b.word, side);
    on(a.word, b.relation, side);
    on(a.word, b.relation, b.tag, side);
    on(a.word, b.relation, h.tag, side);
    on(a.word, b.first, side);
    on(a.relation, b.word, side);
    on(a.relation, a.tag, b.word, side);
    on(a.relation, b.word, h.tag, side);
    on(a.first, b.word, side);
    on(a.ending, b.ending, side);
    on(a.shape, b.shape, a.relation, b.relation, side);
    on(a.ending, b.relation, side);
    on(a.relation, b.ending, side);
    on(a.relation, b.relation, side, f.count);
    on(a.relation, b.relation, side, f.relations);
    on(a.relation, a.daughters, b.relation, b.daughters, side);
    on(a.relation, b.relation, side, a.first, a.second);
    on(a.relation, b.relation, side, b.first, b.second);
    on(a.relation, b.relation, side, a.first, b.first);
    on(a.relation, b.relation, side, a.last_tag, b.last_tag);
    on(a.word, b.ending, side);
    on(a.ending, b.word, side);
    on(a.word, b.word, h.word);
    on(a.fine, b.fine, h.fine, side);
    on(a.relation, b.relation, side, f.relation, f.mother_tag);
    on(a.relation, b.relation, side, a.relations);
    on(a.relation, b.relation, side, b.relations);
    on(a.relation, b.relation, side, a.first_relation, b.first_relation);
    on(a.relation, b.relation, side, a.last_relation, b.last_relation);
    each_sister(items, daughters, first, second, [&](const Item& c) {
        Templates<Emit> with(6, emit);
        with(a.relation, b.relation, side, c.word);
        with(a.relation, b.relation, side, c.relation, c.tag, h.tag);
        with(a.word, b.relation, side, c.word);
        with(a.relation, b.word, side, c.word);
    });
    pair_context_features(f, a, b, right, emit);
}

// Daughter a precedes the head, daughter b follows it.
template <class Emit>
void across_features(const Frame& f, const Item& a, const Item& b, Emit& emit) {
    Templates<Emit> on(7, emit);
    const Item& h = f.head;
    on(a.relation, b.relation);
    on(a.relation, b.relation, h.tag);
    on(a.relation, b.relation, h.tag, f.relation);
    on(a.relation, b.relation, h.word);
    on(a.relation, b.relation, a.tag, b.tag);
    on(a.relation, b.relation, a.fine, b.fine);
    on(a.relation, b.relation, a.size, b.size);
    on(a.word, b.word);
    on(a.word, b.relation, h.tag);
    on(a.relation, b.word, h.tag);
    on(a.first, b.first);
    on(a.first, b.last);
    on(a.relation, a.last, b.relation, b.first);
    on(a.relation, a.first, b.relation, b.last);
    on(a.relation, b.relation, b.first);
    on(a.relation, b.relation, b.last);
    on(a.relation, b.relation, a.first);
    on(a.relation, b.relation, a.last);
    on(a.relation, b.relation, f.relations);
}

template <class Emit>
void neighbour_context_features(const Frame& f, const Item& a, const Item& b, bool right,
                                Emit& emit) {
    Templates<Emit> on(14, emit);
    const Item& h = f.head;
    const Symbol side = right;
    on(a.relation, b.relation, side, f.question);
    on(a.relation, b.relation, side, f.question, a.tag, b.tag);
    on(a.word, b.relation, f.question);
    on(a.relation, b.word, f.question);
    on(a.last, b.first_tag, f.question);
    on(a.last_fine, b.first_fine);
    on(a.last_fine, b.first_fine, a.relation, b.relation);
    on(a.last_fine, b.first_fine, h.fine, f.relation);
    on(a.last_fine, b.first);
    on(a.last, b.first_fine);
}

// a immediately precedes b; either may be the head or the edge of the treelet.
template <class Emit>
void neighbour_features(const Frame& f, const Item& a, const Item& b, bool right, Emit& emit) {
    Templates<Emit> on(4, emit);
    const Item& h = f.head;
    const Symbol side = right;
    on(a.relation, b.relation, side);
    on(a.relation, b.relation, h.tag, side);
    on(a.relation, b.relation, h.tag, f.relation, side);
    on(a.relation, b.relation, h.word);
    on(a.relation, b.relation, a.tag, b.tag, h.tag);
    on(a.relation, b.relation, a.fine, b.fine);
    on(a.relation, b.relation, f.count, side);
    on(a.relation, b.relation, f.relations);
    on(a.relation, b.relation, a.size, b.size, side);
    on(a.last, b.first);
    on(a.last, b.first, a.relation, b.relation);
    on(a.last, b.first_tag);
    on(a.last_tag, b.first);
    on(a.last_tag, b.first_tag, a.relation, b.relation);
    on(a.last_tag, b.first_tag, h.tag);
    on(a.last, b.relation, side);
    on(a.relation, b.first, side);
    on(a.last, b.relation, b.tag);
    on(a.relation, a.tag, b.first);
    on(a.but_last, a.last, b.first);
    on(a.last, b.first, b.second);
    on(a.but_last, a.last, b.first_tag);
    on(a.last_tag, b.first, b.second);
    on(a.word, b.word);
    on(a.word, b.relation, side);
    on(a.relation, b.word, side);
    on(a.word, b.tag, h.tag);
    on(a.tag, b.word, h.tag);
    on(a.ending, b.ending, side);
    on(a.shape, b.shape, a.relation, b.relation);
    on(a.word, b.first);
    on(a.last, b.word);
    on(a.word, b.relation, f.relation, h.tag);
    on(a.relation, b.word, f.relation, h.tag);
    on(a.last, b.first, h.word);
    on(a.relation, b.relation, a.last, b.first_tag);
    on(a.relation, b.relation, a.last_tag, b.first);
    on(a.fine, b.fine, h.fine, f.relation);
    on(a.relation, b.relation, f.relation, f.mother_tag, side);
    on(a.relation, b.relation, a.last_relation, b.first_relation);
    on(a.last, a.last_relation, b.first, b.first_relation);
    on(a.relation, b.relation, side, a.relations);
    on(a.relation, b.relation, side, b.relations);
    neighbour_context_features(f, a, b, right, emit);
}

// Three items in a row.
template <class Emit>
void triple_features(const Frame& f, const Item& a, const Item& b, const Item& c, Emit& emit) {
    Templates<Emit> on(5, emit);
    const Item& h = f.head;
    on(a.relation, b.relation, c.relation);
    on(a.relation, b.relation, c.relation, h.tag);
    on(a.relation, b.relation, c.relation, h.tag, f.relation);
    on(a.relation, b.relation, c.relation, a.tag, b.tag, c.tag);
    on(a.word, b.relation, c.relation);
    on(a.relation, b.word, c.relation);
    on(a.relation, b.relation, c.word);
    on(a.relation, b.first, c.relation);
    on(a.relation, b.last, c.relation);
    on(a.last, b.relation, c.first);
    on(a.last_tag, b.relation, b.tag, c.first_tag);
    on(a.word, b.word, c.relation);
    on(a.relation, b.word, c.word);
    on(a.fine, b.fine, c.fine);
    on(a.relation, b.relation, c.relation, a.size, b.size, c.size);
    on(a.relation, b.relation, c.relation, f.count);
    on(a.relation, b.relation, c.relation, f.relations);
    on(a.word, b.relation, c.word);
    on(a.last, b.word, c.first);
    on(a.relation, b.relation, c.relation, h.word);
    on(a.relation, b.relation, c.relation, f.question);
    on(a.tag, b.tag, c.tag, f.question, f.relation);
    on(a.last_fine, b.fine, c.first_fine);
    on(a.last_fine, b.relation, c.first_fine);
    on(a.last_fine, b.first_fine, b.last_fine, c.first_fine);
}

// Hashes of all items on one side of the head, in order.
struct Row {
    uint64_t relations, tags, fine, leaves, words;
    Symbol count = 0;

    explicit Row(Symbol side)
        : relations(side + 1), tags(side + 1), fine(side + 1), leaves(side + 1), words(side + 1) {}

    void add(const Item& a) {
        ++count;
        relations = mix(relations, a.relation);
        tags = mix(mix(tags, a.relation), a.tag);
        fine = mix(fine, a.fine);
        if (words == hidden_symbol || a.word == hidden_symbol) {
            words = leaves = hidden_symbol;
            return;
        }
        leaves = mix(mix(leaves, a.relation), a.size ? 0 : a.word);  // size 0: a single word
        words = mix(words, a.word);
    }
};

template <class Emit>
void row_features(const Frame& f, const Row& row, Symbol side, Emit& emit) {
    Templates<Emit> on(side ? 16 : 15, emit);
    const Item& h = f.head;
    on(row.relations);
    on(row.relations, h.tag);
    on(row.relations, h.tag, f.relation);
    on(row.relations, h.word);
    on(row.relations, f.question, f.relation);
    on(row.tags);
    on(row.tags, h.fine);
    on(row.fine);
    on(row.fine, h.fine);
    on(row.leaves);
    on(row.leaves, h.tag);
    on(row.words);
    on(row.words, h.word);
    on(row.count, h.tag, f.count);
    on(row.count, h.fine, f.relations);
}

// A whole order: the rows on both sides of the head.
template <class Emit>
void order_features(const Frame& f, const std::vector<Item>& items, const int* order, int n,
                    Emit& emit) {
    Row rows[2] = {Row(0), Row(1)};
    int side = 0;
    for (int i = 0; i < n; ++i) {
        if (order[i] == static_cast<int>(items.size()))
            side = 1;
        else
            rows[side].add(items[order[i]]);
    }
    row_features(f, rows[0], 0, emit);
    row_features(f, rows[1], 1, emit);
    Templates<Emit> on(8, emit);
    const auto& [left, right] = rows;
    on(left.relations, right.relations);
    on(left.relations, right.relations, f.head.tag);
    on(left.relations, right.relations, f.relation, f.head.tag);
    on(left.tags, right.tags);
    on(left.leaves, right.leaves);
    on(left.leaves, right.relations);
    on(left.relations, right.leaves);
}

}  // namespace karat::ordering
