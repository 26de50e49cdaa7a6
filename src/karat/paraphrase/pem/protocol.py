"""Training and test parts: cross-validation by original, or the paper's fixed split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from karat.arrays import Flags, Floats, np
from karat.paraphrase.combine.svr import GRID, Setting, cross_predict, split_predict
from karat.paraphrase.pem.judged_pairs import JudgedPairs
from karat.paraphrase.pem.model import SCALE
from karat.progress import Progress
from karat.storage.digests import data_digest


@dataclass(frozen=True, eq=False)
class Protocol:
    """Judged paraphrases, and how regressions are trained on some and tested on others."""

    judged: JudgedPairs
    folds: int
    train_first: int | None
    """Train on so many originals, the first of the set, and test on the rest; None: folds."""
    grid: Sequence[Setting]
    progress: Progress

    @cached_property
    def trained(self) -> Flags | None:
        """The rows of the training part, if there is a fixed split."""
        first = self.train_first
        return None if first is None else self.judged.first_originals(first)

    @property
    def tests(self) -> Flags:
        """The rows that are tested."""
        trained = self.trained
        return np.ones(len(self.judged), dtype=np.bool_) if trained is None else ~trained

    @cached_property
    def tested(self) -> JudgedPairs:
        """The paraphrases that are tested."""
        return self.judged.where(self.tests)

    def predict(self, features: Floats) -> Floats:
        """Predict the tested rows by regressions that have not seen their originals."""
        known = features, self.judged.human, self.judged.originals
        if self.trained is None:
            found = cross_predict(*known, self.grid, self.folds, self.progress)
        else:
            found = split_predict(*known, self.trained, self.grid)
        return np.clip(found, *SCALE)

    def only_tested(self, columns: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the tested rows of some columns."""
        return {name: column[self.tests] for name, column in columns.items()}

    @property
    def combination(self) -> str:
        """The regression that is tested, in the signature."""
        first = self.train_first
        split = f"folds={self.folds}" if first is None else f"train_first={first}"
        judged = self.judged
        learned = f"learned={judged.evalset.signature.removeprefix('set:')}"
        data = f"{learned},dimension={judged.overall},controls={int((~judged.real).sum())}"
        values = [(one.C, one.epsilon, one.gamma) for one in self.grid]
        grid = "" if tuple(self.grid) == GRID else f",grid={data_digest(values)}"
        return f"combine=svr,{split},{data}{grid}"

    @property
    def note(self) -> str:
        """The protocol in words."""
        if self.train_first is None:
            return (
                f"Cross-validated in {self.folds} folds by original: no regression has seen an "
                "original that it is tested on, and its settings were searched inside the training "
                "part."
            )
        tested = len(set(self.tested.originals))
        return (
            f"Trained on the first {self.train_first:,} originals, tested on the other {tested:,}; "
            "the settings of the regression were searched inside the training part. Tables of "
            "judges and of criteria are of all originals."
        )
