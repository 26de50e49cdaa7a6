// The most probable segmentation of a sentence into the phrases of a table (Liu, Dahlmeier and Ng
// 2010).
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/elementary_functions.hpp"
#include "paraphrase/table/phrase_table.hpp"

namespace karat::paraphrase {

// A phrase of a sentence: its length in words, and its number in the table (-1: a single unseen
// word).
struct Piece {
    int32_t length, phrase;
};

// Maximises the product of Pr(p) = N(p) / sum N over the phrases; a single word that is not a
// phrase has N = 1/2. Ties are broken by the fewest phrases, then by the longest first phrase, then
// by the longest second phrase, and so on.
class Segmenter {
  public:
    explicit Segmenter(const PhraseTable& table)
        : table_(table), longest_(std::max<int64_t>(table.longest(), 1)),
          log_total_(log_of(std::max(table.total(), unseen))) {}

    // `words` are ids of the table, -1 for words that it does not have.
    const std::vector<Piece>& segment(const int32_t* words, int64_t n) {
        best_.assign(n + 1, Best{});
        for (int64_t i = n; i-- > 0;) best_[i] = from(words, i, n);
        pieces_.clear();
        for (int64_t i = 0; i < n; i += best_[i].piece.length) pieces_.push_back(best_[i].piece);
        return pieces_;
    }

  private:
    static constexpr double unseen = 0.5;
    // The last bits of a sum of logarithms depend on the order of its terms: sums within this
    // relative distance count as equal.
    static constexpr double slack = 1e-12;

    // The best segmentation from one word to the end: its log probability, phrases, first phrase.
    struct Best {
        double log = 0;
        int64_t phrases = 0;
        Piece piece{0, -1};
    };

    Best from(const int32_t* words, int64_t i, int64_t n) const {
        PhraseHash hash;
        Best best;
        const int64_t most = std::min(longest_, n - i);
        for (int64_t length = 1; length <= most && words[i + length - 1] >= 0; ++length) {
            hash.add(words[i + length - 1]);
            const int32_t phrase = table_.find(words + i, length, hash);
            if (phrase >= 0 || length == 1)
                take(best, Piece{static_cast<int32_t>(length), phrase}, i);
        }
        if (!best.phrases) take(best, Piece{1, -1}, i);
        return best;
    }

    void take(Best& best, Piece piece, int64_t i) const {
        const Best& suffix = best_[i + piece.length];
        const double count = piece.phrase < 0 ? unseen : table_.count(piece.phrase);
        const Best candidate{suffix.log + (log_of(count) - log_total_), suffix.phrases + 1, piece};
        if (!best.phrases || better(candidate, best)) best = candidate;
    }

    // Whether a longer first phrase is at least as good as the best so far.
    static bool better(const Best& a, const Best& b) {
        if (std::abs(a.log - b.log) > slack * (1 + std::abs(b.log))) return a.log > b.log;
        return a.phrases <= b.phrases;
    }

    const PhraseTable& table_;
    int64_t longest_;
    double log_total_;
    std::vector<Best> best_;
    std::vector<Piece> pieces_;
};

}  // namespace karat::paraphrase
