"""Columns of texts: candidate, reference, question, source, contexts, or a column per system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from karat.errors import quoted, short
from karat.tables.cells import ColumnProfile, is_missing_mark, text_of
from karat.tables.names import (
    compact,
    find_phrase,
    fold,
    is_human,
    is_in,
    is_language,
    is_model,
    role_names,
    role_rank,
    split_words,
)
from karat.tables.roles import RoleSearch, option
from karat.tables.scales import find_word_scale

_LABELS = ("label", "labels", "truelabel", "correct", "etiquette", "etiqueta")
_POST_EDITS = ("postedit", "postedited", "pe", "postediting", "posteditedtext", "posteditat")
_MOST_LABELS = 12
_SAME_LANGUAGE = 0.2
"""Shared words, as a share of all, from which texts of a row are in one language."""


def find_texts(search: RoleSearch) -> None:
    """Find the columns of texts."""
    _find_contexts(search)
    _find_named(search)
    _find_inputs(search)
    _find_phrases(search)
    _find_languages(search)
    _find_unnamed(search)


def is_textual(profile: ColumnProfile) -> bool:
    """Return whether cells may be outputs: texts, or short answers that differ."""
    no_text = profile.is_numeric or profile.is_nested or profile.is_boolean or profile.is_list
    if no_text or profile.is_empty or profile.is_code or is_on_scale(profile):
        return False
    if all(_is_address(value) for value in profile.present[:20]):
        return False
    return profile.is_text or not profile.is_label


def is_on_scale(profile: ColumnProfile) -> bool:
    """Return whether cells are words of a known scale of ratings."""
    labels = [text for text in profile.distinct if not is_missing_mark(text)]
    return 1 < len(labels) < _MOST_LABELS and find_word_scale(labels) is not None


def _is_address(value: object) -> bool:
    text = str(value).strip()
    is_date = re.match(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", text)
    return text.startswith(("http://", "https://")) or bool(is_date)


def _find_contexts(search: RoleSearch) -> None:
    if search.roles.contexts is None:
        for name in search.columns_named("contexts"):
            profile = search.profiles[name]
            if profile.is_list or profile.is_nested or is_textual(profile) or profile.is_text:
                search.take("contexts", name)
                return


def _exact(search: RoleSearch, role: str) -> list[str]:
    """Return the free columns with a name of a role; whole names rather than ends of paths."""
    named_columns = search.columns_named(role)
    whole_names = [name for name in named_columns if (role_rank(role, name) or 0) < 1000]
    plain = [name for name in whole_names if not search.profiles[name].is_nested]
    return plain or [n for n in named_columns if n not in whole_names] or whole_names


def _choose(search: RoleSearch, role: str, names: Sequence[str]) -> str | None:
    """Return the only column of a role; refuse several whose texts differ."""
    plain = [name for name in names if not search.profiles[name].is_nested] or list(names)
    texts = [name for name in plain if not search.profiles[name].is_boolean] or plain
    words = [name for name in texts if not search.profiles[name].is_numeric]
    if not texts:
        return None
    first, *other_names = words or texts
    rival = next((name for name in other_names if not _are_equal(search, first, name)), None)
    if rival is not None:
        raise search.refuse(
            f"columns {quoted(first)} and {quoted(rival)} may both be the {role}",
            option(role, first),
            option(role, rival),
            *([f"{option(role, first, rival)} for both"] if role == "reference" else []),
        )
    return first


def _are_equal(search: RoleSearch, left: str, right: str) -> bool:
    values = zip(search.profiles[left].values, search.profiles[right].values, strict=True)
    return all(text_of(a) == text_of(b) for a, b in values)


def _find_named(search: RoleSearch) -> None:
    """Choose candidate and reference among columns with usual names.

    An `answer` is the reference beside a `prediction`, and the candidate beside `expected`; a
    `target` is the candidate only beside a reference, a system or a judge.
    """
    roles = search.roles
    strong = _exact(search, "candidate")
    if not roles.references:
        names = _exact(search, "reference")
        edits = [name for name in names if compact(name) in _POST_EDITS]
        names = [name for name in names if name not in edits] or edits
        if (reference := _choose(search, "reference", names)) is not None:
            search.take_references([reference])
    has_references = bool(search.roles.references)
    either = [name for name in _exact(search, "either") if _may_be_text(search, name)]
    targets = [name for name in _exact(search, "target") if not search.profiles[name].is_boolean]
    if not roles.has_texts:
        candidate = _choose(search, "candidate", strong)
        if candidate is None:
            candidate = _weak_candidate(search, either, targets, has_references)
        if candidate is not None:
            search.take("candidate", candidate)
    if search.roles.has_texts and not has_references:
        other_names = [name for name in (*targets, *either) if name in search.free]
        other_names = [name for name in other_names if _may_be_reference(search, name)]
        if (reference := _choose(search, "reference", other_names)) is not None:
            search.take_references([reference])


def _may_be_text(search: RoleSearch, name: str) -> bool:
    profile = search.profiles[name]
    return not profile.is_boolean and not profile.is_nested


def _weak_candidate(
    search: RoleSearch, either: list[str], targets: list[str], has_references: bool
) -> str | None:
    """Return the candidate among columns whose names may also be other roles."""
    if _side_by_side(search, either):
        return None  # systems have columns; `_find_unnamed` takes these as references
    if either:
        lists = [name for name in either if search.profiles[name].is_list]
        texts = [name for name in either if name not in lists]
        return _choose(search, "candidate", texts) if texts else None
    is_rated = bool(search.roles.system or search.columns_named("judge"))
    plain = [name for name in targets if compact(name) not in _LABELS]
    texts = [
        name
        for name in search.columns_named("text")
        if is_textual(search.profiles[name]) or (is_rated and _has_labels(search.profiles[name]))
    ]
    if plain and not texts:
        if has_references or is_rated:
            return _choose(search, "candidate", plain)
        if not _unnamed(search):
            first = plain[0]
            raise search.refuse(
                f"column {quoted(first)} may be the candidate or the reference",
                option("candidate", first),
                option("reference", first),
            )
    return _choose(search, "candidate", texts) if texts and not _models(search) else None


def _has_labels(profile: ColumnProfile) -> bool:
    """Return whether cells are short texts that may repeat."""
    return not (profile.is_numeric or profile.is_boolean or profile.is_list or profile.is_nested)


def _may_be_reference(search: RoleSearch, name: str) -> bool:
    """Return whether a `label` is a reference; refuse one that may be a rating."""
    profile, candidate = search.profiles[name], search.roles.candidate
    if compact(name) not in _LABELS or candidate is None:
        return True
    short_candidate = not search.profiles[candidate].is_text
    if short_candidate and not (search.roles.judge or search.columns_named("judge")):
        return True
    if profile.is_text and not profile.is_label:
        return True
    if search.columns_named("judge"):
        return False  # a rating
    raise search.refuse(
        f"column {quoted(name)} may be a rating or the reference",
        option("score", name),
        option("reference", name),
    )


def _find_inputs(search: RoleSearch) -> None:
    """Choose question and source."""
    if search.roles.question is None:
        names = [n for n in _exact(search, "question") if _is_question(search.profiles[n])]
        if names:
            search.take("question", names[0])
    if search.roles.source is None:
        names = [n for n in _exact(search, "source") if _is_input(search.profiles[n])]
        if not names and search.roles.has_texts:
            names = [n for n in search.columns_named("text") if is_textual(search.profiles[n])]
        if names:
            search.take("source", names[0])


def _is_question(profile: ColumnProfile) -> bool:
    """Return whether cells are questions, not a few labels such as names of users."""
    is_repeated = 3 * len(profile.distinct) <= len(profile.present)
    return (
        not profile.is_boolean
        and not profile.is_numeric
        and not (is_repeated and profile.mean_length < 20 and profile.mean_words < 2)
    )


def _is_input(profile: ColumnProfile) -> bool:
    """Return whether cells are inputs, not labels of their origin such as `news`."""
    if profile.is_boolean or profile.is_numeric:
        return False
    return not (profile.is_label and profile.mean_length < 20 and profile.mean_words < 2)


def _find_phrases(search: RoleSearch) -> None:
    """Find roles in names of several words: `gpt-4 answer`, `reference_2`, `expected_text_de`."""
    roles = ("reference", "candidate", "question", "source", "contexts", "either")
    phrases = {}
    for name in search.free:
        profile = search.profiles[name]
        if not (is_textual(profile) or profile.is_text or profile.is_list) or _is_remark(name):
            continue
        phrase = find_phrase(name, roles)
        if phrase is not None and phrase.rest:
            phrases[name] = phrase
    references = [name for name, phrase in phrases.items() if phrase.role == "reference"]
    numbered = [name for name in references if _is_number(phrases[name].rest)]
    if numbered and (not search.roles.references or "reference" not in search.declared):
        search.take_references(numbered)
    elif references and not search.roles.references:
        reference = _choose(search, "reference", references)
        search.take_references([] if reference is None else [reference])
    for role in ("question", "source", "contexts"):
        names = [name for name, phrase in phrases.items() if phrase.role == role]
        if getattr(search.roles, role) is None and len(names) == 1:
            search.take(role, names[0])
    outputs = {
        name: phrase
        for name, phrase in phrases.items()
        if phrase.role in ("candidate", "either") and not search.profiles[name].is_list
    }
    if search.roles.has_texts:
        _refuse_rivals(search, [name for name in outputs if phrases[name].role == "candidate"])
    elif len(outputs) == 1 and not _models(search):
        search.take("candidate", next(iter(outputs)))
    elif len(outputs) > 1:
        _take_outputs(search, {name: phrase.rest for name, phrase in outputs.items()})


def _is_number(text: str) -> bool:
    return text.isdigit() or (len(text) == 1 and text.isalpha())


def _is_remark(name: str) -> bool:
    """Return whether a word of the name says that the column has remarks."""
    remarks = {"comment", "comments", "explanation", "reason", "reasoning", "rationale", "feedback"}
    remarks |= {"notes", "remarks", "kommentar", "begrundung", "justification", "url", "link", "id"}
    return any(compact(word) in remarks for word in split_words(name)) or is_in("ignored", name)


def _refuse_rivals(search: RoleSearch, rivals: Sequence[str]) -> None:
    """Refuse further columns of outputs beside the candidate."""
    candidate = search.roles.candidate
    if candidate is None or not rivals or "candidate" in search.declared:
        return
    raise search.refuse(
        f"columns {quoted(candidate)} and {quoted(rivals[0])} may both have outputs",
        option("candidate", candidate),
        option("candidate", rivals[0]),
        f"{option('system', candidate, *rivals)} for systems side by side",
    )


def _take_outputs(search: RoleSearch, labels: dict[str, str]) -> None:
    """Make columns the outputs of systems; refuse numbered ones, which may be repeated answers."""
    columns = list(labels)
    if all(label.isdigit() for label in labels.values()) and not search.roles.winner:
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, columns)))} may be several systems or repeated "
            "answers of one system",
            f"{option('system', *columns)} for systems",
            f"{option('candidate', *columns)} for answers",
        )
    systems: dict[str, str] = {}
    for column, label in labels.items():
        systems[column if label in systems else label] = column
    search.free = [name for name in search.free if name not in columns]
    search.roles = replace(search.roles, outputs=systems)
    _side_references(search)


def _side_references(search: RoleSearch) -> None:
    """Make an `answer` or `target` beside columns of systems the reference."""
    if search.roles.references:
        return
    names = [*_exact(search, "target"), *_exact(search, "either")]
    names = [name for name in names if _may_be_text(search, name)]
    if (reference := _choose(search, "reference", names)) is not None:
        search.take_references([reference])


def _unnamed(search: RoleSearch) -> list[str]:
    """Return the free columns of texts whose names have no role, or are names of models."""
    names = [name for name in search.free if is_textual(search.profiles[name])]
    return [
        name
        for name in names
        if not _is_remark(name)
        and (is_model(name) or not any(role_rank(role, name) is not None for role in role_names()))
    ]


def _models(search: RoleSearch) -> list[str]:
    return [name for name in _unnamed(search) if is_model(name)]


def _side_by_side(search: RoleSearch, either: Sequence[str]) -> bool:
    """Return whether systems have a column each, beside columns such as `answer`."""
    names = [name for name in _unnamed(search) if name not in either]
    phrases = [find_phrase(name, ("candidate", "either")) for name in names]
    n_phrases = sum(1 for p in phrases if p is not None and p.rest and p.role == "either")
    return len([name for name in names if is_model(name)]) > 1 or n_phrases > 1


def _find_unnamed(search: RoleSearch) -> None:
    """Read columns of texts without a usual name as outputs of systems side by side."""
    names, models = _unnamed(search), _models(search)
    if search.roles.has_texts:
        if models and search.roles.system is None and not search.roles.outputs:
            _refuse_rivals(search, models)
        return
    if not names:
        return
    other_names = [name for name in names if name not in models]
    humans = [name for name in other_names if is_human(name)]
    languages = [name for name in names if is_language(name)]
    if languages and not (len(names) == 1 and search.roles.source):
        first, last = languages[0], languages[-1]
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, names)))} are texts in several languages"
            if len(languages) > 1
            else f"column {quoted(first)} may be the source, the candidate or the reference",
            f"{option('source', first)} {option('candidate', last)}",
            f"{option('source', first)} {option('reference', last)}",
        )
    if humans and not search.roles.references and len(names) > 1:
        rest = [name for name in names if name != humans[0]]
        raise search.refuse(
            f"column {quoted(humans[0])} may be the reference or a system",
            f"{option('reference', humans[0])} {option('system', *rest)}",
            option("system", *names),
        )
    has_input = bool(search.roles.source or search.roles.question or search.roles.references)
    if len(names) == 1:
        if (
            search.roles.system
            or has_input
            or search.columns_named("judge")
            or models
            or not other_names
            or len(search.table.columns) == 1
            or search.roles.id
            or _only_text(search, names[0])
        ):
            search.take("candidate", names[0])
        return
    if search.roles.system is not None or (not has_input and len(models) < 2):
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, names)))} may be the candidate",
            option("candidate", names[0]),
            option("candidate", names[1]),
            *([] if search.roles.system else [f"{option('system', *names)} for systems"]),
        )
    if other_names and (models or not _are_related(search, names)):
        raise search.refuse(
            f"columns {short(', '.join(map(quoted, other_names or names)))} may have outputs",
            option("system", *names),
            f"{option('ignore', *(other_names or names[1:]))} if not",
        )
    _take_outputs(search, {name: name.strip() for name in names})


def _find_languages(search: RoleSearch) -> None:
    """Read columns named by languages: the source, or a text in the language of the outputs.

    Texts in one language share words; what is left is decided by elimination, or refused.
    """
    roles = search.roles
    names = [
        name for name in search.free if is_language(name) and is_textual(search.profiles[name])
    ]
    outputs = [*filter(None, [roles.candidate]), *roles.outputs.values()]
    if not names or roles.answers or not (outputs or roles.references):
        return
    if roles.question is not None and roles.source is None and outputs:
        return  # `refuse_unknown_texts` decides
    known_texts = outputs or list(roles.references)
    shares = {name: max(_overlap(search, name, other) for other in known_texts) for name in names}
    alike = [name for name in names if shares[name] >= _SAME_LANGUAGE]
    apart = [name for name in names if shares[name] < _SAME_LANGUAGE / 2]
    missing_role = "" if not outputs else "reference"
    if not outputs:
        missing_role = "candidate"
    elif roles.references:
        missing_role = ""
    if len(names) == 1 and not missing_role and roles.source is None:
        search.take("source", names[0])
    elif len(names) == 1 and missing_role and roles.source and alike:
        _take_language(search, missing_role, names[0])
    elif len(names) == 2 and missing_role and len(alike) == len(apart) == 1 and not roles.source:
        _take_language(search, missing_role, alike[0])
        search.take("source", apart[0])
    elif len(names) == 1 and missing_role == "candidate" and roles.source:
        _take_language(search, missing_role, names[0])
    else:
        role = missing_role or "reference"
        first, last = names[0], names[-1]
        readings = [option("source", name) for name in names] if not roles.source else []
        if len(names) > 1 and not roles.source:
            readings = [
                f"{option('source', first)} {option(role, last)}",
                f"{option('source', last)} {option(role, first)}",
            ]
        elif missing_role:
            readings.append(option(role, first))
        raise search.refuse(
            f"columns {', '.join(map(quoted, names))} are texts in several languages"
            if len(names) > 1
            else f"column {quoted(first)} has texts in a language and no known role",
            *readings,
            f"{option('ignore', *names)} to leave out",
        )


def _take_language(search: RoleSearch, role: str, name: str) -> None:
    if role == "reference":
        search.take_references([name])
    else:
        search.take(role, name)


def _overlap(search: RoleSearch, left: str, right: str) -> float:
    """Return the mean share of words that two columns have in common in a row."""
    pairs = zip(
        search.profiles[left].values[:500], search.profiles[right].values[:500], strict=True
    )
    words = [(frozenset(_content_words(a)), frozenset(_content_words(b))) for a, b in pairs]
    shares = [len(a & b) / len(a | b) for a, b in words if a and b]
    return sum(shares) / max(len(shares), 1)


def refuse_unknown_texts(search: RoleSearch) -> None:
    """Refuse long texts without a role that may be a reference, a system, or the input.

    Remarks and texts with usual names are left out, as are other texts beside a question or source.
    """
    roles = search.roles
    outputs = [*filter(None, [roles.candidate]), *roles.outputs.values()]
    if not outputs or ("ignore" in search.declared and not search.free):
        return
    names = [name for name in _unnamed(search) if search.profiles[name].is_text]
    has_input = bool(roles.source or roles.question or roles.contexts)
    for name in names:
        related = max(_overlap(search, name, other) for other in outputs) >= _SAME_LANGUAGE
        if related and not roles.has_ratings:
            raise search.refuse(
                f"column {quoted(name)} has texts like {quoted(outputs[0])}, and no known role",
                *([] if roles.references else [option("reference", name)]),
                *([] if has_input else [option("source", name)]),
                *([] if roles.system else [f"{option('system', *outputs, name)} for systems"]),
                f"{option('ignore', name)} to leave it out",
            )
        if not has_input:
            raise search.refuse(
                f"column {quoted(name)} has texts and no known role",
                option("source", name),
                option("question", name),
                *([] if roles.references else [option("reference", name)]),
                f"{option('ignore', name)} to leave it out",
            )


def _only_text(search: RoleSearch, name: str) -> bool:
    return all(
        other == name or not search.profiles[other].is_text for other in search.table.columns
    )


def _are_related(search: RoleSearch, names: Sequence[str]) -> bool:
    """Return whether texts of a row share words, more than texts of different rows.

    Texts of different systems about one input do; remarks and names do not.
    """
    first = search.profiles[names[0]].values
    if len(first) < 4:
        return True
    words = {
        name: [frozenset(_content_words(value)) for value in search.profiles[name].values[:500]]
        for name in names
    }

    def overlap(left: list[frozenset[str]], right: list[frozenset[str]]) -> float:
        pairs = [(a, b) for a, b in zip(left, right, strict=True) if a and b]
        return sum(len(a & b) / len(a | b) for a, b in pairs) / max(len(pairs), 1)

    for i, name in enumerate(names):
        shared = apart = 0.0
        for other in (*names[:i], *names[i + 1 :], *search.roles.references[:1]):
            right = words.get(other) or [
                frozenset(_content_words(value)) for value in search.profiles[other].values[:500]
            ]
            shared = max(shared, overlap(words[name], right))
            apart = max(apart, overlap(words[name], right[1:] + right[:1]))
        if shared <= max(1.5 * apart, 0.05):
            return False
    return True


def _content_words(value: object) -> list[str]:
    text = fold(text_of(value) or "")
    characters = [c for c in text if c >= "\u2e80"]  # languages without spaces
    return [word for word in re.findall(r"\w+", text) if len(word) > 3] + characters
