"""The commands `karat studio`, and its `export`, `import` and `owner`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from karat.cli.command import Command
from karat.cli.options import complete_set, setting_option, table_reading
from karat.cli.parameters import F, choice, combine, flag, integer, named, not_empty, option, path
from karat.cli.show import say
from karat.errors import InputError, short, visible
from karat.headings import ADVANCED
from karat.progress import Bar
from karat.studio.options import OPTIONS, PORT, TOKEN_VARIABLE, StudioOptions

if TYPE_CHECKING:
    from karat.studio.opening import OpenStudio
    from karat.tables.options import ReadingOptions

EXPORT_FORMATS = (
    *("all", "log", "csv", "labels", "ties", "set", "mqm", "appraise", "pairs", "wins"),
    *("nuggets", "key", "trec"),
)


def declared_options(*names: str) -> Callable[[F], F]:
    """Return a decorator that adds options of `StudioOptions`, given by the names of fields."""
    decorators = []
    for name in names:
        is_file = OPTIONS[name].metadata["place"]
        callback = None if is_file else not_empty
        decorators.append(setting_option(name, OPTIONS[name], callback=callback))
    return combine(*decorators)


@click.command(name="studio", cls=Command)
@click.argument("name", metavar="[SET]", required=False, shell_complete=complete_set)
@declared_options("task", "dimensions", "scales", "scheme", "runs")
@named(
    "--assessor assessors", "Assessor to invite. Repeat for several.", multiple=True, metavar="NAME"
)
@declared_options("overlap", "show")
@named("--store", "File of judgements. Default: SET.studio.sqlite in the current folder.", path)
@flag("--no-browser", "Do not open a browser.")
@option("--check", "Check the store FILE, then stop.", path)
@option(
    "--backup",
    "Copy the store FILE to TARGET, even while it is in use, then stop.",
    (str, str),
    metavar="FILE TARGET",
)
@table_reading
@declared_options(
    *("quota", "calibration", "predictor", "random_share", "seed", "earlier", "lease_seconds")
)
@option("--port", "Port to listen on.", integer(min=1, max=65535), PORT, heading=ADVANCED)
@named(
    "--host",
    "Address to listen on, such as 0.0.0.0 for a local network. Needs --token-file.",
    heading=ADVANCED,
)
@option(
    "--token-file",
    "File with the token of the owner's link, at least 16 letters and digits. The environment "
    f"variable {TOKEN_VARIABLE} may hold it instead.",
    path,
    heading=ADVANCED,
)
@named(
    "--token",
    "Token of the owner's link. Other users of the machine can see it in the list of processes: "
    "prefer --token-file.",
    metavar="TOKEN",
    heading=ADVANCED,
)
def studio(
    name: str | None,
    store: str | None,
    assessors: tuple[str, ...],
    host: str | None,
    port: int,
    token: str | None,
    token_file: str | None,
    no_browser: bool,
    check: str | None,
    backup: tuple[str, str] | None,
    reading: ReadingOptions,
    **options: Any,
) -> None:
    """Judge outputs in the browser.

    Opens a local page on which one or more assessors rate outputs, choose between two, mark errors
    or decide nuggets. They do not see which system an output is from. Every action is saved at
    once. The same command, or `karat studio STORE`, continues where judging stopped. Ctrl-C ends
    it. SET is an evaluation set, a table of outputs, a folder of text files, a nugget set or a
    nugget key.

    \b
    karat studio my-set --dimension fluency --dimension adequacy --scale 5
    karat studio my-set --task pairs --assessor ada --assessor ben --overlap 2
    karat studio outputs.csv --column candidate=answer --task pairs
    karat studio key.jsonl --run my.run
    karat studio --check my-set.studio.sqlite
    """
    if backup:
        from karat.studio.store.store import Store

        with Store.reading(backup[0]) as opened_store:
            opened_store.backup(backup[1])
        _print_line(f"{backup[0]} is copied to {backup[1]}")
    if check:
        from karat.studio.export.formats import check_studio

        store_check = check_studio(check)
        counts = ", ".join(f"{table.rows:,} {table.table}" for table in store_check.rows)
        _print_line(f"{check}: {counts}")
        if store_check.problems:
            raise InputError(f"{short(check)} is damaged: {'; '.join(store_check.problems)}")
        _print_line("No problems found.")
    if check or backup:
        return
    if name is None:
        raise click.UsageError("SET is missing: name a set, such as demo (see `karat data list`)")
    from karat.studio.opening import choose_token, prepare_studio

    with Bar() as progress:
        owner_token = choose_token(token, token_file)
        studio_options = StudioOptions(**options, reading=reading)
        opened = prepare_studio(
            *(name, store, studio_options, assessors, host, port, owner_token),
            *(progress, _print_line),
        )
    with opened:
        _serve(opened, not no_browser)


def _serve(studio: OpenStudio, browser: bool) -> None:
    """Print the links, serve until Ctrl-C, then print a summary."""
    import threading
    import webbrowser

    from karat.studio.store.projects import project

    def ready() -> None:
        people = studio.people
        for person in people:
            _print_line(f"{visible(person.name)} ({person.role}): {studio.links[person.name]}")
        owner = next((person for person in people if person.role == "owner"), None)
        if owner is None:
            advice = f"make a link with `karat studio owner {visible(str(studio.store))}`"
            _print_line(f"No owner is left: {advice}.")
        if (overlap := project(studio.opened).settings.overlap) > len(people):
            problem = f"--overlap {overlap} needs {overlap} people, and {len(people)} are invited"
            _print_line(f"{problem}: invite more with --assessor or on the owner's page.")
        _print_line("Press Ctrl-C to stop.")
        if browser and owner:
            address = studio.links[owner.name]
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    studio.serve(ready)
    studio.opened.check_files_in_place()
    _print_line(f"Stopped. Judgements: {studio.judged:,}. All is saved in {studio.store}.")


def _print_line(line: str) -> None:
    say([line + "\n"], None)
    sys.stdout.flush()


@click.command(name="export", cls=Command)
@click.argument("store", metavar="STORE", type=click.Path())
@click.argument("target", metavar="TARGET", type=click.Path())
@option(
    "-f --format format",
    f"Format of TARGET: {', '.join(EXPORT_FORMATS)}. `all` is a folder with every format of the "
    "project's tasks.",
    choice(*EXPORT_FORMATS),
    "all",
    metavar="FORMAT",
)
@flag("--anonymous", "Write pseudonyms instead of the names of assessors.")
@flag(
    "--spreadsheet-safe",
    "In csv, put an apostrophe before text that a spreadsheet would take for a formula.",
)
def export(store: str, target: str, format: str, anonymous: bool, spreadsheet_safe: bool) -> None:
    """Export the judgements of a store, even while it is in use.

    log has every row ever written, with times, undone and replaced answers; `karat studio import`
    makes a store of it. labels has one label for each thing that was judged: the adjudicated one,
    else that of the majority (the mean of ratings). Ties are named, and listed in ties. set is an
    evaluation set for karat meta and karat estimate; nuggets, key and trec are for karat nuggets.
    Exports name the systems. Nothing is overwritten: TARGET must not exist yet.

    \b
    karat studio export my.studio.sqlite judged
    karat studio export my.studio.sqlite my-set --format set --anonymous
    """
    from karat.studio.export.formats import export_studio

    written = export_studio(store, target, format, anonymous, spreadsheet_safe)
    say([f"{visible(target)}: {', '.join(written)}\n"], None)


@click.command(name="import", cls=Command)
@click.argument("source", metavar="LOG", type=click.Path())
@click.argument("store", metavar="STORE", type=click.Path())
def import_log(source: str, store: str) -> None:
    """Make a store from its log, or from a folder that `karat studio export` wrote.

    `karat studio STORE` opens it and prints a new link for each assessor: earlier links do not
    work with the new store. STORE must not exist yet.

    \b
    karat studio import judged copy.studio.sqlite
    """
    from karat.studio.export.log import import_studio

    import_studio(source, store)
    opens = f"`karat studio {visible(store)}` opens it, with new links"
    say([f"{visible(store)}: made from {visible(source)}. {opens}.\n"], None)


@click.command(name="owner", cls=Command)
@click.argument("store", metavar="STORE", type=click.Path())
@named("--name", "Name of the owner.", default="owner", metavar="NAME")
@option("--port", "Port of the studio in the printed link.", integer(min=1, max=65535), PORT)
def owner(store: str, name: str, port: int) -> None:
    """Print a new owner's link of a studio.

    Use it if the owner's link is lost or the owner was withdrawn. It needs no link, only a store
    file that you may write to. The studio may be running. The earlier link of this owner and its
    sessions end. The audit trail records it.

    \b
    karat studio owner my-set.studio.sqlite
    """
    from karat.studio.opening import recover_link

    path = recover_link(store, name)
    say([f"{visible(name)} (owner): http://127.0.0.1:{port}{path}\n"], None)
