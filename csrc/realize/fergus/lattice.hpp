// The Unraveler: builds the packed lattice of all orders that the supertags of a treelet allow.
//
// A state is the set of daughters left of the head, the set right of it, and whether the head is
// placed; an arc places one more item. Arguments go to their slots, in slot order; adjuncts go to
// either side, at a cost from the adjunction table. The lattice of a sentence is the lattice of the
// root, where every daughter's arc represents the lattice of its own treelet.
//
// Pruning: states are built level by level (by the number of placed items), and the `width`
// cheapest of each level are kept (with more than 12 daughters fewer, width * 12 / daughters, at
// least 4); then arcs are removed if their best path costs over `margin` more than the best path.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "realize/fergus/backoff.hpp"

namespace karat::fergus {

constexpr double never = -std::numeric_limits<double>::infinity();

struct TreeletCosts {
    std::vector<double> side[2];    // per daughter: log p(left), log p(right), or `never`
    std::vector<double> before[2];  // [side][a * n + b]: log p(a before b)
    std::vector<int32_t> slots;     // slot that each daughter fills, or -1
    std::vector<int32_t> sides;     // per slot: 0 left, 1 right; left slots come first
};

struct Arc {
    int32_t from, to, item;  // a daughter's index, -1 the head
    double score;
};

struct Lattice {
    int32_t states = 0;
    std::vector<Arc> arcs;  // by their first state
    double paths = 0;       // in this treelet alone
    bool pruned = false;
};

class Unraveler {
  public:
    Unraveler(int width, double margin) : width_(width), margin_(margin) {}

    Lattice unravel(const TreeletCosts& costs) {
        c_ = &costs;
        n_ = costs.slots.size();
        const auto n = static_cast<int>(n_);
        beam_width_ = n > many ? std::max(width_ * many / n, 4) : width_;
        lattice_ = {};
        build();
        trim();
        return std::move(lattice_);
    }

  private:
    static constexpr int many = 12;

    struct State {
        std::string placed;  // 0 not yet, 1 left, 2 right; the last entry is the head
        double forward;
        uint64_t hash;
    };
    struct Next {  // a state of the next level: one of this level with one more item
        int32_t from, place;
        double forward;
        uint64_t hash;
    };

    void build() {
        std::vector<State> level{{std::string(n_ + 1, 0), 0, 0}};
        forward_.assign(1, 0);
        int32_t next = 1;
        for (size_t step = 0; step <= n_; ++step) {
            std::vector<Next> after = extend(level, next, step == n_);
            if (after.size() > static_cast<size_t>(beam_width_)) cut(after, next);
            std::vector<State> next_level;
            for (const Next& s : after) {
                next_level.push_back({level[s.from].placed, s.forward, s.hash});
                next_level.back().placed[s.place] = mark(level[s.from]);
                forward_.push_back(s.forward);
            }
            next += static_cast<int32_t>(after.size());
            level = std::move(next_level);
        }
        lattice_.states = next;
    }

    char mark(const State& state) const { return state.placed[n_] ? 2 : 1; }

    // All paths end in one state, regardless of sides.
    std::vector<Next> extend(const std::vector<State>& level, int32_t next, bool last) {
        std::vector<Next> after;
        std::unordered_multimap<uint64_t, int32_t> states_by_hash;
        const int32_t first = next - static_cast<int32_t>(level.size());
        for (size_t i = 0; i < level.size(); ++i) {
            weigh(level[i].placed);
            for (int32_t item = -1; item < static_cast<int32_t>(n_); ++item) {
                if (!allowed(level[i].placed, item)) continue;
                const double score = item < 0 ? 0 : scores_[item];
                const auto place = item < 0 ? static_cast<int32_t>(n_) : item;
                const uint64_t hash = level[i].hash ^ mixed(2 * place + mark(level[i]));
                const Next candidate{static_cast<int32_t>(i), place, level[i].forward + score,
                                     hash};
                const int32_t at =
                    last && !after.empty() ? 0 : number(level, candidate, states_by_hash, after);
                after[at].forward = std::max(after[at].forward, candidate.forward);
                lattice_.arcs.push_back({first + candidate.from, next + at, item, score});
            }
        }
        return after;
    }

    // The number of this state among the next states; it is added if it is new.
    int32_t number(const std::vector<State>& level, const Next& candidate,
                   std::unordered_multimap<uint64_t, int32_t>& states_by_hash,
                   std::vector<Next>& after) const {
        const auto alike = states_by_hash.equal_range(candidate.hash);
        for (auto at = alike.first; at != alike.second; ++at)
            if (is_same_state(level, candidate, after[at->second])) return at->second;
        states_by_hash.emplace(candidate.hash, static_cast<int32_t>(after.size()));
        after.push_back(candidate);
        return static_cast<int32_t>(after.size()) - 1;
    }

    bool is_same_state(const std::vector<State>& level, const Next& a, const Next& b) const {
        const auto at = [&](const Next& state, size_t place) {
            const State& from = level[state.from];
            return static_cast<size_t>(state.place) == place ? mark(from) : from.placed[place];
        };
        for (size_t place = 0; place <= n_; ++place)
            if (at(a, place) != at(b, place)) return false;
        return true;
    }

    // The cost of each daughter as the next item, and the order constraints among daughters.
    void weigh(const std::string& placed) {
        const int side = placed[n_] ? 1 : 0;
        scores_.assign(n_, 0);
        next_slot_ = std::numeric_limits<int32_t>::max();
        head_may_come_ = !side;
        for (size_t d = 0; d < n_; ++d) {
            if (placed[d] == side + 1) {
                const double* row = &c_->before[side][d * n_];
                for (size_t item = 0; item < n_; ++item) scores_[item] += row[item];
            } else if (!placed[d]) {
                if (c_->slots[d] >= 0) next_slot_ = std::min(next_slot_, c_->slots[d]);
                if (is_left_only(d)) head_may_come_ = false;
            }
        }
        for (size_t item = 0; item < n_; ++item) scores_[item] += c_->side[side][item];
    }

    bool allowed(const std::string& placed, int32_t item) const {
        if (item < 0) return head_may_come_;
        if (placed[item]) return false;
        const int side = placed[n_] ? 1 : 0;
        const int32_t slot = c_->slots[item];
        if (slot < 0) return c_->side[side][item] != never;
        return c_->sides[slot] == side && slot <= next_slot_;
    }

    bool is_left_only(size_t d) const {
        return c_->slots[d] >= 0 ? !c_->sides[c_->slots[d]] : c_->side[1][d] == never;
    }

    // Keeps the cheapest states of a level and removes arcs to the others.
    void cut(std::vector<Next>& after, int32_t next) {
        std::vector<int32_t> order(after.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            return after[a].forward > after[b].forward;
        });
        std::vector<int32_t> moved(after.size(), -1);
        std::vector<Next> best;
        for (int32_t i = 0; i < beam_width_; ++i) {
            moved[order[i]] = i;
            best.push_back(after[order[i]]);
        }
        size_t out = 0;
        for (Arc arc : lattice_.arcs) {
            if (arc.to >= next) {
                if (moved[arc.to - next] < 0) continue;
                arc.to = next + moved[arc.to - next];
            }
            lattice_.arcs[out++] = arc;
        }
        lattice_.arcs.resize(out);
        lattice_.pruned = true;
        after = std::move(best);
    }

    // Keeps only arcs on complete paths within the margin; renumbers the states.
    void trim() {
        std::vector<double> backward(lattice_.states, never);
        const int32_t last = lattice_.states - 1;
        backward[last] = 0;
        for (size_t i = lattice_.arcs.size(); i-- > 0;) {
            const Arc& arc = lattice_.arcs[i];
            backward[arc.from] = std::max(backward[arc.from], backward[arc.to] + arc.score);
        }
        const double least = forward_[last] - margin_ - 1e-9;
        std::vector<Arc> live_arcs;
        std::vector<int32_t> moved(lattice_.states, -1);
        moved[0] = 0;
        for (const Arc& arc : lattice_.arcs)
            if (forward_[arc.from] + arc.score + backward[arc.to] >= least) {
                live_arcs.push_back(arc);
                moved[arc.to] = 0;
            }
        lattice_.pruned |= live_arcs.size() < lattice_.arcs.size();
        int32_t states = 0;
        for (int32_t& state : moved)
            if (!state) state = states++;
        std::vector<double> paths(states, 0);
        paths[0] = 1;
        for (Arc& arc : live_arcs) {
            arc.from = moved[arc.from];
            arc.to = moved[arc.to];
            paths[arc.to] += paths[arc.from];
        }
        lattice_.paths = paths.back();
        lattice_.states = states;
        lattice_.arcs = std::move(live_arcs);
    }

    int width_, beam_width_ = 0;
    double margin_;
    const TreeletCosts* c_ = nullptr;
    size_t n_ = 0;
    Lattice lattice_;
    std::vector<double> forward_;
    std::vector<double> scores_;  // of the current state, set by `weigh`
    int32_t next_slot_ = 0;
    bool head_may_come_ = false;
};

}  // namespace karat::fergus
