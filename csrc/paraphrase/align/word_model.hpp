// The parameters of single words in the fertility aligner, in both directions: link counts, counts
// of generation by the null word, jumps and fertilities. Several aligners, each of a part of a
// text, may add counts to one model.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "paraphrase/align/fertility.hpp"
#include "paraphrase/align/word_jumps.hpp"

namespace karat::paraphrase {

struct ModelSettings {
    double p0;         // the probability that the null word generates a word
    double spread;     // share of the unigram distribution in the null word's
    double alpha;      // added to the count of every pair of words
    double identical;  // added to the count of a pair of equal words
    double jumps;      // jumps of an average word added to a word's own
    double fertility;  // the exponent of fertilities
};

// Posteriors and counts of pairs are integer multiples of 2^-15.
constexpr double posterior_one = 32768.0;

// The distribution of words that the null word generates:
//
//     n(f) = (N(f) + spread N u(f)) / ((1 + spread) N)
//
// u is the unigram distribution, N(f) the expected number of words f that the null word generated,
// and N their sum over all words; before the first counts, n = u.
class NullWord {
  public:
    NullWord(const std::vector<int64_t>& unigrams, double spread)
        : spread_(spread), counts_(unigrams.size()), unigram_(unigrams.size()) {
        int64_t all = 0;
        for (const int64_t count : unigrams) all += count;
        for (size_t w = 0; w < unigrams.size(); ++w)
            unigram_[w] = static_cast<double>(unigrams[w]) / static_cast<double>(all);
        set([&](size_t w) { return unigram_[w]; });
    }
    void expect(int32_t word, double value) { counts_.add(word, value); }
    void update() {
        int64_t sum = 0;
        for (size_t w = 0; w < counts_.size(); ++w) sum += counts_.fixed_point(w);
        const auto all = static_cast<double>(sum);
        if (sum)
            set([&](size_t w) {
                const auto count = static_cast<double>(counts_.fixed_point(w));
                return (count + spread_ * all * unigram_[w]) / ((1 + spread_) * all);
            });
        counts_.clear();
    }
    float over(int32_t word) const { return over_[word]; }  // 1 / n(word)

  private:
    template <class Of>
    void set(Of probability) {
        over_.resize(unigram_.size());
        for (size_t w = 0; w < over_.size(); ++w)
            over_[w] = static_cast<float>(1.0 / probability(w));
    }

    const double spread_;
    ExactSums counts_;
    std::vector<double> unigram_;
    std::vector<float> over_;
};

// One direction: words at places generate the words of the other language.
struct Direction {
    Direction(const std::vector<int64_t>& generated, size_t places, const ModelSettings& settings)
        : null(generated, settings.spread),
          jumps(places, settings.jumps,
                std::accumulate(generated.begin(), generated.end(), int64_t{0})),
          fertilities(places), linked(places, 0), new_linked(places) {}

    NullWord null;            // distribution over the generated words
    WordJumps jumps;          // of the words at places, like all members below
    Fertilities fertilities;
    std::vector<int64_t> linked;  // C(e), the sum of C(e, f) over f
    ExactSums new_linked;

    void update(bool hmm, bool fertility) {
        null.update();
        if (hmm) jumps.update();
        if (fertility) fertilities.update();
        for (size_t w = 0; w < linked.size(); ++w) linked[w] = new_linked.fixed_point(w);
        new_linked.clear();
    }
};

class WordModel {
  public:
    // How often every source word and every pivot word occurs; `twins` is, for every source word,
    // the equal pivot word, or -1.
    WordModel(std::vector<int64_t> source, std::vector<int64_t> pivot, std::vector<int32_t> twins,
              const ModelSettings& settings)
        : settings(settings), ahead(pivot, source.size(), settings),
          back(source, pivot.size(), settings), twins_(std::move(twins)),
          words_{present(source), present(pivot)},
          has_twin_{std::vector<char>(source.size()), std::vector<char>(pivot.size())} {
        for (size_t e = 0; e < twins_.size(); ++e)
            if (twins_[e] >= 0 && source[e] && pivot[twins_[e]])
                has_twin_[0][e] = has_twin_[1][twins_[e]] = 1;
    }

    const ModelSettings settings;
    Direction ahead, back;

    size_t source_words() const { return has_twin_[0].size(); }
    size_t pivot_words() const { return has_twin_[1].size(); }
    bool counted() const { return counted_; }
    int32_t twin(int32_t e) const { return twins_[e]; }

    // alpha V + k_e: the smoothing added to C(e) of a source word, or to C(f) of a pivot word.
    double added(bool pivot, int32_t word) const {
        const double equal = has_twin_[pivot][word] ? settings.identical : 0.0;
        return settings.alpha * words_[!pivot] + equal;
    }

    void update(bool hmm, bool fertility) {
        ahead.update(hmm, fertility);
        back.update(hmm, fertility);
        counted_ = true;
    }

  private:
    // The number of words that occur.
    static double present(const std::vector<int64_t>& unigrams) {
        const auto never = std::count(unigrams.begin(), unigrams.end(), 0);
        return static_cast<double>(unigrams.size()) - static_cast<double>(never);
    }

    const std::vector<int32_t> twins_;
    const double words_[2];
    std::vector<char> has_twin_[2];
    bool counted_ = false;
};

}  // namespace karat::paraphrase
