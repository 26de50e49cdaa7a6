"""PEM without judgements: a mean of features on the scale of controls, on sets it has not seen.

    KARAT_DATA=… python experiments/paraphrase_mean.py

The bundled parallel text, both aligners. On the judged headlines: parts of the mean, the mean, and
powers of target F1 that make a copy a bad paraphrase; the power was chosen on the originals of even
number. A loss of fluency against the original is tried as a factor of the mean, too. Then the model
on headlines, on the translations of believability (see `paraphrase_transfer.py`) and on the bundled
judgements, with the mean PEM of the three controls. Pearson's r; differences with 95% intervals by
a paired bootstrap over originals.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from paraphrase import SET, odd_rows
from paraphrase_transfer import believability

import karat as kt
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.combination import COPY, POWER, ControlMean
from karat.paraphrase.pem.evaluation import paired_gain
from karat.paraphrase.pem.features import PairFeatures
from karat.paraphrase.pem.judged_pairs import CONTROLS, JudgedPairs, add_controls, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import Pivot, train_pem
from karat.stats.correlation import pearson

STRINGS = ("rouge1", "chrf++:case=lower")
POWERS = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64)


def model(aligner: str) -> PEM:
    text = read_parallel(files("karat") / "data" / "paraphrase" / "en-fr.tsv")  # type: ignore[arg-type]
    settings = {"aligner": aligner, "combine": "mean", "copies": "bad", "features": STRINGS}
    return train_pem({"fr": Pivot([text])}, generate=False, **settings)  # type: ignore[arg-type]


def controlled(judged: JudgedPairs) -> JudgedPairs:
    return judged_rows(add_controls(judged.evalset, judged.overall), judged.overall)


def adequacy(pem: PEM, features: PairFeatures) -> np.ndarray:
    """The mean alone, 1 to 5: copies are not made bad."""
    if not isinstance(pem.combination, ControlMean):
        raise TypeError("the model has no mean")
    return pem.combination.predict(
        np.column_stack([features.adequacy, np.zeros(len(features.column("target F1")))])
    )


def without_copies(mean: np.ndarray, target: np.ndarray, power: int) -> np.ndarray:
    copied = target**power
    return (1 - copied) * mean + copied * COPY


def powers(pem: PEM, judged: JudgedPairs) -> None:
    """The mean alone, with copies made bad by each power, and with a factor of fluency."""
    features, odd = pem.features(judged.originals, judged.paraphrases), odd_rows(judged)
    mean, target = adequacy(pem, features), features.column("target F1")
    columns = {"pivot F1": features.pivot, "ROUGE-1": features.adequacy[:, 1]}
    columns |= {"chrF++": features.adequacy[:, 2], "mean alone": mean}
    columns |= {f"target F1^{power}": without_copies(mean, target, power) for power in POWERS}
    copies = pem.features(judged.originals, judged.originals)
    lost = features.column("fluency") - copies.column("fluency")
    for weight in (0.1, 0.2, 0.5):
        fluent = 1 + (mean - 1) * 10 ** (weight * np.minimum(lost, 0))
        columns[f"fluency {weight}"] = without_copies(fluent, target, POWER)
    for name, column in columns.items():
        halves = [pearson(judged.human[rows], column[rows]) for rows in (~odd, odd)]
        r = pearson(judged.human, column)
        print(f"  {name:16} all {r:.4f}  even {halves[0]:.4f}  odd {halves[1]:.4f}")
    pair = (("PEM", pem.combine(features)[odd]), ("pivot F1", features.pivot[odd]))
    gain = paired_gain(judged.select(odd), *pair)
    print(f"  odd: PEM - pivot F1 {gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]")


def against_pivot(pem: PEM, judged: JudgedPairs) -> None:
    """Agreement of PEM and its pivot F1 with the judges, and the mean PEM of controls."""
    with_controls = controlled(judged)
    features = pem.features(judged.originals, judged.paraphrases)
    target = features.column("target F1")
    alike = [judged.human[rows] for rows in (target > 0.8, target == 1)]
    print(f"  {len(alike[0])} with target F1 above .8; {len(alike[1])} of 1: {alike[1].mean():.2f}")
    print(f"  mean alone {pearson(judged.human, adequacy(pem, features)):.3f}")
    scores = pem.score(with_controls.originals, with_controls.paraphrases)
    real = with_controls.select(with_controls.real)
    gain = paired_gain(
        real,
        ("PEM", scores.pem[with_controls.real]),
        ("pivot F1", scores.pivot_f1[with_controls.real]),
    )
    print(
        f"  {with_controls.evalset.name}: PEM {gain.r_first:.3f}, pivot F1 {gain.r_second:.3f}, "
        "difference "
    )
    print(f"    {gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}], of {len(real):,}")
    print(f"  with controls {pearson(with_controls.human, scores.pem):.3f}, ", end="")
    systems = np.array(with_controls.systems)
    means = {name: scores.pem[systems == name].mean() for name in CONTROLS}
    print(", ".join(f"{name} {mean:.2f}" for name, mean in means.items()), flush=True)


def main() -> None:
    headlines = judged_rows(kt.load_evalset(SET))
    for aligner in ("hmm", "fertility"):
        pem = model(aligner)
        print(f"links by {aligner}: {pem}")
        powers(pem, headlines)
        for judged in (
            headlines,
            believability(),
            judged_rows(kt.load_evalset("demo-paraphrases")),
        ):
            against_pivot(pem, judged)


if __name__ == "__main__":
    main()
