"""Karat scores generated text against references and human judgement, and shows why.

    import karat as kt

    kt.metric("bleu").corpus(candidates, references)
    kt.compare({"A": a, "B": b}, references, ["bleu", "chrf"], baseline="A")

`references[i]` holds the references of segment i: a string or a list of strings.
"""

from karat.exports import lazy

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = lazy(__name__)
