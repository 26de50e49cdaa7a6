"""`karat studio`: opens a page on which people judge."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import ADVANCED, INPUT, choice, flag, named, option, path, share, whole
from karat.cli.show import say
from karat.errors import InputError, MissingExtra, OutputError, short
from karat.visible import visible

if TYPE_CHECKING:
    from karat.studio.store.projects import Project
    from karat.studio.store.store import Store

PORT = 8642
SHORTEST_TOKEN = 16
_LOCAL = ("127.0.0.1", "localhost", "::1")


@click.command(name="studio", cls=Command)
@click.argument("name", metavar="[SET]", required=False, shell_complete=options.complete_set)
@named("--store", "File of judgements. Default: SET.studio.sqlite in the current folder.", path)
@option(
    "--task",
    "Task of assessors. Default: nuggets for a nugget set, else ratings.",
    choice("ratings", "pairs", "spans", "nuggets"),
)
@named(
    "-d --dimension dimensions",
    "Dimension to rate. Repeat for several.",
    multiple=True,
    metavar="NAME",
)
@named(
    "--scale scales",
    "Scale: a size for all dimensions (5, 7 or 100), or a name such as quality-7. Repeat for "
    "several. Default: quality-7.",
    multiple=True,
    metavar="SCALE",
)
@option("--scheme", "Scheme of error spans.", choice("mqm", "esa"))
@option("--overlap", "Number of assessors who judge each unit.", whole(min=1), 1)
@named(
    "--assessor assessors", "Assessor to invite. Repeat for several.", multiple=True, metavar="NAME"
)
@option("--quota", "Most units that one assessor judges. Default: no limit.", whole(min=1))
@option(
    "--show",
    "Text to show beside outputs. Repeat for several. Default: source and context, and the "
    "reference where a dimension compares with it.",
    choice("source", "context", "reference"),
    multiple=True,
)
@option(
    "--seed",
    "Seed of the orders in which units are shown.",
    whole(min=0, max=2**53 - 1),
    1,
    heading=ADVANCED,
)
@option(
    "--calibration",
    "Items with known answers (JSON lines), mixed in to check assessors.",
    path,
    heading=ADVANCED,
)
@named(
    "--predictor",
    "Metric by which the most useful items are judged first. Default: random order.",
    metavar="METRIC",
    heading=ADVANCED,
)
@option(
    "--random-share",
    "Share of rounds that are random if there is a predictor.",
    share(),
    0.2,
    heading=ADVANCED,
)
@option("--port", "Port to listen on.", whole(min=1, max=65535), PORT)
@named("--host", "Address to listen on, such as 0.0.0.0 for a local network. Needs --token.")
@named("--token", "Token of the owner's link, at least 16 letters and digits.", metavar="TOKEN")
@flag("--no-browser", "Do not open a browser.")
@option("--check", "Check the store FILE, then stop.", path)
@option(
    "--backup",
    "Copy the store FILE to TARGET, even while it is in use, then stop.",
    (str, str),
    metavar="FILE TARGET",
)
@option(
    "--run runs",
    "Run file of a nugget set. Repeat for several.",
    path,
    multiple=True,
    heading=INPUT,
)
def command(
    name: str | None,
    store: str | None,
    host: str | None,
    token: str | None,
    check: str | None,
    backup: tuple[str, str] | None,
    **given: Any,
) -> None:
    """Judge outputs in the browser.

    Opens a local page on which one or more assessors rate outputs, choose between two, mark errors
    or decide nuggets. They do not see which system an output is from. Every action is saved at
    once. The same command continues where judging stopped. Ctrl-C ends it.

    \b
    karat studio my-set --dimension fluency --dimension adequacy --scale 5
    karat studio my-set --task pairs --assessor ada --assessor ben --overlap 2
    karat studio key.jsonl --run my.run
    karat studio --check my-set.studio.sqlite
    """
    if check or backup:
        _look_after(check, backup)
        return
    if name is None:
        raise click.UsageError("SET is missing: name a set, such as demo (see `karat data list`)")
    address = _address(host, token)
    _check_installed()
    where = Path(store) if store else Path(f"{_stem(name)}.studio.sqlite")
    _serve(name, where, address, token, given)


def _stem(name: str) -> str:
    """Return the name of a set without folders and endings."""
    return Path(os.path.abspath(name)).name.split(".")[0] or "set"


def _address(host: str | None, token: str | None) -> str:
    if token is not None:
        good = token.isascii() and all(letter.isalnum() or letter in "-_" for letter in token)
        if not good or not SHORTEST_TOKEN <= len(token) <= 200:
            told = f"expected {SHORTEST_TOKEN} to 200 letters, digits, - and _"
            raise InputError(f"--token: found {len(token)} characters, {told}")
    if host is None:
        return _LOCAL[0]
    if token is None and host not in _LOCAL:
        raise InputError(f"--host {short(host)} opens the studio to others: add --token TOKEN")
    return host


def _check_installed() -> None:
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn", "jinja2"):
        if find_spec(package) is None:
            raise MissingExtra(f"karat studio needs {package}: pip install 'karat[studio]'")


def _look_after(check: str | None, backup: tuple[str, str] | None) -> None:
    """Check a store or copy it."""
    from karat.studio.store.store import Store

    if backup:
        with Store.reading(backup[0]) as store:
            store.backup(backup[1])
        _tell(f"{backup[0]} is copied to {backup[1]}")
    if check:
        with Store.reading(check) as store:
            found = store.check()
        _tell(f"{check}: {', '.join(f'{one.rows:,} {one.table}' for one in found.rows)}")
        if found.problems:
            raise InputError(f"{short(check)} is damaged: {'; '.join(found.problems)}")
        _tell("No problems found.")


def _serve(name: str, where: Path, host: str, token: str | None, given: dict[str, Any]) -> None:
    from karat.studio.store.assessors import check_name
    from karat.studio.web.links import OWNER
    from karat.studio.web.server import listen

    for assessor in given["assessors"]:
        check_name(assessor)
        if assessor == OWNER:
            raise InputError(f"--assessor {OWNER}: that is the name of your own link, use another")
    bound = listen(host, given["port"])  # a port that is taken is told before anything is made
    try:
        with _opened(name, where, given) as store:
            _run(store, bound, host, token, given)
    finally:
        bound.close()


def _run(store: Store, bound: Any, host: str, token: str | None, given: dict[str, Any]) -> None:
    from karat.studio.assignment.rounds import prepare_rounds
    from karat.studio.store.assessors import assessors
    from karat.studio.web.keys import Keys
    from karat.studio.web.links import links
    from karat.studio.web.server import serve
    from karat.studio.web.studio import Studio

    studio = Studio(store, Keys.beside(store.path), token)
    site = f"http://{_reached(host)}:{given['port']}"
    found = links(studio, given["assessors"])
    prepare_rounds(store)

    def ready() -> None:
        for link in found:
            _tell(f"{visible(link.name)} ({link.role}): {site}{link.path}")
        _tell_overlap(store, len(found))
        _tell("Press Ctrl-C to stop.")
        if not given["no_browser"]:
            _open(f"{site}{found[0].path}")

    serve(studio, bound, host, ready)
    total = sum(one.judged for one in assessors(store))
    _tell(f"Stopped. Units judged: {total:,}. All is saved in {store.path}.")


def _tell_overlap(store: Store, people: int) -> None:
    """Say that more people are needed than are invited: until then nothing is complete."""
    from karat.studio.store.projects import project

    if (overlap := project(store).settings.overlap) > people:
        told = f"--overlap {overlap} needs {overlap} people, and {people} are invited"
        _tell(f"{told}: invite more with --assessor or on the owner's page.")


def _reached(host: str) -> str:
    """Return the name under which others reach an address."""
    import socket

    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _open(address: str) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _opened(name: str, where: Path, given: dict[str, Any]) -> Store:
    """Return the store of a set: the one that is there, else a new one."""
    from karat.studio.store.projects import import_set
    from karat.studio.store.store import Store, remove_store

    if where.is_dir():
        raise InputError(f"--store {short(where)} is a folder: expected a file")
    if where.exists():
        return _continued(name, where, given)
    if not os.access(where.parent, os.W_OK):
        raise OutputError(f"cannot write to the folder of {short(where)}: use --store FILE")
    with Bar() as progress:
        found, settings = _read(name, given, progress)
        store = Store.create(where)
        try:
            import_set(store, found, settings, progress)
        except BaseException:
            store.close()
            remove_store(where)
            raise
    _tell(f"{where} is new: judgements are saved there")
    return store


def _continued(name: str, where: Path, given: dict[str, Any]) -> Store:
    """Return a store that is there; an import that was cut off begins again."""
    from karat.studio.cli.continuing import check_options, check_task
    from karat.studio.store.projects import has_project, import_set, project
    from karat.studio.store.store import Store

    store = Store.open(where)
    try:
        if not has_project(store):
            with Bar() as progress:
                import_set(store, *_read(name, given, progress), progress)
        found = project(store)
        check_task(where, given, found.settings)
        check_options(where, given, found.settings)
        _compare(name, where, given, found)
    except BaseException:
        store.close()
        raise
    return store


def _compare(name: str, where: Path, given: dict[str, Any], found: Project) -> None:
    """Refuse the store of another set; a set that is no longer there is not needed."""
    from karat.studio.cli.continuing import check_set

    same = True
    with Bar() as progress:
        try:
            read, settings = _read(name, given, progress)
        except InputError:
            read = None
    if read is not None:
        same = check_set(where, read, settings, found)
    _tell(f"{where} continues: {visible(found.name)}")
    if not same:
        _tell("Its texts differ from those of the set now: those in the file are judged.")


def _read(name: str, given: dict[str, Any], progress: Any) -> tuple[Any, Any]:
    """Return a set of either kind, and the settings of its project."""
    from karat.nuggets.formats.loading import is_nuggets, load_nuggets
    from karat.studio.cli.settings import asked_task, settings_of

    found: Any
    task = given["task"] or ("nuggets" if is_nuggets(name) else "ratings")
    tasks = asked_task(task, given["dimensions"], given["scales"], given["scheme"])
    if is_nuggets(name):
        found = load_nuggets(name, given["runs"], progress=progress)
    elif given["runs"]:
        raise InputError(f"--run is for nugget sets, and {short(name)} is none: leave it out")
    else:
        from karat.cli.inputs import load_set

        found = load_set(name, None, (), progress)
    return found, settings_of(given, tasks, found)


def _tell(line: str) -> None:
    say([line + "\n"], None)
    sys.stdout.flush()
