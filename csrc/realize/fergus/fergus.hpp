// The complete FERGUS pipeline: Tree Chooser, Unraveler and LP Chooser, tree by tree.
#pragma once
#include "core/elementary_functions.hpp"
#include "realize/fergus/lp_chooser.hpp"
#include "realize/fergus/precedence.hpp"
#include "realize/fergus/tree_chooser.hpp"

namespace karat::fergus {

struct Weights {
    double side, pair, lm;  // weights of the adjunction table's parts and of the language model
    int width;              // states per level of a lattice
    double margin;          // how much worse than the best an arc of the lattice may be
    int beam;               // hypotheses per state, 0 for all
};

// The Unraveler's view of a supertagged tree: one value per node.
struct Tagging {
    const int32_t *labels, *frames, *slots;
};

// The ordering costs of each treelet of a supertagged tree.
class Treelet {
  public:
    Treelet(const Grammar& grammar, const Precedence& table, const Weights& weights)
        : g_(grammar), p_(table), w_(weights) {}

    TreeletCosts costs(const TreeNodes& t, const Tagging& s, const Daughters& daughters,
                       int32_t m) const {
        const auto member = [&](int32_t i) {
            return Member{t.words[i], s.labels[i],
                          TreeModel::at_most(static_cast<int32_t>(daughters[i].size()), 2)};
        };
        const auto& all = daughters[m];
        const size_t n = all.size();
        TreeletCosts out;
        for (int side = 0; side < 2; ++side) out.before[side].assign(n * n, 0);
        for (size_t a = 0; a < n; ++a) {
            const double left = p_.left(member(all[a]), member(m));
            out.side[0].push_back(w_.side * quick_log_of(left));
            out.side[1].push_back(w_.side * quick_log_of(1 - left));
            out.slots.push_back(s.frames[m] == free_frame ? -1 : s.slots[all[a]]);
            for (size_t b = 0; b < a; ++b)
                for (int side = 0; side < 2; ++side) {
                    const double p = p_.before(side, member(all[a]), member(all[b]), member(m));
                    out.before[side][a * n + b] = w_.pair * quick_log_of(p);
                    out.before[side][b * n + a] = w_.pair * quick_log_of(1 - p);
                }
        }
        if (s.frames[m] != free_frame)
            for (auto x = g_.slots.begin(s.frames[m]); x != g_.slots.end(s.frames[m]); ++x)
                out.sides.push_back(*x % 2);
        return out;
    }

  private:
    const Grammar& g_;
    const Precedence& p_;
    Weights w_;
};

// The baseline: uses only whether a lexeme precedes or follows the lexeme of its mother.
struct LeftRight {
    const Counts& n;

    double left(int32_t d, int32_t m) const {
        double p = n.choice(0.5, context(lr_1), 1);
        p = n.choice(p, context(lr_2, d), 1);
        return n.choice(p, context(lr_3, d, m), 1);
    }

    static void note(Counting& counting, int32_t d, int32_t m, bool left) {
        counting.note_choice(context(lr_1), left);
        counting.note_choice(context(lr_2, d), left);
        counting.note_choice(context(lr_3, d, m), left);
    }

    bool is_left(const TreeNodes& t, int32_t d, int32_t m) const {
        return left(t.words[d], t.words[m]) > 0.5;
    }

    // Puts every daughter on its more probable side, in arbitrary order.
    TreeletCosts costs(const TreeNodes& t, const std::vector<int32_t>& daughters, int32_t m) const {
        TreeletCosts out;
        const size_t size = daughters.size();
        for (auto& before : out.before) before.assign(size * size, 0);
        for (const int32_t d : daughters) {
            const bool on_left = is_left(t, d, m);
            out.side[0].push_back(on_left ? 0 : never);
            out.side[1].push_back(on_left ? never : 0);
            out.slots.push_back(-1);
        }
        return out;
    }
};

}  // namespace karat::fergus
