// The adjunction table: the side of a daughter relative to its mother's head, and the order of two
// daughters on one side; both back off from lexemes to labels to relations.
#pragma once
#include <utility>

#include "realize/fergus/tree_model.hpp"

namespace karat::fergus {

// The features of a daughter in the table.
struct Member {
    int32_t word, label, degree;  // degree: number of its own daughters, at most 2
};

class Precedence {
  public:
    Precedence(const Grammar& grammar, const Counts& counts) : g_(grammar), n_(counts) {}

    static constexpr double strength = 0.5;  // of lower levels, chosen on held-out documents

    // p(d is left of its mother)
    double left(const Member& d, const Member& m) const {
        double p = 0.5;
        each_side(g_, d, m, [&](uint64_t c) { p = n_.choice(p, c, strength); });
        return p;
    }

    // p(a comes before b), both on one side (0 left, 1 right) of their mother
    double before(int side, const Member& a, const Member& b, const Member& m) const {
        if (are_alike(a, b)) return 0.5;
        if (swapped(a, b)) return 1 - before(side, b, a, m);
        double p = 0.5;
        each_pair(g_, side, a, b, m, [&](uint64_t c) { p = n_.choice(p, c, strength); });
        return p;
    }

    template <class Each>
    static void each_side(const Grammar& g, const Member& d, const Member& m, Each visit) {
        const int32_t mc = g.tag(m.label);
        visit(context(side_1, g.relation(d.label)));
        visit(context(side_2, d.label, mc, d.degree));
        visit(context(side_3, d.label, m.word, mc));
        visit(context(side_4, d.word, d.label, mc, d.degree));
        visit(context(side_5, d.word, d.label, m.word));
    }

    template <class Each>
    static void each_pair(const Grammar& g, int side, const Member& a, const Member& b,
                          const Member& m, Each visit) {
        const int32_t mc = g.tag(m.label);
        visit(context(pair_1, side, g.relation(a.label), g.relation(b.label)));
        visit(context(pair_2, side, a.label, b.label, mc, a.degree, b.degree));
        visit(context(pair_3, side, a.word, a.label, b.label, mc));
        visit(context(pair_4, side, b.word, a.label, b.label, mc));
        visit(context(pair_5, side, a.word, a.label, b.word, b.label));
    }

    static bool are_alike(const Member& a, const Member& b) {
        return a.label == b.label && a.word == b.word && a.degree == b.degree;
    }

    // Each pair is counted in one canonical order, by label, word and degree.
    static bool swapped(const Member& a, const Member& b) {
        if (a.label != b.label) return a.label > b.label;
        return a.word != b.word ? a.word > b.word : a.degree > b.degree;
    }

  private:
    const Grammar& g_;
    const Counts& n_;
};

// Adds the treelets of a gold tree: `places` is the position of each node in the sentence.
class PrecedenceCounting {
  public:
    PrecedenceCounting(const Grammar& grammar, Counting& counting) : g_(grammar), n_(counting) {}

    void tree(const TreeNodes& t, const int32_t* places) {
        const auto daughters = t.daughters();
        const auto member = [&](int32_t i) {
            return Member{t.words[i], t.labels[i],
                          TreeModel::at_most(static_cast<int32_t>(daughters[i].size()), 2)};
        };
        for (int32_t m = 0; m < t.size; ++m)
            for (const int32_t d : daughters[m]) {
                const int side = places[d] > places[m];
                Precedence::each_side(g_, member(d), member(m),
                                      [&](uint64_t c) { n_.note_choice(c, !side); });
                for (const int32_t e : daughters[m])
                    if (e > d && (places[e] > places[m]) == side)
                        pair(side, member(d), member(e), member(m), places[d] < places[e]);
            }
    }

  private:
    void pair(int side, const Member& a, const Member& b, const Member& m, bool first) {
        if (Precedence::are_alike(a, b)) return;
        if (Precedence::swapped(a, b)) return pair(side, b, a, m, !first);
        Precedence::each_pair(g_, side, a, b, m, [&](uint64_t c) { n_.note_choice(c, first); });
    }

    const Grammar& g_;
    Counting& n_;
};

}  // namespace karat::fergus
