// Paraphrases of a sentence: a search through all ways to keep its words or to rewrite its phrases.
//
// From left to right, each word is kept or a phrase is replaced by one that the table has for it:
//
//     score = log10 Pr(P) + weight * sum log10 Pr(e'|e) - length(P) * log10 Pr(R) / (length(R) + 1)
//
// The last term offsets the cost of a word by the average cost of a word of the original R, so that
// dropping words is no gain by itself. Hypotheses compete only with hypotheses that have the same
// number of changed words, and the results are taken from these classes in turn, so that they
// include both small and large changes, whatever the language model prefers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "core/elementary_functions.hpp"
#include "core/numbering.hpp"
#include "lm/model.hpp"
#include "paraphrase/table/phrase_table.hpp"

namespace karat::paraphrase {

struct SearchRules {
    double weight;    // of log10 Pr(e'|e)
    int32_t beam;     // hypotheses kept per position and number of changed words
    int32_t changes;  // this many changed words or more are one class
};

// A sentence: its word ids in the vocabulary of phrases (or -1) and in the vocabulary of rewrites,
// extended with words that no rewrite has; `lm` maps the latter to ids of the language model.
struct Sentence {
    const std::vector<int32_t>& source;
    const std::vector<int32_t>& self_ids;
    const int32_t* lm;
    int32_t size() const { return static_cast<int32_t>(self_ids.size()); }
};

// A number of words of the original, and the rewrite that replaces them; -1: one word is kept.
struct Step {
    int32_t length, edge;
};

struct Rewriting {
    double score;
    int32_t changes;
    std::vector<Step> steps;
};

// All hypotheses of a sentence: nodes by place, state of the language model and changed words. Node
// 0 is the beginning.
class Lattice {
  public:
    struct Arc {
        int32_t from, edge;
        double score;
    };
    struct Node {
        lm::State state;
        int32_t place, changes;
        double best;
        std::vector<Arc> arcs;  // from the nodes before, the best first
    };

    Lattice(const PhraseTable& table, const lm::Model& model, const SearchRules& rules)
        : table_(table), model_(model), rules_(rules) {}

    const Node& node(int32_t i) const { return nodes_[i]; }
    // The final node of the hypotheses with a number of changed words.
    const Node& goal(int32_t changes) const { return goals_[changes]; }
    int32_t length(const Node& to, const Arc& arc) const {
        return to.place - nodes_[arc.from].place;
    }

    void fill(const Sentence& sentence) {
        sentence_ = &sentence;
        word_ = grid(-original() / (sentence.size() + 1));
        nodes_.clear();
        waiting_.assign(sentence.size() + 1, {});
        index_.assign(sentence.size() + 1, {});
        waiting_[0].push_back({model_.begin(), 0, 0, 0, {}});
        for (int32_t place = 0; place < sentence.size(); ++place) {
            const int32_t first = settle(place);
            const auto last = static_cast<int32_t>(nodes_.size());
            for (int32_t node = first; node < last; ++node) leave(node, place);
        }
        finish(settle(sentence.size()));
    }

  private:
    struct Key {
        lm::State state;
        int32_t changes;
        bool operator==(const Key& other) const {
            return changes == other.changes && state == other.state;
        }
    };
    struct KeyHash {
        size_t operator()(const Key& key) const {
            PhraseHash hash;
            hash.add(key.changes);
            for (int32_t i = 0; i < key.state.length; ++i) hash.add(key.state.words[i]);
            return static_cast<size_t>(hash.state ^ hash.state >> 32);
        }
    };

    // On a grid, sums are exact in any order, so ties are the same on every machine.
    static double grid(double x) { return std::nearbyint(x * 0x1p20) * 0x1p-20; }

    double original() const {
        lm::State state = model_.begin();
        double sum = 0;
        for (const int32_t word : sentence_->self_ids)
            sum += model_.score(state, sentence_->lm[word], state);
        return sum + model_.score(state, lm::EOS, state);
    }

    // Turns the best waiting hypotheses of each class at a position into nodes and returns the
    // first node's number; discards the others.
    int32_t settle(int32_t place) {
        std::vector<Node>& nodes = waiting_[place];
        std::stable_sort(nodes.begin(), nodes.end(),
                         [](const Node& a, const Node& b) { return a.best > b.best; });
        const auto first = static_cast<int32_t>(nodes_.size());
        std::vector<int32_t> held(rules_.changes + 1);
        for (Node& node : nodes) {
            if (held[node.changes]++ >= rules_.beam) continue;
            shorten(node);
            nodes_.push_back(std::move(node));
        }
        std::vector<Node>().swap(nodes);
        index_[place] = {};
        return first;
    }
    void shorten(Node& node) {
        std::stable_sort(node.arcs.begin(), node.arcs.end(), [this](const Arc& a, const Arc& b) {
            return nodes_[a.from].best + a.score > nodes_[b.from].best + b.score;
        });
        if (node.arcs.size() > static_cast<size_t>(rules_.beam)) node.arcs.resize(rules_.beam);
        node.arcs.shrink_to_fit();
    }

    // All steps from a node: the next word is kept, or a phrase that begins here is rewritten.
    void leave(int32_t from, int32_t place) {
        const auto& source = sentence_->source;
        step(from, place + 1, -1, &sentence_->self_ids[place], 1, 0, 0);
        PhraseHash hash;
        const int64_t most = std::min<int64_t>(table_.longest(), sentence_->size() - place);
        for (int32_t length = 1; length <= most && source[place + length - 1] >= 0; ++length) {
            hash.add(source[place + length - 1]);
            const int32_t phrase = table_.find(&source[place], length, hash);
            if (phrase >= 0) rewrite(from, place, length, phrase);
        }
    }
    void rewrite(int32_t from, int32_t place, int32_t length, int32_t phrase) {
        for (int64_t edge = table_.first_edge(phrase); edge < table_.last_edge(phrase); ++edge) {
            const int32_t pivot = table_.pivot(edge);
            const int32_t* words = table_.pivots().begin(pivot);
            const auto n = static_cast<int32_t>(table_.pivots().length(pivot));
            const int32_t changes = changed(&sentence_->self_ids[place], length, words, n);
            const double cost = rules_.weight * log10_of(table_.probability(edge));
            step(from, place + length, static_cast<int32_t>(edge), words, n, changes, cost);
        }
    }

    // The larger number of words (with repetition) of either phrase that the other does not have.
    static int32_t changed(const int32_t* a, int32_t n, const int32_t* b, int32_t m) {
        std::vector<int32_t> unmatched(b, b + m);
        int32_t common = 0;
        for (int32_t i = 0; i < n; ++i) {
            const auto at = std::find(unmatched.begin(), unmatched.end(), a[i]);
            if (at != unmatched.end()) unmatched.erase(at), ++common;
        }
        return std::max(n, m) - common;
    }

    void step(int32_t from, int32_t place, int32_t edge, const int32_t* words, int32_t n,
              int32_t changes, double cost) {
        lm::State state = nodes_[from].state;
        for (int32_t i = 0; i < n; ++i)
            cost += model_.score(state, sentence_->lm[words[i]], state) + word_;
        const int32_t sum = std::min(nodes_[from].changes + changes, rules_.changes);
        join(state, place, sum, Arc{from, edge, grid(cost)});
    }
    // Merges hypotheses that no later word can distinguish into one node.
    void join(const lm::State& state, int32_t place, int32_t changes, const Arc& arc) {
        const double score = nodes_[arc.from].best + arc.score;
        std::vector<Node>& nodes = waiting_[place];
        const auto next = static_cast<int32_t>(nodes.size());
        const auto [at, is_new] = index_[place].emplace(Key{state, changes}, next);
        if (is_new) nodes.push_back({state, place, changes, score, {}});
        Node& node = nodes[at->second];
        node.best = std::max(node.best, score);
        node.arcs.push_back(arc);
    }

    void finish(int32_t first) {
        const int32_t end = sentence_->size();
        goals_.assign(rules_.changes + 1, Node{model_.empty(), end, 0, -HUGE_VAL, {}});
        for (auto from = first; from < static_cast<int32_t>(nodes_.size()); ++from) {
            lm::State state = nodes_[from].state;
            const double p = grid(model_.score(state, lm::EOS, state));
            Node& goal = goals_[nodes_[from].changes];
            goal.best = std::max(goal.best, nodes_[from].best + p);
            goal.arcs.push_back({from, -1, p});
        }
    }

    const PhraseTable& table_;
    const lm::Model& model_;
    SearchRules rules_;
    const Sentence* sentence_ = nullptr;
    double word_ = 0;
    std::vector<Node> nodes_, goals_;
    std::vector<std::vector<Node>> waiting_;  // at each place
    std::vector<std::unordered_map<Key, int32_t, KeyHash>> index_;
};

// Sequences of words as numbers, grown at their front; 0 is the empty one.
class Endings {
  public:
    void reset() { numbers_.reset(1 << 10); }
    int32_t before(int32_t word, int32_t ending) {
        return numbers_.add(static_cast<uint64_t>(ending) << 32 | static_cast<uint32_t>(word));
    }

  private:
    Numbering numbers_;
};

// Enumerates the hypotheses of one class, best first, each sequence of words once. The search runs
// backwards from the end; the best score before each node is known exactly, so no expansion is
// wasted.
class Ranked {
  public:
    Ranked(const PhraseTable& table, const Lattice& lattice, const Sentence& sentence,
           int32_t changes, Endings& endings)
        : table_(table), lattice_(lattice), sentence_(sentence), changes_(changes),
          endings_(endings) {
        visited_.reset(1 << 8);
        extend(lattice.goal(changes), Partial{0, 0, -1, -1, -1, 0});
    }

    // The next rewriting and the number of its word sequence; false at the end.
    bool next(Rewriting& out, int32_t& words) {
        while (!queue_.empty() && partials_.size() < most) {
            const int32_t at = queue_.top().partial;
            const double score = queue_.top().score;
            queue_.pop();
            const Partial partial = partials_[at];
            if (!first_time(partial)) continue;
            if (partial.node == 0) {
                out = {score, changes_, steps(at)};
                words = partial.ending;
                return true;
            }
            extend(lattice_.node(partial.node), partial, at);
        }
        return false;
    }

  private:
    static constexpr size_t most = 1 << 20;  // limit of partial paths, even with many ties

    // A path from a node to the end: its score, its words, its first step and what follows it.
    struct Partial {
        double score;
        int32_t ending, node, after, edge, length;
    };
    // Among equals the newest comes first: it is the longest, and nearest to the beginning.
    struct Entry {
        double score;
        int32_t partial;
        bool operator<(const Entry& other) const {
            return score != other.score ? score < other.score : partial < other.partial;
        }
    };

    bool first_time(const Partial& partial) {
        const int32_t before = visited_.count();
        return visited_.add(static_cast<uint64_t>(partial.node) << 32 |
                            static_cast<uint32_t>(partial.ending)) > before;
    }

    void extend(const Lattice::Node& to, const Partial& partial, int32_t at = -1) {
        for (const Lattice::Arc& arc : to.arcs) {
            const int32_t length = lattice_.length(to, arc);
            const double score = partial.score + arc.score;
            const int32_t ending = length ? written(arc, to.place, partial.ending) : partial.ending;
            queue_.push({lattice_.node(arc.from).best + score,
                         static_cast<int32_t>(partials_.size())});
            partials_.push_back({score, ending, arc.from, at, arc.edge, length});
        }
    }
    int32_t written(const Lattice::Arc& arc, int32_t place, int32_t ending) {
        if (arc.edge < 0) return endings_.before(sentence_.self_ids[place - 1], ending);
        const int32_t pivot = table_.pivot(arc.edge);
        const int32_t* words = table_.pivots().begin(pivot);
        for (int64_t i = table_.pivots().length(pivot); i-- > 0;)
            ending = endings_.before(words[i], ending);
        return ending;
    }
    std::vector<Step> steps(int32_t at) const {
        std::vector<Step> result;
        for (; at >= 0; at = partials_[at].after)
            if (partials_[at].length) result.push_back({partials_[at].length, partials_[at].edge});
        return result;
    }

    const PhraseTable& table_;
    const Lattice& lattice_;
    const Sentence& sentence_;
    int32_t changes_;
    Endings& endings_;
    Numbering visited_;
    std::vector<Partial> partials_;
    std::priority_queue<Entry> queue_;
};

class Paraphraser {
  public:
    Paraphraser(const PhraseTable& table, const lm::Model& model, SearchRules rules)
        : table_(table), rules_(rules), lattice_(table, model, rules) {}

    // At most `most` distinct rewritings, excluding the original: the best of each class in turn,
    // fewest changed words first.
    std::vector<Rewriting> search(const Sentence& sentence, size_t most) {
        lattice_.fill(sentence);
        endings_.reset();
        chosen_texts_.reset(most);
        int32_t original = 0;
        for (int32_t i = sentence.size(); i-- > 0;)
            original = endings_.before(sentence.self_ids[i], original);
        chosen_texts_.add(static_cast<uint64_t>(original));
        std::vector<Ranked> classes;
        for (int32_t c = 0; c <= rules_.changes; ++c)
            classes.emplace_back(table_, lattice_, sentence, c, endings_);
        return in_turn(classes, most);
    }

  private:
    std::vector<Rewriting> in_turn(std::vector<Ranked>& classes, size_t most) {
        std::vector<Rewriting> rewritings;
        for (bool any = true; any && rewritings.size() < most;) {
            any = false;
            for (Ranked& ranked : classes)
                if (rewritings.size() < most && take(ranked, rewritings)) any = true;
        }
        return rewritings;
    }
    // The next rewriting of a class that no other class has returned.
    bool take(Ranked& ranked, std::vector<Rewriting>& rewritings) {
        Rewriting next;
        int32_t words;
        while (ranked.next(next, words)) {
            const int32_t before = chosen_texts_.count();
            if (chosen_texts_.add(static_cast<uint64_t>(words)) <= before) continue;
            rewritings.push_back(std::move(next));
            return true;
        }
        return false;
    }

    const PhraseTable& table_;
    SearchRules rules_;
    Lattice lattice_;
    Endings endings_;
    Numbering chosen_texts_;
};

}  // namespace karat::paraphrase
