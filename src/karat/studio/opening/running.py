"""`open_studio`: a studio that answers in the background, for programs and notebooks."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, MissingExtra, OutputError, quoted, short, visible
from karat.evalset.loading import EVALSETS, load_evalset
from karat.evalset.sets import EvalSet, check_known
from karat.nuggets.formats.loading import is_nuggets, load_nuggets
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.storage.output import as_path
from karat.studio.export.earlier import take_earlier
from karat.studio.formats import is_store
from karat.studio.opening.options import PORT, TOKEN_VARIABLE, StudioOptions, check_listed
from karat.studio.opening.outputs import is_outputs, read_outputs
from karat.studio.opening.settings import (
    asked_task,
    check_options,
    check_set,
    check_task,
    settings_of,
)
from karat.studio.sampling import prepare_rounds
from karat.studio.store.assessors import OWNER, check_name, recover_owner
from karat.studio.store.projects import Project, has_project, import_set, project
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store, read_by_others, remove_store

if TYPE_CHECKING:
    import socket

    from karat.studio.web.server import Server
    from karat.studio.web.studio import Studio, StudioLink


Given = str | os.PathLike[str] | EvalSet | NuggetSet
Tell = Callable[[str], None]


def check_given(given: Given) -> None:
    """Refuse what is no set, nor its name or path."""
    if not isinstance(given, str | os.PathLike | EvalSet | NuggetSet):
        raise InputError(f"found {quoted(given)}, expected a set, its name or its path")


def place_of(given: Given) -> Path:
    """Return the file of judgements if none is named: a store itself, else one in this folder."""
    if not isinstance(given, EvalSet | NuggetSet) and is_store(Path(given)):
        return Path(given)
    name = given.name if isinstance(given, EvalSet | NuggetSet) else os.path.abspath(given)
    return Path(f"{Path(name).name.split('.')[0] or 'set'}.studio.sqlite")


def open_store(
    given: Given, where: Path, asked: StudioOptions, progress: Progress, tell: Tell
) -> Store:
    """Open the store of a set, or make it; `tell` is called with what a user should know."""
    if where.is_dir():
        raise InputError(f"--store {short(where)} is a folder: expected a file")
    if where.exists():
        return _reopen(given, where, asked, progress, tell)
    if not os.access(where.parent, os.W_OK):
        raise OutputError(f"cannot write to the folder of {short(where)}: use --store FILE")
    found, settings = _load_set(given, asked, progress, tell)
    store = Store.create(where)
    try:
        import_set(store, found, settings, progress)
        if asked.earlier:
            people = len(take_earlier(store, found))
            tell(f"Judgements of {people:,} assessor{'s' * (people != 1)} were taken over.")
    except BaseException:
        store.close()
        remove_store(where)
        raise
    tell(f"{where} is new: judgements are saved there")
    return store


def _reopen(
    given: Given, where: Path, asked: StudioOptions, progress: Progress, tell: Tell
) -> Store:
    """Open a store again, which must be of the same set and settings.

    A set that is no longer there is not needed, and a store needs no set.
    """
    store = Store.open(where)
    try:
        with store.intact():
            if not has_project(store):  # the import was cut off
                import_set(store, *_load_set(given, asked, progress, tell), progress)
            found = project(store)
            check_task(where, asked, found.settings)
            check_options(where, asked, found.settings)
            same = _has_same_texts(given, where, asked, found, progress)
            tell(f"{where} continues: {visible(found.name)}")
        if read_by_others(where):
            tell(f"Other users of this machine can read {where}: close it with chmod 600.")
        if not same:
            tell("Its texts differ from those of the set now: those in the file are judged.")
    except BaseException:
        store.close()
        raise
    return store


def _has_same_texts(
    given: Given, where: Path, asked: StudioOptions, found: Project, progress: Progress
) -> bool:
    """Return whether a set still has the texts of the store; another set is refused."""
    if not isinstance(given, EvalSet | NuggetSet) and Path(given) == where:
        return True
    try:
        read, settings = _load_set(given, asked, progress)
    except InputError:
        return True
    return check_set(where, read, settings, found)


def _load_set(
    given: Given, asked: StudioOptions, progress: Progress = silent, tell: Tell = lambda line: None
) -> tuple[EvalSet | NuggetSet, ProjectSettings]:
    """Return a set of either kind, and the settings of its project."""
    nuggets = isinstance(given, NuggetSet) or (not isinstance(given, EvalSet) and is_nuggets(given))
    tasks = asked_task(asked, asked.task or ("nuggets" if nuggets else "ratings"))
    if asked.runs and (not nuggets or isinstance(given, NuggetSet)):
        name = given.name if isinstance(given, EvalSet | NuggetSet) else os.fspath(given)
        raise InputError(f"--run is for nugget sets, and {short(name)} is none: leave it out")
    if isinstance(given, EvalSet | NuggetSet):
        found = given
    elif nuggets:
        found = load_nuggets(given, asked.runs, progress=progress)
    elif is_outputs(Path(given)) and not EVALSETS.recognise(Path(given)):
        found = read_outputs(Path(given), tell)
    else:
        found = load_evalset(given, progress=progress)
    return found, settings_of(asked, tasks, found)


SHORTEST_TOKEN = 16
MOST_READ = 10_000
"""Characters of a token file that are read; a token is far shorter."""


@dataclass
class OpenStudio:
    """A studio that is open: its store, and the link of everybody who is invited.

    It ends with `close` or with the block of a `with`.
    """

    store: Path
    """The file of judgements."""
    links: Mapping[str, str]
    """Name -> link; `owner` is you."""
    people: tuple[StudioLink, ...]
    """Everybody who is invited, with the role and the path of the link."""
    _studio: Studio
    _bound: socket.socket
    _host: str
    _server: Server | None = None
    _thread: threading.Thread | None = field(default=None, repr=False)

    def serve(self, ready: Any = lambda: None) -> None:
        """Answer requests in this thread until Ctrl-C or `close`."""
        from karat.studio.web.server import Server

        self._server = Server.of(self._studio, self._host, ready)
        self._server.run(sockets=[self._bound])

    def start(self) -> None:
        """Answer requests in a thread of its own; return when the first one can come."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self.serve, args=(ready.set,), daemon=True)
        self._thread.start()
        while not ready.wait(0.05):
            if not self._thread.is_alive():
                raise InputError(f"the studio of {short(self.store)} did not start")

    def close(self) -> None:
        """Answer no more; everything is saved already."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._bound.close()
        self._studio.store.close()

    @property
    def judged(self) -> int:
        """Complete judgements of all assessors, with those of calibration items."""
        from karat.studio.store.assessors import assessors

        return sum(one.judged for one in assessors(self._studio.store))

    @property
    def opened(self) -> Store:
        """The open store."""
        return self._studio.store

    def __enter__(self) -> OpenStudio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_studio(
    given: Given,
    store: str | os.PathLike[str] | None = None,
    *,
    assessors: Sequence[str] = (),
    host: str | None = None,
    port: int = PORT,
    token: str | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> OpenStudio:
    """Open a studio on a set, in the background; `karat studio` does the same until Ctrl-C.

    Args:
        given: an evaluation set or nugget set, its name or its path.
        store: file of judgements, which continues if it exists; by default SET.studio.sqlite.
        assessors: names of assessors to invite.
        host: address to listen on, by default this machine only; others need a token.
        port: port to listen on; 0 for one that is free.
        token: token of the owner's link.
        progress: function that is called with the progress of reading.
        settings: those of a new store: `task` (ratings, pairs, spans, nuggets), `dimensions`,
            `scales` (5, 7, 100, or names), `scheme` (mqm, esa), `overlap`, `quota`, `show` (source,
            context, reference), `seed`, `calibration` (a file), `predictor` (a metric),
            `random_share`, `lease_seconds`, `runs` (of a nugget key), `earlier` (take over the
            judgements of the set).
    """
    check_known("setting", settings, [one.name for one in fields(StudioOptions)], "a studio")
    asked = StudioOptions(**settings)
    found = prepare(given, store, asked, assessors, host, port, token, progress)
    try:
        found.start()
    except BaseException:
        found.close()
        raise
    return found


def prepare(
    given: Given,
    store: str | os.PathLike[str] | None,
    asked: StudioOptions,
    assessors: Sequence[str],
    host: str | None,
    port: int,
    token: str | None,
    progress: Progress,
    tell: Tell = lambda line: None,
) -> OpenStudio:
    """Open the store and the port, and invite assessors; nothing is answered yet."""
    address = _address(host, token)
    _check_installed()
    from karat.studio.web.server import listen
    from karat.studio.web.studio import Keys, Studio, links

    check_given(given)
    check_listed("assessors", assessors)
    for name in assessors:
        check_name(name)
        if name == OWNER:
            raise InputError(f"--assessor {OWNER}: that is the name of your own link, use another")
    bound = listen(address, port)  # a port that is taken is told before anything is made
    try:
        where = place_of(given) if store is None else as_path("store", store)
        opened = open_store(given, where, asked, progress, tell)
        try:
            studio = Studio(opened, Keys.beside(opened.path))
            with opened.intact():
                found = links(studio, assessors, token)
                prepare_rounds(opened)
        except BaseException:
            opened.close()
            raise
    except BaseException:
        bound.close()
        raise
    site = f"http://{_reached(address)}:{bound.getsockname()[1]}"
    paths = MappingProxyType({one.name: site + one.path for one in found})
    return OpenStudio(opened.path, paths, tuple(found), studio, bound, address)


def chosen_token(token: str | None, file: str | None) -> str | None:
    """Return the token of the owner's link: from the command line, a file or the environment."""
    if file is None:
        return token or os.environ.get(TOKEN_VARIABLE) or None
    if token is not None:
        raise InputError("--token and --token-file: expected one of them")
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(MOST_READ).strip()  # a device may never end
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"cannot read the token file {short(file)}: {why}") from None
    except UnicodeDecodeError:
        raise InputError(f"{short(file)} is not a text file: expected the token") from None
    if not text:
        raise InputError(f"{short(file)} is empty: expected the token of the owner's link")
    return text


def _address(host: str | None, token: str | None) -> str:
    from karat.studio.web.guard import LOOPBACK
    from karat.studio.web.studio import LONGEST_TOKEN

    for name, given in (("host", host), ("token", token)):
        if not isinstance(given, str | None):
            raise InputError(f"{name}={quoted(given)}: expected a text")
    if token is not None:
        good = token.isascii() and all(letter.isalnum() or letter in "-_" for letter in token)
        if not good or not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN:
            expected = f"expected {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits, - and _"
            count = f"{len(token):,} character{'s' * (len(token) != 1)}"
            problem = f"found {count}" if good else "found another character"
            raise InputError(f"token of the owner's link: {problem}, {expected}")
    if host is None:
        return LOOPBACK[0]
    if token is None and host not in LOOPBACK:
        raise InputError(f"--host {short(host)} opens the studio to others: add --token-file FILE")
    return host


def _check_installed() -> None:
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn", "jinja2"):
        if find_spec(package) is None:
            raise MissingExtra(f"karat studio needs {package}: pip install 'karat[studio]'")


def _reached(host: str) -> str:
    """Return the name under which others reach an address."""
    import socket

    from karat.studio.web.guard import EVERYWHERE

    if host in EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def recover_link(path: str | os.PathLike[str], name: str = OWNER) -> str:
    """Return the path of a new owner's link; the studio may be running."""
    from karat.studio.web.studio import Keys

    with Store.open(path, exclusive=False, may_be_empty=False) as store:
        token = recover_owner(store, name)
        Keys.beside(store.path).add(name, token)
    return f"/join/{token}"
