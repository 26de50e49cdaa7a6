"""English words that paraphrases are checked for: all of one language that is written in the code.

For paraphrases of another language, replace these lists. Empty ones switch the checks off.
"""

from __future__ import annotations

ARTICLES = ("a", "an")
"""Articles between which the next word decides; the language model knows which."""
_PRONOUNS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we us our ours ourselves they them their theirs themselves
"""
PRONOUNS = frozenset(_PRONOUNS.split())
"""Personal pronouns: a rewrite that changes them speaks of somebody else."""
_NEGATIONS = """
    no not never none nobody nothing nowhere neither nor cannot without
"""
NEGATIONS = frozenset(_NEGATIONS.split())
"""Words that deny: a rewrite that drops or adds one says the contrary."""
CONTRACTED_NEGATIONS = ("n't",)
"""Ends of words that deny."""
