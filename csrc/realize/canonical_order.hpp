// The canonical order of a tree's nodes: a head before its daughters, sisters by content.
//
// A realiser must not learn anything from the order in which a file lists the words. Nodes are
// therefore renumbered by content: each is compared by its own key (its word, or its word, tag and
// relation) and then by its daughters, sorted likewise (the ranks of Aho, Hopcroft and Ullman,
// height by height). Only equal subtrees can swap positions, and those are interchangeable.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace karat {

class Canonical {
  public:
    // For a tree of n nodes (heads from 0, the root has -1): `order[i]` is the node at position i.
    void sort(const int32_t* keys, const int32_t* heads, int32_t n, int32_t* order) {
        gather(heads, n);
        rank(keys, n);
        for (int32_t i = 0; i < n; ++i) by_rank(daughters_[i]);
        walk(n, order);
    }

  private:
    void gather(const int32_t* heads, int32_t n) {
        daughters_.assign(n, {});
        for (int32_t i = 0; i < n; ++i)
            if (heads[i] < 0)
                root_ = i;
            else
                daughters_[heads[i]].push_back(i);
        top_down_.assign(1, root_);
        for (size_t at = 0; at < top_down_.size(); ++at)
            for (const int32_t d : daughters_[top_down_[at]]) top_down_.push_back(d);
    }

    // Ranks grow with height; within a height they follow key and daughters' ranks.
    void rank(const int32_t* keys, int32_t n) {
        std::vector<int32_t> height(n, 0);
        int32_t tallest = 0;
        for (size_t at = top_down_.size(); at-- > 0;)
            for (const int32_t d : daughters_[top_down_[at]])
                height[top_down_[at]] = std::max(height[top_down_[at]], height[d] + 1);
        std::vector<std::vector<int32_t>> levels(height[root_] + 1);
        for (const int32_t i : top_down_) levels[height[i]].push_back(i);
        ranks_.assign(n, 0);
        contents_.assign(n, {});
        for (const auto& level : levels) tallest = rank_level(level, keys, tallest);
    }

    int32_t rank_level(std::vector<int32_t> level, const int32_t* keys, int32_t next) {
        for (const int32_t i : level) {
            contents_[i].push_back(keys[i]);
            for (const int32_t d : daughters_[i]) contents_[i].push_back(ranks_[d]);
            std::sort(contents_[i].begin() + 1, contents_[i].end());
        }
        std::sort(level.begin(), level.end(), [&](int32_t a, int32_t b) {
            return contents_[a] != contents_[b] ? contents_[a] < contents_[b] : a < b;
        });
        for (size_t k = 0; k < level.size(); ++k) {
            if (!k || contents_[level[k]] != contents_[level[k - 1]]) ++next;
            ranks_[level[k]] = next;
        }
        return next;
    }

    void by_rank(std::vector<int32_t>& nodes) const {
        std::sort(nodes.begin(), nodes.end(), [&](int32_t a, int32_t b) {
            return ranks_[a] != ranks_[b] ? ranks_[a] < ranks_[b] : a < b;
        });
    }

    void walk(int32_t n, int32_t* order) const {
        std::vector<int32_t> waiting{root_};
        for (int32_t at = 0; at < n; ++at) {
            const int32_t node = waiting.back();
            waiting.pop_back();
            order[at] = node;
            waiting.insert(waiting.end(), daughters_[node].rbegin(), daughters_[node].rend());
        }
    }

    int32_t root_ = 0;
    std::vector<std::vector<int32_t>> daughters_, contents_;
    std::vector<int32_t> top_down_, ranks_;
};

}  // namespace karat
