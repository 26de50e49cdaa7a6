// One alignment from two (Och & Ney 2003; Koehn, Och & Marcu 2003).
//
// grow-diag-final-and: start with the links in both alignments; add neighbouring links (including
// diagonal ones) from either alignment that link a word without links; finally add links from the
// first and then the second alignment if both words have no links. Links are processed in the order
// of their source words, then of their pivot words.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace karat::paraphrase {

class Symmetrizer {
  public:
    enum class Rule { intersection, united, grow_diag, grow_diag_final_and };

    // The links of one sentence pair as (source, pivot) pairs that lie in n x m cells.
    struct Links {
        const int32_t *source, *pivot;
        int64_t size;
    };

    void sentence(Rule rule, int64_t n, int64_t m, const Links& first, const Links& second) {
        n_ = n;
        m_ = m;
        votes_.assign(n * m, 0);
        chosen_.assign(n * m, 0);
        source_used_.assign(n, 0);
        pivot_used_.assign(m, 0);
        vote(first, 1);
        vote(second, 2);
        for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < m; ++j)
                if (votes_[i * m + j] == 3 || (rule == Rule::united && votes_[i * m + j]))
                    choose(i, j);
        if (rule == Rule::grow_diag || rule == Rule::grow_diag_final_and)
            while (grow()) {
            }
        if (rule != Rule::grow_diag_final_and) return;
        finish(1);
        finish(2);
    }

    void take(std::vector<int32_t>& source, std::vector<int32_t>& pivot) const {
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = 0; j < m_; ++j) {
                if (!chosen_[i * m_ + j]) continue;
                source.push_back(static_cast<int32_t>(i));
                pivot.push_back(static_cast<int32_t>(j));
            }
    }

  private:
    void vote(const Links& links, uint8_t who) {
        for (int64_t k = 0; k < links.size; ++k)
            votes_[links.source[k] * m_ + links.pivot[k]] |= who;
    }

    void choose(int64_t i, int64_t j) {
        chosen_[i * m_ + j] = 1;
        source_used_[i] = pivot_used_[j] = 1;
    }

    bool grow() {
        bool grown = false;
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = 0; j < m_; ++j)
                if (chosen_[i * m_ + j]) grown |= grow_from(i, j);
        return grown;
    }

    bool grow_from(int64_t i, int64_t j) {
        constexpr int steps[8][2] = {{-1, 0}, {0, -1}, {1, 0},  {0, 1},
                                     {-1, -1}, {-1, 1}, {1, -1}, {1, 1}};
        bool grown = false;
        for (const auto& step : steps) {
            const int64_t a = i + step[0], b = j + step[1];
            if (a < 0 || b < 0 || a >= n_ || b >= m_ || !votes_[a * m_ + b]) continue;
            if (chosen_[a * m_ + b] || (source_used_[a] && pivot_used_[b])) continue;
            choose(a, b);
            grown = true;
        }
        return grown;
    }

    void finish(uint8_t who) {
        for (int64_t i = 0; i < n_; ++i)
            for (int64_t j = 0; j < m_; ++j)
                if ((votes_[i * m_ + j] & who) && !source_used_[i] && !pivot_used_[j]) choose(i, j);
    }

    int64_t n_ = 0, m_ = 0;
    std::vector<uint8_t> votes_, chosen_, source_used_, pivot_used_;
};

}  // namespace karat::paraphrase
