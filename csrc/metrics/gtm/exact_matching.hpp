// The maximum matching under the cap, with a certificate.
//
// The greedy matching is the first incumbent; often the cheap bound of reach.hpp already proves
// that it is optimal. Otherwise branch and bound over packings of runs (all runs at all hits):
// prices of columns give a bound (prices.hpp), runs that cannot be part of a better packing are
// discarded, independent components are solved separately, and the rest is branched on: a hit is
// taken, or it is not. Every step is counted; when the budget is used up, the best packing found is
// returned with the current bound. Results do not depend on timing.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "metrics/gtm/greedy_matching.hpp"
#include "metrics/gtm/grid.hpp"
#include "metrics/gtm/prices.hpp"
#include "metrics/gtm/reach.hpp"

namespace karat::gtm {

struct Answer {
    double sum;    // sum of length^e of the matching
    double bound;  // upper bound of the sum for any matching
    bool proven;   // no matching is better than this one
};

// The possible sums of length^e: the next sum after a given one, and whether a sum is out of reach.
class Scale {
  public:
    void set(const Power& power, Cap cap, int32_t longest, int32_t rows) {
        integral_ = power.is_integral() && power(std::max(rows, 1)) < (1 << 30);
        cuts_.clear();
        if (cap.binds && cap.part > 0)
            for (int32_t k = 0; k < longest; ++k) cuts_.push_back(power(k + cap.part));
    }
    // Integer exponents give integer sums, except for one run that the cap truncates.
    double next(double sum) const {
        if (!integral_) return sum + std::max(sum, 1.0) * 1e-9;
        double best = std::floor(sum + slack) + 1;
        for (const double cut : cuts_)
            best = std::min(best, cut + std::max(std::floor(sum + slack - cut) + 1, 0.0));
        return best;
    }
    // How far below the goal the prices aim: for integer sums, beyond the next smaller sum.
    double margin() const { return integral_ ? 1.0 : 0.001; }
    double round_up(double goal) const { return integral_ ? std::ceil(goal - slack) : goal; }
    bool out_of_reach(double bound, double goal) const {
        return bound < goal - (integral_ ? slack : 0.0);
    }

  private:
    static constexpr double slack = 1e-6;
    bool integral_ = true;
    std::vector<double> cuts_;
};

class Exact {
  public:
    Exact(double e, int64_t budget) : power_(e), budget_(budget) {}

    // `runs` receives the runs of the matching, sorted.
    Answer match(const Grid& grid, std::vector<Run>& runs, Watch& watch) {
        watch_ = &watch;
        greedy_.match(grid, runs, watch);
        const double sum = weigh(runs, grid.cap(), power_);
        if (power_.exponent() == 1) return {sum, sum, true};
        const bool listable = grid.hits() <= std::min<int64_t>(budget_, most_runs);
        if (listable) grid.maximal_runs(maximal_, watch);
        listable ? reach_.from_runs(grid, maximal_) : reach_.from_windows(grid, watch);
        const double reach = std::max(sum, reach_.bound(grid, grid.cap(), power_));
        prepare(grid);
        if (scale_.out_of_reach(reach, scale_.next(sum))) return {sum, sum, true};
        if (!listable || !list(grid)) return {sum, reach, false};
        return search(grid, runs, sum, reach);
    }

  private:
    static constexpr int64_t most_runs = 1 << 21, most_cells = 1 << 22;
    static constexpr int root_rounds = 1500, node_rounds = 200, most_depth = 200;
    static constexpr int64_t duration = 8;  // cost of a step: about ten nanoseconds
    static constexpr int64_t sorting = 8;  // steps for each run that is sorted
    static constexpr double endless = std::numeric_limits<double>::infinity();

    // A set of runs to be packed, the best packing found so far and the bound.
    struct Found {
        double value = 0;
        std::vector<Run> runs;
        double bound = endless;
    };
    struct Node {
        Packing packing;
        std::vector<char> priced;  // columns that several compatible runs could use
        std::vector<double> prices, use;
        std::vector<Run> chosen;
        double goal;
        Found solution;
    };

    // ------------------------------------------------------------------------- search space

    void prepare(const Grid& grid) {
        longest_ = 1;
        for (const int32_t length : reach_.row) longest_ = std::max(longest_, length);
        const double cap = grid.cap();
        cap_.binds = static_cast<double>(grid.most_matches()) > cap;
        cap_.units = static_cast<int32_t>(std::floor(cap));
        cap_.part = cap - cap_.units;
        worth_.assign(longest_ + 1, 0);
        cut_worth_.assign(longest_ + 1, 0);
        for (int32_t k = 1; k <= longest_; ++k) {
            worth_[k] = power_(k);
            cut_worth_[k] = power_(k - 1 + cap_.part);
        }
        scale_.set(power_, cap_, longest_, grid.rows());
        limit_ = grid.cap();
    }

    // All runs at all hits, unless there are too many.
    bool list(const Grid& grid) {
        int64_t count = grid.hits();
        for (const Run& run : maximal_)
            count += static_cast<int64_t>(run.length) * (run.length - 1) / 2;
        const int64_t cells = cap_.binds ? (grid.rows() + 1) * (cap_.units + int64_t{1}) : 0;
        steps_ = 0;
        if (count > most_runs || cells > most_cells || !spend(sorting * count)) return false;
        runs_.clear();
        for (int32_t i = 0; i < grid.rows(); ++i)
            for (int32_t j = grid.last(grid.row_word(i)); j >= 0; j = grid.before(j))
                runs_.push_back({i, j, 1});
        for (const Run& run : maximal_)
            for (int32_t k = 0; k + 1 < run.length; ++k)
                for (int32_t length = 2; length <= run.length - k; ++length)
                    runs_.push_back({run.row + k, run.column + k, length});
        std::sort(runs_.begin(), runs_.end(), in_order);
        return true;
    }

    static bool in_order(const Run& a, const Run& b) {
        return std::tie(a.row, a.length, a.column) < std::tie(b.row, b.length, b.column);
    }

    Answer search(const Grid& grid, std::vector<Run>& best_runs, double sum, double reach) {
        price_.assign(grid.columns(), 0.0);
        new_row_.assign(grid.rows(), -1);
        new_column_.assign(grid.columns(), -1);
        const double goal = scale_.next(sum);
        Found solution = solve(runs_, goal, reach, 0);
        if (solution.value > sum && !scale_.out_of_reach(solution.value, goal)) {
            best_runs = solution.runs;
            sum = solution.value;
        }
        const double bound = std::min(solution.bound, reach);
        const bool proven = scale_.out_of_reach(bound, scale_.next(sum));
        return {sum, proven ? sum : std::max(bound, sum), proven};
    }

    bool spend(int64_t steps) {
        watch_->worked(duration * steps);
        return (steps_ += steps) <= budget_;
    }

    // ----------------------------------------------------------------------- branch and bound

    // The best packing of these runs that is worth at least `goal`; if the returned bound is below
    // the goal, there is no such packing and the result is arbitrary.
    Found solve(const std::vector<Run>& runs, double goal, double known_bound, int depth) {
        Node node;
        if (runs.empty()) return {0, {}, 0};
        node.solution.bound = known_bound;
        if (steps_ > budget_ || depth > most_depth) return node.solution;
        spend(4 * static_cast<int64_t>(runs.size()));  // fixed work per node
        number(runs, node.packing);
        node.goal = goal;
        need_prices(node);
        Relaxation relaxation(worth_, cut_worth_, cap_);
        relaxation.set(node.packing);
        pack(node, relaxation, First::longest);
        ascend(node, relaxation, depth ? node_rounds : root_rounds);
        if (settled(node) || steps_ > budget_) return node.solution;
        std::vector<Run> remaining;
        relaxation.keep(node.goal - 1e-6, remaining);
        remember(node);
        spend(3 * relaxation.steps());
        if (!cap_.binds && apart(remaining, node, depth)) return node.solution;
        branch(remaining, node, depth);
        return node.solution;
    }

    bool settled(const Node& node) const {
        return scale_.out_of_reach(node.solution.bound, node.goal);
    }

    void number(const std::vector<Run>& runs, Packing& packing) {
        for (const Run& run : runs)
            for (int32_t k = 0; k < run.length; ++k) {
                mark(run.row + k, new_row_, packing.row);
                mark(run.column + k, new_column_, packing.column);
            }
        renumber(new_row_, packing.row);
        renumber(new_column_, packing.column);
        packing.runs.reserve(runs.size());
        for (const Run& run : runs)
            packing.runs.push_back({new_row_[run.row], new_column_[run.column], run.length});
        for (const int32_t i : packing.row) new_row_[i] = -1;
        for (const int32_t j : packing.column) new_column_[j] = -1;
    }
    static void mark(int32_t at, std::vector<int32_t>& numbers, std::vector<int32_t>& marked) {
        if (numbers[at] >= 0) return;
        numbers[at] = 0;
        marked.push_back(at);
    }
    static void renumber(std::vector<int32_t>& numbers, std::vector<int32_t>& marked) {
        std::sort(marked.begin(), marked.end());
        for (size_t k = 0; k < marked.size(); ++k) numbers[marked[k]] = static_cast<int32_t>(k);
    }

    // A column needs no price if all runs through it share a row: then at most one can be taken.
    void need_prices(Node& node) {
        const Packing& packing = node.packing;
        std::vector<int32_t> low(packing.columns(), 0), high(packing.columns(), packing.rows());
        for (const Run& run : packing.runs)
            for (int32_t k = 0; k < run.length; ++k) {
                low[run.column + k] = std::max(low[run.column + k], run.row);
                high[run.column + k] = std::min(high[run.column + k], run.row + run.length);
            }
        node.priced.resize(packing.columns());
        node.prices.resize(packing.columns());
        for (int32_t j = 0; j < packing.columns(); ++j) {
            node.priced[j] = low[j] >= high[j];
            node.prices[j] = node.priced[j] ? price_[packing.column[j]] : 0.0;
        }
    }
    void remember(const Node& node) {
        for (int32_t j = 0; j < node.packing.columns(); ++j)
            price_[node.packing.column[j]] = node.prices[j];
    }

    // Lowers the bound until the goal is out of reach or there is no more progress.
    void ascend(Node& node, Relaxation& relaxation, int rounds) {
        std::vector<double> prices = node.prices;
        double pace = 1.8, best = endless;
        for (int round = 0, stalled = 0; round < rounds && spend(relaxation.steps()); ++round) {
            const double bound = relaxation.bound(prices);
            if (bound < best - 1e-6 * pace) {
                stalled = 0;
            } else if (++stalled == 12) {
                stalled = 0;
                pace /= 2;
                if (pace < 1e-5) break;
            }
            if (bound < best) {
                best = bound;
                node.prices = prices;
                node.solution.bound = std::min(node.solution.bound, bound);
                if (settled(node)) return;
            }
            relaxation.uses(node.use, node.chosen);
            if (round % 16 == 15) pack(node, relaxation, First::dearest);
            const double distance = 1.5 * (bound - node.goal) + scale_.margin();
            if (settled(node) || !move(node, prices, pace * distance)) break;
        }
        relaxation.bound(node.prices);
        relaxation.uses(node.use, node.chosen);
        pack(node, relaxation, First::dearest);
        pack(node, relaxation, First::chosen);
    }

    // One step along the subgradient; false if it is zero.
    static bool move(const Node& node, std::vector<double>& prices, double distance) {
        double norm = 0;
        for (size_t j = 0; j < prices.size(); ++j) {
            const double excess = node.use[j] - 1;
            if (node.priced[j] && (excess > 0 || prices[j] > 0)) norm += excess * excess;
        }
        if (norm < 1e-12) return false;
        for (size_t j = 0; j < prices.size(); ++j)
            if (node.priced[j])
                prices[j] = std::max(0.0, prices[j] + distance / norm * (node.use[j] - 1));
        return true;
    }

    enum class First { longest, dearest, chosen };

    // Builds a packing greedily from runs that fit: longest first, or by value minus price, or
    // starting with the runs of the last bound.
    void pack(Node& node, const Relaxation& relaxation, First first) {
        const Packing& packing = node.packing;
        order_.clear();
        for (size_t k = 0; k < packing.runs.size(); ++k) {
            const Run& run = packing.runs[k];
            const double gain = first == First::longest ? run.length
                                                        : worth_[run.length] - relaxation.cost(run);
            order_.push_back({gain, static_cast<int32_t>(k)});
        }
        std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        spend(sorting * static_cast<int64_t>(order_.size()));
        std::vector<char> used(packing.columns(), 0);
        scratch_.assign(packing.rows(), -1);
        if (first == First::chosen)
            for (const Run& run : node.chosen) place(run, used);
        for (const auto& [gain, k] : order_) place(packing.runs[k], used);
        old_numbers(packing);
        accept(node);
    }
    void place(const Run& run, std::vector<char>& used) {
        for (int32_t k = 0; k < run.length; ++k)
            if (scratch_[run.row + k] >= 0 || used[run.column + k]) return;
        for (int32_t k = 0; k < run.length; ++k) {
            scratch_[run.row + k] = run.column + k;
            used[run.column + k] = 1;
        }
    }
    // The runs of the packing in the original numbers; a run ends where rows or columns were
    // removed.
    void old_numbers(const Packing& packing) {
        packed_.clear();
        for (int32_t k = 0; k < packing.rows(); ++k) {
            if (scratch_[k] < 0) continue;
            const int32_t i = packing.row[k], j = packing.column[scratch_[k]];
            if (!packed_.empty() && i == packed_.back().row + packed_.back().length &&
                j == packed_.back().column + packed_.back().length)
                ++packed_.back().length;
            else
                packed_.push_back({i, j, 1});
        }
    }
    void accept(Node& node) {
        sort_runs(packed_);
        const double value = weigh(packed_, limit_, power_);
        if (value <= node.solution.value) return;
        node.solution.value = value;
        node.solution.runs = packed_;
        if (!scale_.out_of_reach(value, node.goal)) node.goal = scale_.next(value);
    }

    // ----------------------------------------------------------------------------- components

    // Solves components that share no row and no column separately; false if there is only one.
    bool apart(const std::vector<Run>& runs, Node& node, int depth) {
        std::vector<std::vector<Run>> pieces;
        components(runs, pieces);
        if (pieces.size() < 2) return false;
        std::vector<double> bounds;
        double total = 0;
        for (const auto& piece : pieces) {
            bounds.push_back(bound_of(piece));
            total += bounds.back();
        }
        Found sum{0, {}, 0};
        for (size_t k = 0; k < pieces.size(); ++k) {
            const double goal = scale_.round_up(node.goal - (total - bounds[k]));
            Found part = solve(pieces[k], goal, bounds[k], depth + 1);
            if (scale_.out_of_reach(part.bound, scale_.next(part.value))) part.bound = part.value;
            total += std::min(part.bound, bounds[k]) - bounds[k];
            bounds[k] = std::min(part.bound, bounds[k]);
            sum.value += part.value;
            sum.runs.insert(sum.runs.end(), part.runs.begin(), part.runs.end());
            if (scale_.out_of_reach(total, node.goal)) break;
        }
        packed_ = sum.runs;
        accept(node);
        node.solution.bound = std::max(node.solution.value, std::min(node.solution.bound, total));
        return true;
    }

    double bound_of(const std::vector<Run>& runs) {
        Node node;
        number(runs, node.packing);
        need_prices(node);
        Relaxation relaxation(worth_, cut_worth_, cap_);
        relaxation.set(node.packing);
        spend(relaxation.steps());
        return relaxation.bound(node.prices);
    }

    void components(const std::vector<Run>& runs, std::vector<std::vector<Run>>& pieces) {
        const auto rows = static_cast<int32_t>(new_row_.size());
        std::vector<int32_t> parent(rows + new_column_.size());
        for (size_t k = 0; k < parent.size(); ++k) parent[k] = static_cast<int32_t>(k);
        const auto root = [&](int32_t k) {
            while (parent[k] != k) k = parent[k] = parent[parent[k]];
            return k;
        };
        for (const Run& run : runs)
            for (int32_t k = 0; k < run.length; ++k) {
                parent[root(run.row + k)] = root(run.row);
                parent[root(rows + run.column + k)] = root(run.row);
            }
        std::vector<int32_t> piece(parent.size(), -1);
        for (const Run& run : runs) {
            int32_t& at = piece[root(run.row)];
            if (at < 0) {
                at = static_cast<int32_t>(pieces.size());
                pieces.emplace_back();
            }
            pieces[at].push_back(run);
        }
    }

    // ------------------------------------------------------------------------------- branches

    struct Hit {
        int32_t row, column;
    };

    // The hit to branch on: in the most overused column (or, if there is none, the least used), the
    // hit of the longest run through it.
    static Hit dispute(const Node& node) {
        const Packing& packing = node.packing;
        int32_t at = -1;
        double most = -1;
        for (int32_t j = 0; j < packing.columns(); ++j) {
            if (!node.priced[j]) continue;
            const double excess = node.use[j] - 1;
            const double score = excess > 1e-6 ? 10 + excess : node.prices[j] > 0 ? -excess : 0;
            if (score > most) most = score, at = j;
        }
        const Run* best = nullptr;
        for (const auto* runs : {&node.chosen, &packing.runs}) {
            for (const Run& run : *runs)
                if (run.column <= at && at < run.column + run.length &&
                    (!best || run.length > best->length))
                    best = &run;
            if (best) break;
        }
        return {packing.row[best->row + at - best->column], packing.column[at]};
    }

    void branch(const std::vector<Run>& runs, Node& node, int depth) {
        if (std::none_of(node.priced.begin(), node.priced.end(), [](char p) { return p; })) return;
        const Hit hit = dispute(node);
        std::vector<Run> with, without;
        for (const Run& run : runs) {
            const bool row = run.row <= hit.row && hit.row < run.row + run.length;
            const bool column = run.column <= hit.column && hit.column < run.column + run.length;
            const bool through = row && column && run.column - run.row == hit.column - hit.row;
            if (through || (!row && !column)) with.push_back(run);
            if (!through) without.push_back(run);
        }
        const double known_bound = node.solution.bound;
        double bound = node.solution.value;
        for (const auto* side : {&with, &without}) {
            remember(node);
            Found part = solve(*side, node.goal, known_bound, depth + 1);
            packed_ = part.runs;
            accept(node);
            bound = std::max(bound, part.bound);
        }
        node.solution.bound = std::min(known_bound, bound);
    }

    Power power_;
    int64_t budget_, steps_ = 0;
    Watch* watch_ = nullptr;
    Greedy greedy_;
    Reach reach_;
    Scale scale_;
    Cap cap_;
    double limit_ = 0;
    int32_t longest_ = 1;
    std::vector<double> worth_, cut_worth_, price_;
    std::vector<Run> maximal_, runs_, packed_;
    std::vector<int32_t> new_row_, new_column_;
    std::vector<std::pair<double, int32_t>> order_;
    std::vector<int32_t> scratch_;  // column of each row of a packing, or -1
};

}  // namespace karat::gtm
