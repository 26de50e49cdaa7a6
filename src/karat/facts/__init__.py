"""Facts of a text - numbers, negation, names - and how two texts differ in them.

    text --texts.py--> TextFacts --comparing.py--> FactChanges

`rules.py` reads the rules of a language (`data/facts`), `numbers.py` finds numbers in words and
digits, `texts.py` finds all facts of a text and caches what it learns about words, and
`comparing.py` compares a candidate with its references or its source.
"""
