// A phrase table that keeps its arrays alive, sentences as ids of its words, and regular checks for
// interrupts; other bindings use them too.
#pragma once
#include "core/bind.hpp"
#include "core/watch.hpp"
#include "paraphrase/table/phrase_table.hpp"

namespace karat::paraphrase {

inline Phrases phrases_of(const Ids& ids, const Offsets& offsets) {
    if (!offsets.shape(0)) throw std::invalid_argument("the phrases have no offsets");
    return {{ids.data(), offsets.data()}, static_cast<int64_t>(offsets.shape(0)) - 1};
}

// A phrase table that keeps its arrays alive.
struct PyPhraseTable {
    Ids ids;
    Offsets offsets;
    Numbers counts;
    Ids slots;
    Offsets edge_offsets;
    Ids edge_pivots;
    Numbers probabilities;
    Ids pivot_ids;
    Offsets pivot_offsets;
    int64_t pivot_words;
    PhraseTable table;

    PyPhraseTable(Ids i, Offsets o, Numbers c, Ids s, Offsets eo, Ids ep, Numbers p, Ids pi,
                  Offsets po, int64_t words, int64_t n_pivot, nb::object check)
        : PyPhraseTable(i, o, c, s, eo, ep, p, pi, po, words, n_pivot, Watch(Poll{check})) {}

  private:
    PyPhraseTable(Ids i, Offsets o, Numbers c, Ids s, Offsets eo, Ids ep, Numbers p, Ids pi,
                  Offsets po, int64_t words, int64_t n_pivot, Watch watch)
        : ids(i), offsets(o), counts(c), slots(s), edge_offsets(eo), edge_pivots(ep),
          probabilities(p), pivot_ids(pi), pivot_offsets(po), pivot_words(n_pivot),
          table(fitting(), i.shape(0), words, c.data(),
                {eo.data(), ep.data(), p.data(), ep.shape(0)}, phrases_of(pi, po), pi.shape(0),
                n_pivot, s.data(), s.shape(0), watch) {}

    // The phrases, after checking that the arrays that go with them have the same length.
    Phrases fitting() const {
        const Phrases phrases = phrases_of(ids, offsets);
        const size_t n = offsets.shape(0);
        if (n > INT32_MAX || counts.shape(0) != n - 1 || edge_offsets.shape(0) != n ||
            probabilities.shape(0) != edge_pivots.shape(0))
            throw std::invalid_argument("the arrays of the phrases differ in length");
        return phrases;
    }
};

// Sentences as ids of a vocabulary, and the ids of its words in the table: `source` among the words
// of phrases (or -1), `self_ids` among the pivot words.
class Sentences {
  public:
    Sentences(const Ids& ids, const Offsets& offsets, const Ids& source, const Ids& self_ids)
        : ids_(ids.data()),
          offsets_(offsets.data()),
          source_(source.data()),
          self_ids_(self_ids.data()) {
        ragged_in_order(ids, offsets);
        if (source.shape(0) != self_ids.shape(0))
            throw nb::value_error("two maps of unequal length");
        for (size_t i = 0; i < ids.shape(0); ++i)
            if (ids(i) < 0 || static_cast<size_t>(ids(i)) >= source.shape(0))
                throw nb::value_error("a word that is not in the map");
        size_ = offsets.shape(0) - 1;
    }

    size_t size() const { return size_; }
    int64_t length(size_t i) const { return offsets_[i + 1] - offsets_[i]; }
    const std::vector<int32_t>& source(size_t i) { return map(source_, i, source_words_); }
    const std::vector<int32_t>& self_ids(size_t i) { return map(self_ids_, i, own_words_); }

  private:
    const std::vector<int32_t>& map(const int32_t* to, size_t i, std::vector<int32_t>& out) {
        out.clear();
        for (int64_t k = offsets_[i]; k < offsets_[i + 1]; ++k) out.push_back(to[ids_[k]]);
        return out;
    }
    const int32_t* ids_;
    const int64_t* offsets_;
    const int32_t *source_, *self_ids_;
    size_t size_;
    std::vector<int32_t> source_words_, own_words_;
};

// Checks for Ctrl-C and stop requests at regular intervals of words.
class Pace {
  public:
    explicit Pace(nb::object check) : check_(std::move(check)) {}
    void walk(int64_t words) {
        walked_ += words + 1;
        if (walked_ < enough) return;
        walked_ = 0;
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals()) throw nb::python_error();
        if (!check_.is_none()) check_();
    }

  private:
    static constexpr int64_t enough = 1 << 12;
    nb::object check_;
    int64_t walked_ = 0;
};

}  // namespace karat::paraphrase
