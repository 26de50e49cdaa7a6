"""sacreBLEU's test sets by name, and its functions for files.

Karat downloads nothing: names and language pairs are known, texts are not. Whatever needs a text of
a test set raises `NoTestSet`.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import IO, Any, NoReturn

from karat.errors import InputError, quoted

USERHOME = os.path.expanduser("~")
SACREBLEU_DIR = os.environ.get("SACREBLEU", os.path.join(USERHOME, ".sacrebleu"))
"""The folder of sacreBLEU's test sets and models; Karat reads models in it and writes nothing."""

sacrelogger = logging.getLogger("sacrebleu")


class NoTestSet(InputError):
    """A test set that would have to be downloaded, or that is unknown."""


def _refuse(subject: str) -> NoReturn:
    advice = "give references as files, or get them with sacreBLEU itself (--echo)"
    raise NoTestSet(f"{subject}: Karat downloads no test sets; {advice}")


# ----------------------------------------------------------------------------------- test sets


class Dataset:
    """A test set by name, with its language pairs; its texts are not here."""

    def __init__(
        self,
        name: str,
        data: list[str] | None = None,
        description: str | None = None,
        citation: str | None = None,
        md5: list[str] | None = None,
        langpairs: Mapping[str, list[str]] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name, self.data, self.description = name, data, description
        self.citation, self.md5, self.kwargs = citation, md5, kwargs
        self.langpairs = dict(langpairs or {})

    def maybe_download(self) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(self.name)

    def process_to_text(self, langpair: str | None = None) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(self.name)

    def fieldnames(self, langpair: str) -> NoReturn:
        """Raise an error: the fields are those of the downloaded files."""
        _refuse(f"{self.name}/{langpair}")

    def source(self, langpair: str) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(f"{self.name}/{langpair}")

    def references(self, langpair: str) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(f"{self.name}/{langpair}")

    def get_source_file(self, langpair: str) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(f"{self.name}/{langpair}")

    def get_reference_files(self, langpair: str) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(f"{self.name}/{langpair}")

    def get_files(self, langpair: str) -> NoReturn:
        """Raise an error: nothing is downloaded."""
        _refuse(f"{self.name}/{langpair}")


_LANGUAGE_PAIRS = """
wmt24 cs-uk en-cs en-de en-es en-hi en-is en-ja en-ru en-uk en-zh ja-zh
wmt23 cs-uk de-en en-cs en-de en-he en-ja en-ru en-uk en-zh he-en ja-en ru-en uk-en zh-en
wmt22 cs-en cs-uk de-en de-fr en-cs en-de en-hr en-ja en-liv en-ru en-uk en-zh fr-de ja-en liv-en
  ru-en ru-sah sah-ru uk-cs uk-en zh-en
wmt21/systems de-fr en-de en-ha en-is en-ja fr-de ha-en is-en ja-en zh-en en-zh cs-en de-en en-cs
  en-ru ru-en bn-hi hi-bn xh-zu zu-xh
wmt21 de-fr en-de en-ha en-is en-ja fr-de ha-en is-en ja-en zh-en en-zh cs-en de-en en-cs en-ru
  ru-en bn-hi hi-bn xh-zu zu-xh
wmt21/B cs-en de-en en-cs en-ru en-zh ru-en
wmt21/AB cs-en de-en en-de en-cs en-ru en-zh ru-en
wmt21/C en-de
wmt21/AC en-de
wmt21/D en-de
wmt21/dev en-ha ha-en en-is is-en
wmt20/tworefs de-en en-de en-zh ru-en zh-en
wmt20 cs-en de-en de-fr en-cs en-de en-iu en-ja en-km en-pl en-ps en-ru en-ta en-zh fr-de iu-en
  ja-en km-en pl-en ps-en ru-en ta-en zh-en
wmt20/dev iu-en en-iu ja-en en-ja pl-en en-pl ta-en en-ta
wmt20/robust/set1 en-ja en-de
wmt20/robust/set2 en-ja ja-en
wmt20/robust/set3 de-en
wmt19 cs-de de-cs de-en de-fr en-cs en-de en-fi en-gu en-kk en-lt en-ru en-zh fi-en fr-de gu-en
  kk-en lt-en ru-en zh-en
wmt19/dev lt-en en-lt gu-en en-gu kk-en en-kk
wmt19/google/ar en-de
wmt19/google/arp en-de
wmt19/google/wmtp en-de
wmt19/google/hqr en-de
wmt19/google/hqp en-de
wmt19/google/hqall en-de
wmt18 cs-en de-en en-cs en-de en-et en-fi en-ru et-en fi-en ru-en en-tr tr-en en-zh zh-en
wmt18/test-ts cs-en de-en en-cs en-de en-et en-fi en-ru et-en fi-en ru-en en-tr tr-en en-zh zh-en
wmt18/dev et-en en-et
wmt17 cs-en de-en en-cs en-de en-fi en-lv en-ru en-tr en-zh fi-en lv-en ru-en tr-en zh-en
wmt17/B en-fi
wmt17/tworefs en-fi
wmt17/improved en-zh zh-en
wmt17/dev en-lv en-zh lv-en zh-en
wmt17/ms zh-en
wmt16 cs-en de-en en-cs en-de en-fi en-ro en-ru en-tr fi-en ro-en ru-en tr-en
wmt16/B en-fi
wmt16/tworefs en-fi
wmt16/dev en-ro en-tr ro-en tr-en
wmt15 en-fr fr-en cs-en de-en en-cs en-de en-fi en-ru fi-en ru-en
wmt14 cs-en en-cs de-en en-de en-fr fr-en en-hi hi-en en-ru ru-en
wmt14/full cs-en en-cs de-en en-de en-fr fr-en en-hi hi-en en-ru ru-en
wmt13 cs-en en-cs de-en en-de es-en en-es fr-en en-fr ru-en en-ru
wmt12 cs-en en-cs de-en en-de es-en en-es fr-en en-fr
wmt11 cs-en en-cs de-en en-de fr-en en-fr es-en en-es
wmt10 cs-en en-cs de-en en-de es-en en-es fr-en en-fr
wmt09 cs-en en-cs de-en en-de es-en en-es fr-en en-fr hu-en en-hu it-en en-it
wmt08 cs-en en-cs de-en en-de es-en en-es fr-en en-fr hu-en en-hu
wmt08/nc cs-en en-cs
wmt08/europarl de-en en-de es-en en-es fr-en en-fr
iwslt17 en-fr fr-en en-de de-en en-zh zh-en en-ar ar-en en-ja ja-en en-ko ko-en
iwslt17/tst2016 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2015 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2014 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2013 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2012 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2011 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/tst2010 en-fr fr-en en-de de-en en-zh zh-en
iwslt17/dev2010 en-fr fr-en en-de de-en en-zh zh-en
mtedx/valid el-en es-en es-fr es-it es-pt fr-en fr-es fr-pt it-en it-es pt-en pt-es ru-en
mtedx/test el-en es-en es-fr es-it es-pt fr-en fr-es fr-pt it-en it-es pt-en pt-es ru-en
multi30k/2016 en-fr en-de en-cs
multi30k/2017 en-fr en-de
multi30k/2018 en-fr en-de en-cs
mtnt2019 en-fr fr-en en-ja ja-en
mtnt1.1/test en-fr fr-en en-ja ja-en
mtnt1.1/valid en-fr fr-en en-ja ja-en
mtnt1.1/train en-fr fr-en en-ja ja-en
"""


def _datasets() -> dict[str, Dataset]:
    """Return the test sets of the table; a line with an indent goes on with the one above."""
    rows = _LANGUAGE_PAIRS.strip().replace("\n  ", " ").splitlines()
    return {
        name: Dataset(name, langpairs={pair: [] for pair in pairs})
        for name, *pairs in map(str.split, rows)
    }


DATASETS = _datasets()
"""sacreBLEU's test sets by their names."""


def get_available_testsets() -> list[str]:
    """Return the names of the test sets, the last first."""
    return sorted(DATASETS, reverse=True)


def get_available_testsets_for_langpair(langpair: str) -> list[str]:
    """Return the names of the test sets with a language pair, in either direction."""
    pair = "-".join(langpair.split("-")[:2])
    pairs = {pair, "-".join(reversed(pair.split("-")))}
    return [name for name, dataset in DATASETS.items() if pairs & dataset.langpairs.keys()]


def get_langpairs_for_testset(testset: str) -> list[str]:
    """Return the language pairs of a test set; none if it is unknown."""
    return [*DATASETS[testset].langpairs] if testset in DATASETS else []


def find_test_set(name: str) -> Dataset:
    """Return the test set of a name."""
    if name not in DATASETS:
        raise NoTestSet(f"no test set {quoted(name)}: get_available_testsets() lists them")
    return DATASETS[name]


def get_source_file(test_set: str, langpair: str) -> str:
    """Raise an error: the source would have to be downloaded."""
    find_test_set(test_set).get_source_file(langpair)


def get_reference_files(test_set: str, langpair: str) -> list[str]:
    """Raise an error: the references would have to be downloaded."""
    find_test_set(test_set).get_reference_files(langpair)


def get_files(test_set: str, langpair: str) -> list[str]:
    """Raise an error: the texts would have to be downloaded."""
    find_test_set(test_set).get_files(langpair)


def download_test_set(test_set: str, langpair: str | None = None) -> list[str]:
    """Raise an error: nothing is downloaded."""
    dataset = find_test_set(test_set)
    _refuse(f"{dataset.name}/{langpair}" if langpair else dataset.name)


def download_file(
    source_path: str,
    dest_path: str,
    extract_to: str | None = None,
    expected_md5: str | None = None,
) -> None:
    """Raise an error: nothing is downloaded."""
    _refuse(source_path)


def print_test_set(
    test_set: str,
    langpair: str,
    requested_fields: Sequence[str],
    origlang: str | None = None,
    subset: str | None = None,
) -> None:
    """Raise an error: the texts would have to be downloaded."""
    find_test_set(test_set).get_files(langpair)


def get_available_origlangs(test_sets: str | None, langpair: str) -> list[str]:
    """Return no languages without test sets; raise an error with some."""
    return _annotations(test_sets, langpair)


def get_available_subsets(test_sets: str | None, langpair: str) -> list[str]:
    """Return no subsets without test sets; raise an error with some."""
    return _annotations(test_sets, langpair)


def _annotations(test_sets: str | None, langpair: str) -> list[str]:
    for name in test_sets.split(",") if test_sets is not None else ():
        find_test_set(name).get_files(langpair)
    return []


def filter_subset(
    systems: Sequence[Sequence[str]],
    test_sets: str | None,
    langpair: str | None,
    origlang: str | None,
    subset: str | None = None,
) -> Sequence[Sequence[str]]:
    """Return the segments; a subset by language or document needs a test set and is refused."""
    if origlang is None and subset is None:
        return systems
    if test_sets is None or langpair is None:
        raise InputError("--origlang and --subset need a test set (-t) and a language pair (-l)")
    _refuse(test_sets)


def print_subset_results(
    metrics: Mapping[str, Any],
    full_system: Sequence[str],
    full_refs: Sequence[Sequence[str]],
    args: Namespace,
) -> None:
    """Print that there are no subsets; they are those of downloaded test sets."""
    if args.origlang or get_available_origlangs(args.test_set, args.langpair):
        _refuse(f"--origlang {args.origlang}")
    print("No subsets: the original languages of segments are only known for test sets.")


# --------------------------------------------------------------------------------------- files


def smart_open(file: str, mode: str = "rt", encoding: str | None = "utf-8") -> IO[Any]:
    """Open a text file, also one of gzip, with lines that end in line feeds only."""
    if file.endswith(".gz"):
        unzip: Any = gzip.open
        lines: IO[Any] = unzip(file, mode, encoding=encoding, newline="\n")
        return lines
    return open(file, mode, encoding=encoding, newline="\n")


def get_md5sum(dest_path: str) -> str:
    """Return the MD5 of a file in hexadecimal digits."""
    with open(dest_path, "rb") as file:
        return hashlib.md5(file.read(), usedforsecurity=False).hexdigest()


def extract_tarball(filepath: str, destdir: str) -> None:
    """Unpack a .tar.gz, .tgz or .zip file into a folder; other files are left as they are."""
    if filepath.endswith((".tar.gz", ".tgz")):
        import tarfile

        with tarfile.open(filepath) as tar:
            tar.extractall(destdir, filter="data")
    elif filepath.endswith(".zip"):
        import zipfile

        with zipfile.ZipFile(filepath) as archive:
            archive.extractall(destdir)
