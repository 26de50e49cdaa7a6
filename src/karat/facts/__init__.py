"""Facts of a text - numbers, negation, names - and how two texts differ in them.

    text --texts.py--> TextFacts --comparing.py--> FactChange

`rules.py` reads the rules of a language (`data/facts`). `numbers.py` and `han_numbers.py` find
numbers in digits and words. `texts.py` finds all facts of a text, and caches what it learns about
words. `comparing.py` compares a candidate with its references or its source. `languages.py` notices
texts in another language than declared.
"""
