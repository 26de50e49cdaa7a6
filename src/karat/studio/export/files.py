"""Stores by their paths: export, import, check and copy, for commands and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.evalset.catalogue import GivenPath
from karat.studio.export.formats import ALL, export_store
from karat.studio.export.restoring import restore
from karat.studio.store.store import Store

if TYPE_CHECKING:
    from karat.studio.checking.checks import StoreCheck


def export_studio(
    store: GivenPath,
    target: GivenPath,
    format: str = ALL,
    anonymous: bool = False,
    spreadsheet_safe: bool = False,
) -> tuple[str, ...]:
    """Write the judgements of a studio to files; return the formats written.

    Args:
        store: file of judgements; a studio may be using it.
        target: file or folder that does not exist yet.
        format: name of a format, or `all` for a folder with each format of the project's task.
        anonymous: write pseudonyms instead of the names of assessors.
        spreadsheet_safe: in `csv`, keep spreadsheets from taking text for formulas.
    """
    with Store.reading(store) as opened, opened.intact():
        return export_store(opened, target, format, anonymous, spreadsheet_safe)


def import_studio(log: GivenPath, store: GivenPath) -> None:
    """Make a file of judgements from its log; `open_studio` gives each assessor a new link.

    Args:
        log: log that `export_studio` wrote, or the folder that has it.
        store: file to make.
    """
    restore(log, store)


def check_studio(store: GivenPath) -> StoreCheck:
    """Check a file of judgements: the database, references between rows, what may not change.

    Args:
        store: file of judgements; a studio may be using it.
    """
    with Store.reading(store) as opened:
        return opened.check()
