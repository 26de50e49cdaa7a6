"""Directions of scores by their names: whether lower or higher is better.

A name is split into words: `total_cost_usd` and `latencyMs` contain `cost` and `latency`. A name
with words of both directions, such as `accuracy_loss`, has no known direction.
"""

from __future__ import annotations

import re

LOWER = frozenset(
    [
        # error rates and other metrics
        *("ter", "wer", "cer", "cder", "hter", "mwer", "metricx", "ppl", "perplexity", "entropy"),
        *("mse", "rmse", "mae", "mape", "nll", "logloss", "fid", "brier", "ece", "loss", "losses"),
        *("distance", "distances", "divergence", "deviation", "levenshtein", "regret"),
        # time, money and other resources
        *("latency", "latencies", "time", "times", "duration", "durations", "elapsed", "runtime"),
        *("walltime", "delay", "lag", "ttft", "seconds", "secs", "sec", "milliseconds", "millis"),
        *("ms", "minutes", "hours", "dauer", "laufzeit", "durée", "duración", "durata"),
        *("cost", "costs", "price", "prices", "usd", "eur", "dollars", "cents", "euros", "spend"),
        *("fee", "fees", "kosten", "preis", "coût", "prix", "costo", "coste", "precio", "prezzo"),
        *("tokens", "ram", "flops", "kwh", "emissions", "co2", "retries"),
        *("effort", "edits", "keystrokes", "postedits"),
        # faults
        *("error", "errors", "mistake", "mistakes", "fault", "faults", "bug", "bugs", "defects"),
        *("failure", "failures", "failed", "crashes", "timeouts", "violation", "violations"),
        *("penalty", "penalties", "omissions", "misses", "fehler", "erreur", "erreurs", "errores"),
        *("errorrate", "errorcount", "issue", "issues", "problem", "problems", "flaw", "flaws"),
        *("severity", "defect", "typos", "strafpunkte", "mängel", "schwere"),
        *("fehlerzahl", "fehleranzahl", "fehlerquote", "fehlerrate", "faute", "fautes", "défauts"),
        *("pénalité", "pénalités", "fallo", "fallos", "defectos", "penalización"),
        *("errore", "errori", "difetti", "penalità", "sbagli"),
        # places
        *("rank", "ranks", "ranking", "rang", "ränge", "platz", "rangplatz", "platzierung"),
        *("toxicity", "toxic", "harm", "harmful", "harmfulness", "hallucination"),
        *("hallucinations", "hallucinated", "bias", "redundancy", "repetition"),
        *(
            "verbosity",
            "repetitions",
            "contradiction",
            "contradictions",
            "unsupported",
            "incorrect",
        ),
    ]
)
"""Words of scores of which lower is better."""
HIGHER = frozenset(
    [
        # metrics
        *("bartscore", "bertscore", "bleu", "bleurt", "chrf", "chrf++", "comet", "cometkiwi"),
        *("f200spbleu", "gemba", "geval", "gleu", "mauve", "mee", "mee4", "meteor", "mqm", "nist"),
        *("prism", "prismref", "prismsrc", "rouge", "rougel", "rougelsum", "sacrebleu", "spbleu"),
        *("unieval", "unite", "xcomet", "yisi", "em", "exact", "match", "matches", "similarity"),
        *("cosine", "jaccard", "overlap", "correlation", "accuracy", "acc", "precision", "recall"),
        *("f1", "fscore", "auc", "auroc", "map", "mrr", "ndcg", "mcc", "kappa", "iou"),
        # qualities
        *("correct", "correctness", "faithfulness", "faithful", "factuality", "factual"),
        *("groundedness", "grounded", "relevance", "relevancy", "relevant", "consistency"),
        *("coherence", "fluency", "adequacy", "quality", "helpfulness", "helpful", "usefulness"),
        *("completeness", "informativeness", "naturalness", "readability", "clarity"),
        *("understandability", "conciseness", "coverage", "truthfulness", "honesty", "safety"),
        *("harmlessness", "grammaticality", "appropriateness", "engagement", "satisfaction"),
        *("preference", "effectiveness", "robustness", "supported", "plausibility"),
        # outcomes
        *("success", "successes", "pass", "passed", "passes", "win", "wins", "won", "reward"),
        *("rewards", "resolved", "solved", "throughput", "tps", "qps", "rps", "speedup", "saved"),
        *("savings", "improvement", "reduction", "gain", "gains", "likelihood", "logprob"),
    ]
)
"""Words of scores of which higher is better."""
_GENERAL = frozenset(["score", "scores", "rating", "ratings", "grade", "grades", "stars", "points"])
"""Words of which higher is better unless another word of the name has a direction."""
_FAULTS = frozenset(["error", "errors", "issues", "penalty", "penalties", "severity", "mistakes"])
"""Words of scores by MQM of which lower is better."""
_NEGATIONS = frozenset(["no", "non", "not", "without", "free", "un", "anti", "negative", "neg"])
"""Words that may reverse the direction of a name, which is then unknown."""
_SPEED = re.compile(
    r"(tokens?|words?|chars?|characters|requests?|queries|items|samples|tasks|rows)[\W_]*per[\W_]*"
    r"(second|sec|s|minute|min|hour|h)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"tokens?[\W_]*(count|counts|usage|used)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^\w+]|_", name.lower()) if word]


def direction_of_name(name: str, is_file: bool = False) -> int:
    """Return 1 if higher scores are better by the name, -1 if lower ones are, 0 if it is unknown.

    The name of a file says nothing if it is general, as `scores.tsv` is.
    """
    snake_case = _CAMEL.sub("_", name)
    if _SPEED.search(snake_case):
        return 1
    joined_words, words_of_parts = map(_words, (name, snake_case))
    first_words = {*joined_words[:1], *words_of_parts[:1]}
    words = {*joined_words, *words_of_parts}
    words |= {re.sub(r"\d+$", "", word) for word in words}  # comet22, rouge1
    is_lower = bool(words & LOWER) or bool(_COUNT.search(snake_case)) or "per" in first_words
    higher_words = words & HIGHER
    if words & _FAULTS:
        higher_words = higher_words - {"mqm"}  # the errors that MQM counts
    is_higher = bool(higher_words)
    if words & _NEGATIONS or (is_lower and is_higher):
        return 0
    if is_lower or is_higher:
        return 1 if is_higher else -1
    return 1 if words & _GENERAL and not is_file else 0
