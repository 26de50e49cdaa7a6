// The k best orders of a treelet by beam search, where the score of an order is the sum of its
// cells; whole-order scores are added to the orders left in the beam. If there are no more orders
// than the beam is wide, nothing is pruned and the search is exact.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "realize/ordering/cells.hpp"

namespace karat::ordering {

struct ScoredOrder {
    double score;
    std::vector<int> order;
    uint32_t beam_index = 0;  // index in the final beam, before sorting
};

class OrderSearch {
  public:
    // `score(cell)` is called on demand, `score_order(order, n)` for every order left in the beam,
    // in sequence.
    template <class Score, class Whole>
    std::vector<ScoredOrder> best(const Treelet& treelet, int beam, int k, Score&& score,
                                  Whole&& score_order) {
        const CellPlaces at(treelet.count());
        const int n = treelet.length();
        orders_.assign(n, 0);
        scores_.assign(1, 0);
        for (int placed = 0; placed < n; ++placed) {
            extend(treelet, at, placed, score);
            cut(n, beam);
        }
        for (size_t i = 0; i < scores_.size(); ++i)
            cells_of_step(at, &orders_[i * n], n, at.edge(),
                          [&](int64_t cell) { scores_[i] += score(cell); });
        for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += score_order(&orders_[i * n], n);
        return sorted(n, k);
    }

  private:
    struct Step {
        double score;
        int from, item;
    };

    template <class Score>
    void extend(const Treelet& treelet, const CellPlaces& at, int placed, Score& score) {
        const int n = treelet.length();
        const auto owner = [&](int j) { return j == at.head() ? n - 1 : treelet.daughters[j]; };
        steps_.clear();
        for (size_t i = 0; i < scores_.size(); ++i) {
            const int* order = &orders_[i * n];
            used_.assign(n, false);
            for (int p = 0; p < placed; ++p) used_[owner(order[p])] = true;
            for (int j = 0; j <= at.head(); ++j) {
                if (used_[owner(j)]) continue;
                double sum = scores_[i] + (j == at.head() ? 0 : treelet.priors[j]);
                cells_of_step(at, order, placed, j, [&](int64_t cell) { sum += score(cell); });
                steps_.push_back({sum, static_cast<int>(i), j});
            }
        }
        placed_ = placed;
    }

    // Ties are broken by the order of discovery, which is deterministic because items have a fixed
    // order.
    void cut(int n, int beam) {
        const auto better = [](const Step& a, const Step& b) {
            if (a.score != b.score) return a.score > b.score;
            return a.from != b.from ? a.from < b.from : a.item < b.item;
        };
        if (steps_.size() > static_cast<size_t>(beam)) {
            std::nth_element(steps_.begin(), steps_.begin() + beam, steps_.end(), better);
            steps_.resize(beam);
        }
        std::sort(steps_.begin(), steps_.end(), better);
        next_.resize(steps_.size() * n);
        scores_.resize(steps_.size());
        for (size_t i = 0; i < steps_.size(); ++i) {
            std::copy_n(&orders_[static_cast<size_t>(steps_[i].from) * n], placed_, &next_[i * n]);
            next_[i * n + placed_] = steps_[i].item;
            scores_[i] = steps_[i].score;
        }
        orders_.swap(next_);
    }

    std::vector<ScoredOrder> sorted(int n, int k) const {
        std::vector<size_t> rank(scores_.size());
        for (size_t i = 0; i < rank.size(); ++i) rank[i] = i;
        std::stable_sort(rank.begin(), rank.end(),
                         [&](size_t a, size_t b) { return scores_[a] > scores_[b]; });
        if (rank.size() > static_cast<size_t>(k)) rank.resize(k);
        std::vector<ScoredOrder> best_orders;
        for (const size_t i : rank) {
            const auto first = orders_.begin() + static_cast<int64_t>(i) * n;
            best_orders.push_back({scores_[i], {first, first + n}, static_cast<uint32_t>(i)});
        }
        return best_orders;
    }

    std::vector<int> orders_, next_;
    std::vector<double> scores_;
    std::vector<Step> steps_;
    std::vector<char> used_;
    int placed_ = 0;
};

}  // namespace karat::ordering
