"""The interfaces of sacreBLEU, rouge-score and HF `evaluate`, on Karat's kernel.

    from karat.compat import sacrebleu, rouge_scorer

Names, arguments, results and the orientation of references are those of the tools. None of them
needs to be installed. docs/reference/compat.md lists what differs.
"""

from karat.exports import lazy

__getattr__, __dir__, __all__ = lazy(__name__)
