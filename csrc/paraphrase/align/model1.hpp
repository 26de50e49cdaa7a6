// IBM model 1 (Brown et al. 1993): translation does not depend on word positions.
//
//     P(a_j = i | e, f) = (1 - p0) / n t(f_j|e_i) / (p0 + (1 - p0) / n sum over i of t(f_j|e_i))
//
// where p0 is the weight of the null word. If the null word generates f_j with probability n(f_j),
// t(f_j|e_i) / n(f_j) replaces t(f_j|e_i).
#pragma once
#include <cstdint>

namespace karat::paraphrase {

// `table` has one row of `n` probabilities for each of `words` generated words, with one unused
// entry in front; `posterior` receives the same rows without that entry.
inline void model1_posteriors(const float* table, int64_t words, int64_t n, float p0,
                              float* posterior) {
    const float uniform = (1.0f - p0) / static_cast<float>(n);
    for (int64_t j = 0; j < words; ++j) {
        const float* const row = table + j * (n + 1) + 1;
        float sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += row[i];
        const float scale = uniform / (p0 + uniform * sum);
        for (int64_t i = 0; i < n; ++i) posterior[j * n + i] = row[i] * scale;
    }
}

}  // namespace karat::paraphrase
