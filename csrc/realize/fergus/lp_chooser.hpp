// The LP Chooser: the most likely path through the lattice, composed with an n-gram model.
//
// The lattice is packed (a daughter's arc represents the lattice of its treelet), so the
// composition proceeds bottom-up. A hypothesis is a string of words with its first n - 1 words and
// its last state of the model: all that affects its neighbours. Of hypotheses that agree in these,
// the k best are kept (exact, as in Viterbi's algorithm), and at most `beam` per state. The first n
// - 1 words are scored with the context so far, and again when words are put before them.
//
// The work of a treelet is its arcs times the beam. If that exceeds `most_work`, the beam is
// narrowed, but never below `least_beam`: many best sentences of a head with dozens of daughters
// differ in a few places, and a narrower beam finds most of them too.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/elementary_functions.hpp"
#include "realize/fergus/backoff.hpp"
#include "realize/fergus/lattice.hpp"

namespace karat::fergus {

struct Sentence {
    double score, lm;  // total, and the language model's part (natural log)
    std::vector<int32_t> nodes;
};

template <class Model, class State>
class LpChooser {
  public:
    LpChooser(const Model& model, double weight, int beam, int k)
        : m_(model), weight_(weight * log_of(10.0)), beam_(beam), k_(k),
          n_(std::min(model.order() - 1, most_first)) {}

    // `lattices[i]` is the treelet of node i, whose daughters are `daughters[i]`; heads come before
    // their daughters; `words` are the model's.
    std::vector<Sentence> choose(const std::vector<Lattice>& lattices,
                                 const std::vector<std::vector<int32_t>>& daughters,
                                 const std::vector<int32_t>& words) {
        pool_.clear();
        words_ = &words;
        powers_.assign(1, 1);
        while (powers_.size() <= words.size()) powers_.push_back(powers_.back() * base);
        best_.assign(words.size(), {});
        for (size_t i = words.size(); i-- > 0;) {
            const Hypothesis alone = single(words[i], static_cast<int32_t>(i));
            best_[i] = daughters[i].empty() ? std::vector<int32_t>{put(alone)}
                                            : traverse(lattices[i], daughters[i], put(alone));
        }
        return finish();
    }

  private:
    static constexpr int most_first = 5;
    static constexpr size_t most_work = size_t{1} << 22;
    static constexpr int least_beam = 20;
    static constexpr uint64_t base = 0x9E3779B97F4A7C15ull;

    struct Hypothesis {
        double order = 0, inner = 0, outer = 0;  // outer: of the first words, still provisional
        uint64_t hash = 0;                       // hash of its words: Σ word base^(words after it)
        int32_t first[most_first];
        int32_t firsts = 0, length = 0;
        int32_t before = -1, part = -1, node = -1;  // back pointers
        State last;
        double score = 0;
    };

    int32_t put(const Hypothesis& h) {
        pool_.push_back(h);
        return static_cast<int32_t>(pool_.size()) - 1;
    }

    Hypothesis single(int32_t word, int32_t node) const {
        Hypothesis h;
        State nothing{};
        nothing.length = 0;
        const double p = m_.score(nothing, word, h.last);
        (n_ ? h.outer : h.inner) = p;
        if (n_) h.first[h.firsts++] = word;
        h.length = 1;
        h.node = node;
        h.hash = mixed(static_cast<uint64_t>(spelled(node)));
        h.score = weight_ * p;
        return h;
    }

    std::vector<int32_t> traverse(const Lattice& lattice, const std::vector<int32_t>& daughters,
                                  int32_t head) {
        std::vector<std::vector<Hypothesis>> at(lattice.states);
        std::vector<int32_t> best;
        size_t arc = 0;
        const std::vector<int32_t> only_head{head};
        narrow(lattice.arcs.size());
        for (int32_t s = 0; s < lattice.states; ++s) {
            if (s) best = keep(std::exchange(at[s], {}), s + 1 == lattice.states ? k_ : 1);
            for (; arc < lattice.arcs.size() && lattice.arcs[arc].from == s; ++arc) {
                const Arc& a = lattice.arcs[arc];
                const auto& parts = a.item < 0 ? only_head : best_[daughters[a.item]];
                combine(best, parts, a.score, !s, at[a.to]);
            }
        }
        return best;
    }

    void narrow(size_t arcs) {
        const int affordable = static_cast<int>(most_work / arcs);
        now_ = std::min(beam_, std::max(affordable, least_beam));
    }

    // Every pair of a hypothesis and a part; with a beam, only pairs with a low combined rank.
    void combine(const std::vector<int32_t>& before, const std::vector<int32_t>& parts,
                 double cost, bool at_start, std::vector<Hypothesis>& to) const {
        if (at_start) {
            for (const int32_t part : parts) {
                Hypothesis h = pool_[part];
                h.before = -1;
                h.part = part;
                h.order += cost;
                h.score += cost;
                to.push_back(h);
            }
            return;
        }
        for (size_t i = 0; i < before.size(); ++i)
            for (size_t j = 0; j < parts.size(); ++j) {
                if (now_ && (i + 1) * (j + 1) > static_cast<size_t>(now_)) break;
                to.push_back(concatenate(before[i], parts[j], cost));
            }
    }

    Hypothesis concatenate(int32_t before, int32_t part, double cost) const {
        const Hypothesis &a = pool_[before], &b = pool_[part];
        Hypothesis h = a;
        h.before = before;
        h.part = part;
        h.node = -1;
        h.order += b.order + cost;
        h.inner += b.inner;
        for (int32_t i = 0; i < b.firsts; ++i) {
            State next;
            const double p = m_.score(h.last, b.first[i], next);
            h.last = next;
            if (h.firsts < n_) {
                h.first[h.firsts++] = b.first[i];
                h.outer += p;
            } else {
                h.inner += p;
            }
        }
        if (b.length > b.firsts || !n_) h.last = b.last;
        h.length = a.length + b.length;
        h.hash = a.hash * powers_[b.length] + b.hash;
        h.score = h.order + weight_ * (h.inner + h.outer);
        return h;
    }

    // The best hypotheses, at most the beam or `least`; among equals the first found comes first.
    std::vector<int32_t> keep(const std::vector<Hypothesis>& all, int least) {
        const auto worse = [&](int32_t a, int32_t b) {
            return all[a].score != all[b].score ? all[a].score < all[b].score : a > b;
        };
        std::vector<int32_t> heap(all.size()), best;
        for (size_t i = 0; i < heap.size(); ++i) heap[i] = static_cast<int32_t>(i);
        std::make_heap(heap.begin(), heap.end(), worse);
        alike_.clear();
        by_words_.clear();
        const auto most = now_ ? static_cast<size_t>(std::max(now_, least)) : all.size();
        for (; !heap.empty() && best.size() < most; heap.pop_back()) {
            std::pop_heap(heap.begin(), heap.end(), worse);
            if (is_new(all[heap.back()])) best.push_back(note(all[heap.back()]));
        }
        return best;
    }

    // Whether fewer than k equivalent hypotheses exist, and none has the same words (equal words
    // may swap positions).
    bool is_new(const Hypothesis& h) const {
        const auto alike = alike_.find(outside(h));
        if (alike != alike_.end() && alike->second >= k_) return false;
        const auto candidates = by_words_.equal_range(h.hash);
        for (auto at = candidates.first; at != candidates.second; ++at)
            if (spell_words(h) == spell_words(pool_[at->second])) return false;
        return true;
    }

    int32_t note(const Hypothesis& h) {
        const int32_t place = put(h);
        ++alike_[outside(h)];
        by_words_.emplace(h.hash, place);
        return place;
    }

    // A key of all that affects its neighbours: its first words and its last state.
    static uint64_t outside(const Hypothesis& h) {
        uint64_t hash = joined(static_cast<uint64_t>(h.firsts), h.last.length);
        for (int32_t i = 0; i < h.firsts; ++i) hash = joined(hash, h.first[i]);
        for (int32_t i = 0; i < h.last.length; ++i) hash = joined(hash, h.last.words[i]);
        return hash;
    }

    std::vector<int32_t> spell_words(const Hypothesis& h) const {
        std::vector<int32_t> nodes = spell(h);
        for (int32_t& node : nodes) node = spelled(node);
        return nodes;
    }

    // Words that the model does not know are distinguished by their nodes.
    int32_t spelled(int32_t node) const {
        const int32_t word = (*words_)[node];
        return word == m_.unk() ? -1 - node : word;
    }

    std::vector<Sentence> finish() {
        std::vector<Sentence> sentences;
        for (const int32_t root : best_[0]) {
            const Hypothesis& h = pool_[root];
            State state = m_.begin(), next;
            double lm = h.inner;
            for (int32_t i = 0; i < h.firsts; ++i) {
                lm += m_.score(state, h.first[i], next);
                state = next;
            }
            lm += m_.score(h.length > h.firsts ? h.last : state, m_.eos(), next);
            Sentence s{h.order + weight_ * lm, weight_ * lm, {}};
            s.nodes = spell(h);
            sentences.push_back(std::move(s));
        }
        std::stable_sort(sentences.begin(), sentences.end(),
                         [](const Sentence& a, const Sentence& b) { return a.score > b.score; });
        if (sentences.size() > static_cast<size_t>(k_)) sentences.resize(k_);
        return sentences;
    }

    std::vector<int32_t> spell(const Hypothesis& root) const {
        std::vector<const Hypothesis*> waiting{&root};
        std::vector<int32_t> nodes;
        while (!waiting.empty()) {
            const Hypothesis& h = *waiting.back();
            waiting.pop_back();
            if (h.part < 0) {
                nodes.push_back(h.node);
                continue;
            }
            waiting.push_back(&pool_[h.part]);
            if (h.before >= 0) waiting.push_back(&pool_[h.before]);
        }
        return nodes;
    }

    const Model& m_;
    double weight_;
    int beam_, k_, n_;
    int now_ = 0;  // beam of the current treelet
    std::vector<uint64_t> powers_;
    std::unordered_map<uint64_t, int> alike_;  // number of kept hypotheses per key
    std::unordered_multimap<uint64_t, int32_t> by_words_;
    const std::vector<int32_t>* words_ = nullptr;
    std::vector<Hypothesis> pool_;
    std::vector<std::vector<int32_t>> best_;
};

}  // namespace karat::fergus
