// The LP Chooser: the most likely path through the lattice, composed with an n-gram model.
//
// The lattice is packed (a daughter's arc stands for her treelet's lattice), so the composition
// goes from the leaves up. A hypothesis is a string of words with its first n - 1 words and its
// last state of the model: all that its neighbours can see. Of those that look the same from
// outside the k best are kept (exactly Viterbi's rule), and of all at a state at most `beam`. The
// words of the first n - 1 places are scored with what is known, and anew when something comes
// before them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lattice.hpp"

namespace karat {

struct Sentence {
    double score, lm;  // the whole, and its part of the language model (natural log)
    std::vector<int32_t> nodes;
};

template <class Model, class State>
class LpChooser {
  public:
    LpChooser(const Model& model, double weight, int beam, int k)
        : m_(model), weight_(weight * std::log(10.0)), beam_(beam), k_(k),
          n_(std::min(model.order() - 1, most_first)) {}

    // `lattices[i]` is the treelet of node i, whose daughters are `daughters[i]`; heads come before
    // their daughters; `words` are the model's.
    std::vector<Sentence> choose(const std::vector<Lattice>& lattices,
                                 const std::vector<std::vector<int32_t>>& daughters,
                                 const std::vector<int32_t>& words) {
        pool_.clear();
        words_ = &words;
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

    struct Hypothesis {
        double order = 0, inner = 0, outer = 0;  // outer: the first words', not yet certain
        int32_t first[most_first];
        int32_t firsts = 0, length = 0;
        int32_t before = -1, part = -1, node = -1;  // how it was made
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
        h.score = weight_ * p;
        return h;
    }

    std::vector<int32_t> traverse(const Lattice& lattice, const std::vector<int32_t>& daughters,
                                  int32_t head) {
        std::vector<std::vector<Hypothesis>> at(lattice.states);
        std::vector<std::vector<int32_t>> kept(lattice.states);
        size_t arc = 0;
        const std::vector<int32_t> only_head{head};
        for (int32_t s = 0; s < lattice.states; ++s) {
            if (s) kept[s] = keep(at[s]);
            for (; arc < lattice.arcs.size() && lattice.arcs[arc].from == s; ++arc) {
                const Arc& a = lattice.arcs[arc];
                const auto& parts = a.item < 0 ? only_head : best_[daughters[a.item]];
                combine(kept[s], parts, a.score, !s, at[a.to]);
            }
        }
        return kept.back();
    }

    // Every pair of a hypothesis and a part, or with a beam those whose ranks are low together.
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
                if (beam_ && (i + 1) * (j + 1) > static_cast<size_t>(beam_)) break;
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
        h.score = h.order + weight_ * (h.inner + h.outer);
        return h;
    }

    std::vector<int32_t> keep(std::vector<Hypothesis>& all) {
        std::vector<int32_t> order(all.size()), kept;
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            return all[a].score > all[b].score;
        });
        for (const int32_t i : order) {
            if (beam_ && kept.size() >= static_cast<size_t>(std::max(beam_, k_))) break;
            if (is_new(all[i], kept)) kept.push_back(put(all[i]));
        }
        return kept;
    }

    // Fewer than k look like it, and none has the same words (equal words may change places).
    bool is_new(const Hypothesis& h, const std::vector<int32_t>& kept) const {
        int alike = 0;
        for (const int32_t other : kept) {
            if (!looks_alike(h, pool_[other])) continue;
            if (++alike == k_ || spell_words(h) == spell_words(pool_[other])) return false;
        }
        return true;
    }

    // Words that the model does not know are told apart by their nodes.
    std::vector<int32_t> spell_words(const Hypothesis& h) const {
        std::vector<int32_t> found = spell(h);
        for (int32_t& node : found)
            node = (*words_)[node] == m_.unk() ? -1 - node : (*words_)[node];
        return found;
    }

    static bool looks_alike(const Hypothesis& a, const Hypothesis& b) {
        if (a.firsts != b.firsts || a.last.length != b.last.length) return false;
        return std::equal(a.first, a.first + a.firsts, b.first) &&
               std::equal(a.last.words, a.last.words + a.last.length, b.last.words);
    }

    std::vector<Sentence> finish() {
        std::vector<Sentence> found;
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
            found.push_back(std::move(s));
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Sentence& a, const Sentence& b) { return a.score > b.score; });
        if (found.size() > static_cast<size_t>(k_)) found.resize(k_);
        return found;
    }

    std::vector<int32_t> spell(const Hypothesis& whole) const {
        std::vector<const Hypothesis*> waiting{&whole};
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
    const std::vector<int32_t>* words_ = nullptr;
    std::vector<Hypothesis> pool_;
    std::vector<std::vector<int32_t>> best_;
};

}  // namespace karat
