"""`reproduce`: the main table or figure of a paper, by the paper's short name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from karat.evalset.catalogue import GivenPath
from karat.progress import Progress, silent
from karat.registry import Registry, call, expect_type, make_check
from karat.reproduction.requests import Request, data_folder
from karat.reproduction.results import Reproduction
from karat.stats.resampling import SEED

REPRODUCTIONS: Registry[Callable[[Request], Reproduction]] = Registry(
    "reproductions",
    "paper",
    {
        "aev": "karat.reproduction.aev:reproduce_aev",
        "gtm": "karat.reproduction.gtm:reproduce_gtm",
    },
    check=make_check(callable, "paper", "a function that returns a karat.Reproduction"),
)
"""Name -> the function that makes a paper's main table or figure again."""


def reproduce(
    name: str,
    data: GivenPath | None = None,
    *,
    full: bool = False,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> Reproduction:
    """Make the main table or figure of a paper again, and set the published numbers beside it.

    Args:
        name: `aev`, `gtm`, `fergus`, `pem` or `nuggeteer`.
        data: the folder of data sets; by default the one that KARAT_DATA names. Without either,
            or with `"bundled"`, the small bundled data are used.
        full: use the settings that take long.
        seed: seed of resamples.
        threads: number of threads; by default one per processor.
        progress: receives the state of the work.
    """
    function = REPRODUCTIONS[name]
    request = Request(data_folder(data), full, seed, threads, progress)
    wanted = expect_type(Reproduction, "a karat.Reproduction")
    found: Reproduction = call(
        f"the reproduction of {name}", function, lambda: function(request), wanted
    )
    return replace(found, signatures={**found.signatures, **request.data.signatures})
