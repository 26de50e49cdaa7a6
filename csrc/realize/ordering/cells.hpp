// The scores of a treelet as cells: one for every daughter before the head, every pair, every two
// neighbours, every three items in a row, and every two items on opposite sides of the head. The
// score of an order is the sum of its cells and of its whole-order features.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "realize/ordering/features.hpp"

namespace karat::ordering {

// A treelet: its items in a fixed order, the head after all of them. A daughter whose subtree has
// several candidate orders has an item for each; an order uses one of them.
struct Treelet {
    Frame frame;
    std::vector<Item> items;     // without the head
    std::vector<int> daughters;  // daughter of each item, from 0 without gaps
    std::vector<double> priors;  // score deficit of an item's own order
    int count() const { return static_cast<int>(items.size()); }
    int length() const { return items.empty() ? 1 : daughters.back() + 2; }  // of an order
};

enum class CellKind { side, pair, neighbour, triple, across };
constexpr int cell_kinds = 5;
constexpr int part_kinds = cell_kinds + 1;  // the last kind is the order as a whole

// The layout of cells for n items; the head is item n, the edge n + 1.
class CellPlaces {
  public:
    explicit CellPlaces(int n = 0)
        : n_(n), m_(n + 2), pairs_(n), neighbours_(pairs_ + 2 * n * n),
          triples_(neighbours_ + 2 * m_ * m_), across_(triples_ + m_ * m_ * m_),
          all_(across_ + n * n) {}

    int64_t side(int a) const { return a; }
    int64_t pair(int a, int b, bool right) const { return pairs_ + (right * n_ + a) * n_ + b; }
    int64_t neighbour(int a, int b, bool right) const {
        return neighbours_ + (right * m_ + a) * m_ + b;
    }
    int64_t triple(int a, int b, int c) const { return triples_ + (a * m_ + b) * m_ + c; }
    int64_t across(int a, int b) const { return across_ + a * n_ + b; }
    int64_t size() const { return all_; }
    int head() const { return static_cast<int>(n_); }
    int edge() const { return static_cast<int>(n_) + 1; }
    CellKind kind(int64_t cell) const {
        if (cell < pairs_) return CellKind::side;
        if (cell < neighbours_) return CellKind::pair;
        if (cell < triples_) return CellKind::neighbour;
        return cell < across_ ? CellKind::triple : CellKind::across;
    }

  private:
    int64_t n_, m_, pairs_, neighbours_, triples_, across_, all_;
};

// Calls see(cell) for each cell added by placing item j after `order` (the items so far).
template <class See>
void cells_of_step(const CellPlaces& at, const int* order, int placed, int j, See&& see) {
    int head_at = placed;
    for (int i = 0; i < placed; ++i)
        if (order[i] == at.head()) head_at = i;
    const bool right = head_at < placed;
    const int a = placed > 0 ? order[placed - 1] : at.edge();
    const int z = placed > 1 ? order[placed - 2] : at.edge();
    see(at.neighbour(a, j, right));
    if (placed > 0) see(at.triple(z, a, j));
    if (j == at.edge() || j == at.head()) return;
    if (!right) see(at.side(j));
    for (int i = right ? head_at + 1 : 0; i < placed; ++i) see(at.pair(order[i], j, right));
    if (right)
        for (int i = 0; i < head_at; ++i) see(at.across(order[i], j));
}

// The same for a whole order and its end.
template <class See>
void cells_of_order(const CellPlaces& at, const int* order, int n, See&& see) {
    for (int k = 0; k <= n; ++k) cells_of_step(at, order, k, k < n ? order[k] : at.edge(), see);
}

// Converts a cell back to its items.
struct CellItems {
    int a = 0, b = 0, c = 0;
    bool right = false;
};

inline CellItems items_of_cell(const CellPlaces& at, int64_t cell) {
    const int64_t n = at.head(), m = n + 2;
    int64_t remaining = cell;
    const auto cut = [&remaining](int64_t base) {
        const auto items = static_cast<int>(remaining % base);
        remaining /= base;
        return items;
    };
    CellItems items;
    switch (at.kind(cell)) {
        case CellKind::side:
            items.a = static_cast<int>(cell);
            break;
        case CellKind::pair:
            remaining -= at.pair(0, 0, false);
            items.b = cut(n), items.a = cut(n), items.right = remaining;
            break;
        case CellKind::neighbour:
            remaining -= at.neighbour(0, 0, false);
            items.b = cut(m), items.a = cut(m), items.right = remaining;
            break;
        case CellKind::triple:
            remaining -= at.triple(0, 0, 0);
            items.c = cut(m), items.b = cut(m), items.a = cut(m);
            break;
        case CellKind::across:
            remaining -= at.across(0, 0);
            items.b = cut(n), items.a = cut(n);
            break;
    }
    return items;
}

template <class Emit>
void cell_features(const Treelet& t, const CellPlaces& at, int64_t cell, Emit& emit) {
    static const Item beyond = edge();
    const auto item = [&](int i) -> const Item& {
        return i == at.edge() ? beyond : i == at.head() ? t.frame.head : t.items[i];
    };
    const CellItems of = items_of_cell(at, cell);
    switch (at.kind(cell)) {
        case CellKind::side:
            side_features(t.frame, t.items, t.daughters, of.a, emit);
            return doubtful_side_features(t.frame, t.items, t.daughters, of.a, emit);
        case CellKind::pair:
            pair_features(t.frame, t.items, t.daughters, of.a, of.b, of.right, emit);
            return doubtful_pair_features(t.frame, item(of.a), item(of.b), of.right, emit);
        case CellKind::neighbour:
            neighbour_features(t.frame, item(of.a), item(of.b), of.right, emit);
            return doubtful_neighbour_features(t.frame, item(of.a), item(of.b), of.right, emit);
        case CellKind::triple:
            return triple_features(t.frame, item(of.a), item(of.b), item(of.c), emit);
        case CellKind::across:
            return across_features(t.frame, item(of.a), item(of.b), emit);
    }
}

// All features of an order of a treelet.
template <class Emit>
void features_of_order(const Treelet& t, const std::vector<int>& order, Emit& emit) {
    const CellPlaces at(t.count());
    const auto n = static_cast<int>(order.size());
    cells_of_order(at, order.data(), n, [&](int64_t cell) { cell_features(t, at, cell, emit); });
    order_features(t.frame, t.items, order.data(), n, emit);
}

}  // namespace karat::ordering
