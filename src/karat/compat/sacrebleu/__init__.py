"""sacreBLEU's modules, functions, classes and command, counted by Karat's kernel.

    from karat.compat import sacrebleu

    sacrebleu.corpus_bleu(hypotheses, [references])

References are streams, as in sacreBLEU: `references[k][i]` is reference k of segment i, or None.
The command is `python -m karat.compat.sacrebleu`. Modules whose names say little, such as `utils`,
have their names from the modules in `_PLACES`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from karat.compat.sacrebleu import compat, dataset, metrics, tokenizers, version
from karat.compat.sacrebleu.compat import (
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    raw_corpus_bleu,
    sentence_bleu,
    sentence_chrf,
    sentence_ter,
)
from karat.compat.sacrebleu.dataset import (
    DATASETS,
    SACREBLEU_DIR,
    download_test_set,
    get_available_testsets,
    get_langpairs_for_testset,
    get_reference_files,
    get_source_file,
    smart_open,
)
from karat.compat.sacrebleu.metrics import BLEU, CHRF, TER
from karat.compat.sacrebleu.metrics.ngrams import extract_char_ngrams, extract_word_ngrams
from karat.compat.sacrebleu.version import __version__

__all__ = [
    "BLEU",
    "CHRF",
    "DATASETS",
    "SACREBLEU_DIR",
    "TER",
    "__version__",
    "compat",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "dataset",
    "download_test_set",
    "extract_char_ngrams",
    "extract_word_ngrams",
    "get_available_testsets",
    "get_langpairs_for_testset",
    "get_reference_files",
    "get_source_file",
    "metrics",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
    "smart_open",
    "tokenizers",
    "version",
]

_PLACES: dict[str, dict[str, str]] = {
    "dataset.base": dict.fromkeys(
        ("Dataset", "SACREBLEU_DIR", "download_file", "smart_open"), "dataset"
    ),
    "metrics.helpers": dict.fromkeys(
        (
            *("extract_all_char_ngrams", "extract_all_word_ngrams"),
            *("extract_char_ngrams", "extract_word_ngrams"),
        ),
        "metrics.ngrams",
    ),
    "utils": {
        **dict.fromkeys(
            (
                *("Color", "args_to_dict", "print_results_table", "print_single_results"),
                *("sacrelogger", "sanity_check_lengths", "sum_of_lists"),
            ),
            "printing",
        ),
        **dict.fromkeys(
            (
                *("DATASETS", "SACREBLEU_DIR", "USERHOME", "download_file", "download_test_set"),
                *("extract_tarball", "filter_subset", "get_available_origlangs"),
                *("get_available_subsets", "get_available_testsets"),
                *("get_available_testsets_for_langpair", "get_files", "get_langpairs_for_testset"),
                *("get_md5sum", "get_reference_files", "get_source_file", "print_subset_results"),
                *("print_test_set", "smart_open"),
            ),
            "dataset",
        ),
        "my_log": "metrics.bleu",
    },
    **{
        f"tokenizers.{name}": dict.fromkeys(names, "tokenizers")
        for name, names in tokenizers.MODULES.items()
    },
}
"""Modules of sacreBLEU without a file here -> their names -> the modules that have them."""


def _add_module(name: str, places: Mapping[str, str]) -> None:
    """Add a module whose names are in other modules; `import` finds it by its name."""
    module = ModuleType(f"{__name__}.{name}", f"sacreBLEU's module `{name}`.")

    def get(attribute: str) -> Any:
        if attribute not in places:
            raise AttributeError(f"module {module.__name__!r} has no attribute {attribute!r}")
        return getattr(import_module(f"{__name__}.{places[attribute]}"), attribute)

    module.__dict__.update(__getattr__=get, __dir__=lambda: [*places], __all__=[*places])
    sys.modules[module.__name__] = module
    parent, _, last = name.rpartition(".")
    parent_module = sys.modules[f"{__name__}.{parent}".rstrip(".")]
    if last not in vars(parent_module):
        setattr(parent_module, last, module)


for _name, _places in _PLACES.items():
    _add_module(_name, _places)


def __getattr__(name: str) -> object:
    if name in ("significance", "sacrebleu"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"karat.compat.sacrebleu has no {name}")
