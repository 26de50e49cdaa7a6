"""Answers of nugget reports about judgements: which classifier agrees best, and whether sets do."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from karat.arithmetic import SLACK
from karat.nuggets.report.answers import DIGITS
from karat.nuggets.results.guess_notes import percentage
from karat.report.model import several, signed, span

if TYPE_CHECKING:
    from karat.nuggets.results.contents import NuggetContents
    from karat.nuggets.results.evaluation import Contest, NuggetEvaluation, NuggetTuning
    from karat.nuggets.results.judgement_agreement import NuggetAgreement

CALIBRATED, PAPER = "the calibrated classifier", "the paper's classifier"


def evaluation_answer(found: NuggetEvaluation) -> tuple[str, ...]:
    """Return which classifier agrees best with assessors, and how well it ranks runs."""
    contest = found.contest
    ranks = [
        f"{name} {tau_b:.2f}"
        for name, tau_b in ((CALIBRATED, contest.calibrated_tau), (PAPER, contest.paper_tau))
        if not isnan(tau_b)
    ]
    told = f"Rank correlation of run scores with assessors (tau-b): {', '.join(ranks)}."
    return (_contest(contest), *([told] if len(found.runs) > 2 and ranks else []))


def _contest(one: Contest) -> str:
    calibrated, paper = (f"{f:.{DIGITS}f}" for f in (one.calibrated, one.paper))
    if one.difference == 0:
        return f"Both classifiers agree equally well with assessors: F {paper}."
    ahead = one.difference > 0
    first, second = (calibrated, paper) if ahead else (paper, calibrated)
    names = (CALIBRATED, PAPER) if ahead else (PAPER, CALIBRATED)
    if one.decided:
        return (
            f"{names[0].capitalize()} agrees better with assessors: F {first}, {names[1]} "
            f"{second}; the difference ({_difference(one)}) is decided."
        )
    return (
        f"It is undecided which classifier agrees better with assessors: F of {names[0]} {first}, "
        f"of {names[1]} {second}, difference {_difference(one)}."
    )


def _difference(one: Contest) -> str:
    sign = 1 if one.difference > 0 else -1
    text = signed(sign * one.difference, DIGITS)
    if one.low is None or one.high is None:
        return text
    low, high = sorted((sign * one.low, sign * one.high))
    return f"{text} {span(low, high, DIGITS)}"


def evaluation_basis(found: NuggetEvaluation) -> str:
    """Return what the answer rests on: how it was cross-validated, and the interval."""
    pool = found.found.cells.pool
    left = {"system": "run", "institution": "institution", "question": "question"}
    return (
        f"{several(len(pool.questions), 'question')}, {several(len(pool.runs), 'judged run')}; "
        f"cross-validated, one {left[found.found.by]} left out at a time. The paper's "
        f"classifier has {_paper_form(found.contest)}, chosen by this F. A difference is decided "
        "where its 95% interval (jackknife over questions) excludes zero."
    )


def _paper_form(contest: Contest) -> str:
    if contest.paper_model is None:
        return "its best setting"
    return f"its best setting and the threshold model {contest.paper_model}"


def tuning_answer(found: NuggetTuning) -> tuple[str, ...]:
    """Return the best setting, and the threshold model that the data favour."""
    best = found.rows[0]
    how = f"n={best.n}, weight={best.weight}, stem={best.stem}, stop={best.stop}"
    same = sum(row.f == best.f for row in found.rows) - 1
    shared = f" ({several(same, 'other setting')} with the same F)" if same else ""
    told = [f"The best of {len(found.rows)} settings is {how}: F {best.f:.{DIGITS}f}{shared}."]
    if same == len(found.rows) - 1:
        told = [f"All {len(found.rows)} settings have the same F, {best.f:.{DIGITS}f}."]
    likely = next((model for model in found.models if model.likeliest), None)
    if likely is not None:
        f = f", F {likely.f:.{DIGITS}f}" if likely.f is not None else ""
        told.append(f"The likeliest threshold model is {likely.model} ({likely.name}{f}).")
        coin = next((model for model in found.models if model.model == "coin"), None)
        if coin is not None and coin.log10 >= likely.log10:
            told.append("A coin is at least as likely: thresholds explain none of the judgements.")
    return tuple(told)


def tuning_basis(found: NuggetTuning) -> str:
    """Return how the settings were cross-validated."""
    left = {"system": "run", "institution": "institution", "question": "question"}
    return (
        f"Cross-validated, one {left[found.found.by]} left out at a time. The F of the best of "
        f"{len(found.rows)} settings is optimistic: it was chosen by this F."
    )


def agreement_answer(found: NuggetAgreement) -> tuple[str, ...]:
    """Return how far the other judgements agree, and whether they order runs alike."""
    whole = found.rows[0]
    kappa = "" if whole.kappa is None else f", kappa {whole.kappa:.2f}"
    f = ""
    if whole.f is not None:
        f = f", F {whole.f:.{DIGITS}f}"
        if whole.f_low is not None and whole.f_high is not None:
            f += f" {span(whole.f_low, whole.f_high, DIGITS)}"
    told = (
        f"Both judgements agree on whether a response carries a nugget on "
        f"{percentage(whole.equal, 1)} of {several(whole.pairs, 'pair')}{kappa}{f}."
    )
    return (told, *_order(found))


def _order(found: NuggetAgreement) -> list[str]:
    score = next((row for row in found.scores if row.average == "macro"), None)
    if score is None or not score.pairs:
        return []
    if not score.swaps:
        if score.tau_b >= 1 - SLACK:
            return ["They order the runs by F in the same way."]
        return ["By F they order no pair of runs the other way round, but tie different pairs."]
    of = several(score.pairs, "pair")
    return [f"By F they order {score.swaps:,} of {of} of runs the other way round."]


def contents_answer(found: NuggetContents) -> tuple[str, ...]:
    """Return the size of the set and how much of it was judged, or that it cannot be used."""
    if found.nuggets is None:
        return (f"The set cannot be used: {several(found.problem_count, 'problem')}.",)
    (row,) = found.rows
    size = (
        f"{several(row.questions, 'question')} with {several(row.vital, 'vital nugget')} and "
        f"{row.okay:,} okay; {several(row.runs, 'run')}"
    )
    if not row.runs:
        return (f"{size}.",)
    judged = f"{percentage(row.judged, 1)} of the pairs of response and nugget are judged"
    problems = [
        several(len(some), name)
        for some, name in (
            (found.contradictions, "contradiction"),
            (found.disputes, "disputed pair"),
        )
        if some
    ]
    wrong = f" Judgements: {' and '.join(problems)}." if problems else ""
    return (f"{size}; {judged}.{wrong}",)
