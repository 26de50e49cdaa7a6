// Bags of pivot n-grams (Liu, Dahlmeier and Ng 2010): the expected n-grams of a confusion network.
//
// The network has the translations of each phrase of a sentence as parallel edges, and the phrases
// in sequence. The weight of an n-gram across several phrases is the product of the probabilities
// of its edges, summed over all paths with the same n-gram.
//
// An n-gram ends in one phrase only. So a pass over the phrases carries the n-grams that end with
// the previous phrase, each once with its weight, and every edge extends them. Their number depends
// on the neighbourhood alone, so time is linear in the length of the sentence.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/numbering.hpp"
#include "paraphrase/table/phrase_table.hpp"
#include "paraphrase/table/segmentation.hpp"

namespace karat::paraphrase {

struct BagRules {
    int order;         // the longest n-grams
    double edge;       // edges must be more probable than this; the best is always kept
    double ngram;      // n-grams must weigh more than this
    bool renormalise;  // whether the kept edges are renormalised to 1
};

// N-grams as the nodes of a tree, numbered from 1: each consists of the number of its prefix (all
// words but the last) and its last word. 0 is the empty n-gram.
class Grams {
  public:
    void reset(size_t expected) {
        nodes_.reset(expected);
        last_.assign(1, Node{0, -1, 0});
    }
    int32_t child(int32_t gram, int32_t word) {
        const int32_t number =
            nodes_.add(static_cast<uint64_t>(gram) << 32 | static_cast<uint32_t>(word));
        if (static_cast<size_t>(number) == last_.size())
            last_.push_back({gram, word, last_[gram].order + 1});
        return number;
    }
    int32_t count() const { return nodes_.count(); }
    int32_t order(int32_t gram) const { return last_[gram].order; }

    // The words of an n-gram.
    std::vector<int32_t> words(int32_t gram) const {
        std::vector<int32_t> words_of_gram(order(gram));
        for (auto at = words_of_gram.rbegin(); at != words_of_gram.rend();
             ++at, gram = last_[gram].shorter)
            *at = last_[gram].word;
        return words_of_gram;
    }

  private:
    struct Node {
        int32_t shorter, word, order;
    };
    Numbering nodes_;
    std::vector<Node> last_;
};

// One bag: weights by the number of the n-gram.
using Weights = std::vector<double>;

class Bags {
  public:
    // The maximum number of n-grams in one phrase; only a table with very many translations and no
    // pruning exceeds it.
    static constexpr int64_t most = 1 << 18;

    Bags(const PhraseTable& table, BagRules rules) : table_(table), rules_(rules) {}

    // Clears all n-grams.
    void reset(size_t expected) { grams_.reset(expected); }
    const Grams& grams() const { return grams_; }

    // The bag of a sentence; `self_ids` are the pivot words that replace its unseen words. Returns
    // false if one phrase has too many n-grams.
    bool fill(const std::vector<Piece>& pieces, const int32_t* self_ids, Weights& weights) {
        weights.assign(static_cast<size_t>(grams_.count()) + 1, 0.0);
        ends_.clear();
        for (const Piece& piece : pieces) {
            edges(piece, self_ids);
            if (static_cast<int64_t>(ends_.size() + 1) * static_cast<int64_t>(edges_.size()) > most)
                return false;
            next_.clear();
            for (const Edge& edge : edges_) {
                inside(edge, weights);
                across(edge, weights);
            }
            ends_.swap(next_);
            for (const End& end : ends_) place_[end.gram] = 0;
            self_ids += piece.length;
        }
        return true;
    }

    bool is_counted(double weight) const { return weight > rules_.ngram; }

    // For each order: the common weight, the weight of the first bag, and the weight of the second.
    void compare(const Weights& a, const Weights& b, double* out) const {
        std::fill(out, out + 3 * rules_.order, 0.0);
        for (size_t gram = 1; gram < std::max(a.size(), b.size()); ++gram) {
            const double weight_a = weight(a, gram), weight_b = weight(b, gram);
            double* const row = out + 3 * (grams_.order(static_cast<int32_t>(gram)) - 1);
            row[0] += std::min(weight_a, weight_b);
            row[1] += weight_a;
            row[2] += weight_b;
        }
    }

  private:
    struct Edge {
        const int32_t* words;
        int64_t length;
        double probability;
    };
    // An n-gram, shorter than the longest, that ends with a phrase.
    struct End {
        int32_t gram;
        double weight;
    };

    double weight(const Weights& bag, size_t gram) const {
        return gram < bag.size() && is_counted(bag[gram]) ? bag[gram] : 0.0;
    }

    void edges(const Piece& piece, const int32_t* self_ids) {
        edges_.clear();
        if (piece.phrase < 0) {
            edges_.push_back({self_ids, 1, 1.0});
            return;
        }
        const int64_t first = table_.first_edge(piece.phrase);
        const int64_t last = table_.last_edge(piece.phrase);
        double sum = 0;
        for (int64_t k = first; k < last; ++k) {
            const double p = table_.probability(k);
            if (k > first && p <= rules_.edge) break;  // probabilities are in descending order
            const int32_t pivot = table_.pivot(k);
            edges_.push_back({table_.pivots().begin(pivot), table_.pivots().length(pivot), p});
            sum += p;
        }
        if (rules_.renormalise)
            for (Edge& edge : edges_) edge.probability /= sum;
    }

    int32_t grow(int32_t gram, int32_t word, double weight, Weights& weights) {
        const int32_t longer = grams_.child(gram, word);
        if (static_cast<size_t>(longer) >= weights.size()) weights.resize(longer + 1, 0.0);
        weights[longer] += weight;
        return longer;
    }

    // The n-grams within one edge.
    void inside(const Edge& edge, Weights& weights) {
        for (int64_t from = 0; from < edge.length; ++from) {
            const int64_t to = std::min(edge.length, from + rules_.order);
            int32_t gram = 0;
            for (int64_t k = from; k < to; ++k)
                gram = grow(gram, edge.words[k], edge.probability, weights);
            if (to == edge.length) end(gram, edge.probability);
        }
    }

    // The n-grams that began in an earlier phrase.
    void across(const Edge& edge, Weights& weights) {
        for (const End& before : ends_) {
            const int64_t room = rules_.order - grams_.order(before.gram);
            const int64_t to = std::min(edge.length, room);
            const double weight = before.weight * edge.probability;
            int32_t gram = before.gram;
            for (int64_t k = 0; k < to; ++k) gram = grow(gram, edge.words[k], weight, weights);
            if (to == edge.length) end(gram, weight);
        }
    }

    void end(int32_t gram, double weight) {
        if (grams_.order(gram) >= rules_.order) return;
        if (static_cast<size_t>(gram) >= place_.size()) place_.resize(gram + 1, 0);
        int32_t& place = place_[gram];
        if (!place) {
            next_.push_back({gram, 0.0});
            place = static_cast<int32_t>(next_.size());
        }
        next_[place - 1].weight += weight;
    }

    const PhraseTable& table_;
    BagRules rules_;
    Grams grams_;
    std::vector<Edge> edges_;
    std::vector<End> ends_, next_;
    std::vector<int32_t> place_;  // by n-gram: its index in `next_`, from 1
};

}  // namespace karat::paraphrase
