"""Opening a studio: the settings and store of a set, and `open_studio`, which serves it."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from karat.errors import InputError, MissingExtra, OutputError, quoted, short, visible
from karat.evalset.loading import (
    EVALSETS,
    STANDARD_INPUT,
    SetSource,
    load_evalset,
    parse_options,
)
from karat.evalset.sets import EvalSet
from karat.installation import install_command
from karat.nuggets.formats.loading import is_nuggets, load_nuggets
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.progress import Progress, silent
from karat.storage.output import as_path
from karat.studio.assignment import prepare_rounds
from karat.studio.export.earlier import take_over_judgements
from karat.studio.formats import is_store
from karat.studio.options import (
    OPTIONS,
    PORT,
    TOKEN_VARIABLE,
    StudioOptions,
    check_listed,
    make_options,
)
from karat.studio.outputs import is_text_folder, read_text_folder
from karat.studio.store import people, projects
from karat.studio.store.people import OWNER
from karat.studio.store.settings import ProjectSettings, Show, compared_dimensions
from karat.studio.store.store import Store, is_readable_by_others, remove_store
from karat.studio.tasks import NUGGETS, RATINGS, TASKS

if TYPE_CHECKING:
    from karat.studio.web.server import Server
    from karat.studio.web.studio import Studio, StudioLink

StudioSource = str | os.PathLike[str] | EvalSet | NuggetSet
PrintLine = Callable[[str], None]
Tasks = dict[str, dict[str, Any]]


# Settings of a project


def _make_tasks(options: StudioOptions, name: str) -> Tasks:
    """Return the task with its settings; raise InputError for options of other tasks."""
    if name not in TASKS:
        raise InputError(f"no task {quoted(name)}: expected one of {', '.join(TASKS)}")
    task = TASKS[name]
    return {name: task.choose_settings(options.dimensions, options.scales, options.scheme)}


def _shared_settings(options: StudioOptions, task: str) -> dict[str, Any]:
    """Return the options that are also settings of a project, where they are given."""
    names = [setting.name for setting in fields(ProjectSettings) if setting.name in OPTIONS]
    values = {name: getattr(options, name) for name in names if name != "show"}
    if options.calibration is not None:
        values["calibration"] = projects.read_calibration(options.calibration, task)
    return {name: value for name, value in values.items() if value is not None}


def _choose_shown_texts(
    parts: Sequence[str], tasks: Tasks, source_set: EvalSet | NuggetSet
) -> Show:
    """Return the texts to show: by default source, context and the text to compare with."""
    if isinstance(source_set, NuggetSet):  # its sources are questions
        source, context, reference = True, False, False
    else:
        source = source_set.sources is not None and any(source_set.sources)
        context = source and bool(source_set.groups)
        references = source_set.references
        reference = references is not None and any(map(any, references))
    available = {"source": source, "context": context, "reference": reference}
    if not parts:
        return Show(reference=bool(compared_dimensions(tasks)) and not source)
    if unknown := [part for part in parts if part not in available]:
        raise InputError(f"--show: found {quoted(unknown[0])}, expected {', '.join(available)}")
    if lacking := [part for part in parts if not available[part]]:
        texts = "groups with sources" if lacking[0] == "context" else f"{lacking[0]}s"
        problem = f"{short(source_set.name)} has no {texts}"
        raise InputError(f"--show {lacking[0]}: {problem}: leave it out")
    return Show(**{part: part in parts for part in available})


def _check_same_settings(path: Path, options: StudioOptions, settings: ProjectSettings) -> None:
    """Raise InputError for options that differ from the settings of a store."""
    task = ", ".join(settings.tasks)
    asks_task = any((options.task, options.dimensions, options.scales, options.scheme))
    if asks_task and _make_tasks(options, options.task or task) != settings.tasks:
        advice = f"leave out the options of the task ({task}), or name another file with --store"
        raise InputError(f"{short(path)} was made for another task or scale: {advice}")
    requested = _shared_settings(options, next(iter(settings.tasks)))
    if options.show:
        requested["show"] = Show(**{part.name: part.name in options.show for part in fields(Show)})
    for name, value in requested.items():
        if value != getattr(settings, name):
            option = OPTIONS[name].metadata["option"].split()[-1]
            advice = f"leave out {option}, or name another file with --store"
            raise InputError(f"{short(path)} was made with another {option}: {advice}")


# The store of a set


def open_store(
    source: StudioSource,
    path: Path,
    options: StudioOptions,
    progress: Progress,
    print_line: PrintLine,
) -> Store:
    """Open the store of a set, or make it; `print_line` is called with messages for the user."""
    if path.is_dir():
        raise InputError(f"--store {short(path)} is a folder: expected a file")
    if path.exists():
        return _reopen(source, path, options, progress, print_line)
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"cannot write to the folder of {short(path)}: use --store FILE")
    loaded_set, settings = _load_set(source, options, progress, print_line)
    store = Store.create(path)
    try:
        projects.import_set(store, loaded_set, settings, progress)
        if options.earlier:
            count = len(take_over_judgements(store, loaded_set))
            print_line(f"Judgements of {count:,} assessor{'s' * (count != 1)} were taken over.")
    except BaseException:
        store.close()
        remove_store(path)
        raise
    print_line(f"{path} is new: judgements are saved there")
    return store


def _reopen(
    source: StudioSource,
    path: Path,
    options: StudioOptions,
    progress: Progress,
    print_line: PrintLine,
) -> Store:
    """Open an existing store; raise InputError for another set or other settings.

    The set itself may be missing: the store has all texts.
    """
    store = Store.open(path)
    try:
        with store.explaining_damage():
            if not projects.has_project(store):  # the import was interrupted
                projects.import_set(
                    store, *_load_set(source, options, progress, print_line), progress
                )
            current_project = projects.project(store)
            _check_same_settings(path, options, current_project.settings)
            is_same_set = _has_same_texts(source, path, options, current_project, progress)
            print_line(f"{path} continues: {visible(current_project.name)}")
        if is_readable_by_others(path):
            print_line(f"Other users of this machine can read {path}: close it with chmod 600.")
        if not is_same_set:
            print_line("Its texts differ from those of the set now: those in the file are judged.")
    except BaseException:
        store.close()
        raise
    return store


def _has_same_texts(
    source: StudioSource,
    path: Path,
    options: StudioOptions,
    current_project: projects.Project,
    progress: Progress,
) -> bool:
    """Return whether a set still has the texts of the store; raise InputError for another set."""
    if not isinstance(source, EvalSet | NuggetSet) and Path(source) == path:
        return True
    try:
        loaded_set, settings = _load_set(source, options, progress)
    except InputError:
        return True
    if loaded_set.name != current_project.name:
        names = f"{quoted(current_project.name)}, not {quoted(loaded_set.name)}"
        raise InputError(f"{short(path)} has judgements of {names}: name another file with --store")
    return (
        projects.digest_texts(projects.make_items(loaded_set, settings, silent))
        == current_project.set_digest
    )


def _load_set(
    source: StudioSource,
    options: StudioOptions,
    progress: Progress = silent,
    print_line: PrintLine = lambda line: None,
) -> tuple[EvalSet | NuggetSet, ProjectSettings]:
    """Load a set; return it with the settings of its project."""
    is_loaded = isinstance(source, EvalSet | NuggetSet)
    has_nuggets = isinstance(source, NuggetSet) or (
        not isinstance(source, EvalSet) and is_nuggets(source)
    )
    tasks = _make_tasks(options, options.task or (NUGGETS if has_nuggets else RATINGS).name)
    if options.runs and (is_loaded or not has_nuggets):
        name = source.name if isinstance(source, EvalSet | NuggetSet) else os.fspath(source)
        raise InputError(f"--run is for nugget sets, and {short(name)} is none: leave it out")
    if isinstance(source, EvalSet | NuggetSet):
        loaded_set = source
    elif has_nuggets:
        loaded_set = load_nuggets(source, options.runs, progress=progress)
    elif is_text_folder(Path(source)) and not EVALSETS.recognise(Path(source)):
        loaded_set = read_text_folder(Path(source))
    else:
        reading = parse_options(options.reading.texts())
        loaded_set = load_evalset(source, progress=progress, **reading)
        for remark in loaded_set.remarks:
            print_line(remark)
    if isinstance(loaded_set, EvalSet):
        loaded_set.check_texts()
    shared = _shared_settings(options, *tasks)
    show = _choose_shown_texts(options.show, tasks, loaded_set)
    return loaded_set, ProjectSettings(tasks, show, **shared)


# The studio

MIN_TOKEN = 16
MAX_TOKEN_FILE = 10_000
"""Maximum number of characters read from a token file."""


@dataclass
class OpenStudio:
    """An open studio: its store, and the links of all invited people.

    Close it with `close` or use it in a `with` statement.
    """

    store: Path
    """The file of judgements."""
    links: Mapping[str, str]
    """Name -> link; `owner` is you."""
    people: tuple[StudioLink, ...]
    """All invited people with their roles and the paths of their links."""
    _studio: Studio
    _listening_socket: socket.socket
    _host: str
    _server: Server | None = None
    _thread: threading.Thread | None = field(default=None, repr=False)

    def serve(self, ready: Any = lambda: None) -> None:
        """Serve in this thread until Ctrl-C or `close`."""
        from karat.studio.web.server import Server

        self._server = Server(self._studio, self._host, ready)
        self._server.run(sockets=[self._listening_socket])

    def start(self) -> None:
        """Serve in a new thread; return when the server is ready."""
        ready = threading.Event()
        self._thread = threading.Thread(target=self.serve, args=(ready.set,), daemon=True)
        self._thread.start()
        while not ready.wait(0.05):
            if not self._thread.is_alive():
                raise InputError(f"the studio of {short(self.store)} did not start")

    def close(self) -> None:
        """Stop serving; everything is saved already."""
        if self._server is not None:
            self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._listening_socket.close()
        self._studio.store.close()

    @property
    def judged(self) -> int:
        """Complete judgements of all assessors, calibration items included."""
        return sum(assessor.judged for assessor in people.assessors(self._studio.store))

    @property
    def opened(self) -> Store:
        """The open store."""
        return self._studio.store

    def __enter__(self) -> OpenStudio:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_studio(
    source: SetSource | NuggetSet,
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
        source: an evaluation set or nugget set, its name or path, the path of a table, or a frame.
        store: new or existing file of judgements; by default SET.studio.sqlite.
        assessors: names of assessors to invite.
        host: address to listen on; by default only this machine; others need a token.
        port: port to listen on; 0 for any free one.
        token: token of the owner's link.
        progress: function that is called with the progress of reading.
        settings: settings of a new store: `task` (ratings, pairs, spans, nuggets), `dimensions`,
            `scales` (5, 7, 100, or names), `scheme` (mqm, esa), `overlap`, `quota`, `show` (source,
            context, reference), `seed`, `calibration` (a file), `predictor` (a metric),
            `random_share`, `lease_seconds`, `runs` (of a nugget key), `earlier` (take over the
            judgements of the set). Settings of `read_outputs` say how to read a table.
    """
    options = make_options(settings)
    studio = prepare_studio(source, store, options, assessors, host, port, token, progress)
    try:
        studio.start()
    except BaseException:
        studio.close()
        raise
    return studio


def prepare_studio(
    source: SetSource | NuggetSet,
    store: str | os.PathLike[str] | None,
    options: StudioOptions,
    assessors: Sequence[str],
    host: str | None,
    port: int,
    owner_token: str | None,
    progress: Progress,
    print_line: PrintLine = lambda line: None,
) -> OpenStudio:
    """Open the store and the port, and invite assessors, without serving yet."""
    for package in ("starlette", "uvicorn", "jinja2"):
        if find_spec(package) is None:
            raise MissingExtra(f"karat studio needs {package}: {install_command('studio')}")
    from karat.studio.web.guard import EVERYWHERE
    from karat.studio.web.server import listen
    from karat.studio.web.studio import Keys, Studio, make_links

    address = _check_address(host, owner_token)

    if not isinstance(source, str | os.PathLike | EvalSet | NuggetSet):
        source = load_evalset(source, progress=progress, **parse_options(options.reading.texts()))
    check_listed("assessors", assessors)
    for name in assessors:
        people.check_name(name)
        if name == OWNER:
            raise InputError(f"--assessor {OWNER}: that is the name of your own link, use another")
    with ExitStack() as on_error:
        listening_socket = listen(address, port)  # first: nothing is made if the port is taken
        on_error.callback(listening_socket.close)
        path = _default_store_path(source) if store is None else as_path("store", store)
        opened = open_store(source, path, options, progress, print_line)
        on_error.callback(opened.close)
        studio = Studio(opened, Keys.for_store(opened.path))
        with opened.explaining_damage():
            invited = make_links(studio, assessors, owner_token)
            prepare_rounds(opened)
        on_error.pop_all()
    hostname = socket.gethostname() if address in EVERYWHERE else address
    hostname = f"[{hostname}]" if ":" in hostname else hostname
    site = f"http://{hostname}:{listening_socket.getsockname()[1]}"
    links = MappingProxyType({link.name: site + link.path for link in invited})
    return OpenStudio(opened.path, links, tuple(invited), studio, listening_socket, address)


def _default_store_path(source: StudioSource) -> Path:
    """Return the default store: the source if it is a store, else a file in this folder."""
    if not isinstance(source, EvalSet | NuggetSet) and is_store(Path(source)):
        return Path(source)
    name = source.name if isinstance(source, EvalSet | NuggetSet) else os.path.abspath(source)
    if source == STANDARD_INPUT:
        name = "table"
    return Path(f"{Path(name).name.split('.')[0] or 'set'}.studio.sqlite")


def choose_token(token: str | None, file: str | None) -> str | None:
    """Return the token of the owner's link: from the command line, a file or the environment."""
    if file is None:
        return token or os.environ.get(TOKEN_VARIABLE) or None
    if token is not None:
        raise InputError("--token and --token-file: expected one of them")
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(MAX_TOKEN_FILE).strip()  # a device may never end
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot read the token file {short(file)}: {reason}") from None
    except UnicodeDecodeError:
        raise InputError(f"{short(file)} is not a text file: expected the token") from None
    if not text:
        raise InputError(f"{short(file)} is empty: expected the token of the owner's link")
    return text


def _check_address(host: str | None, owner_token: str | None) -> str:
    from karat.studio.web.guard import LOOPBACK
    from karat.studio.web.studio import MAX_TOKEN

    for name, value in (("host", host), ("token", owner_token)):
        if not isinstance(value, str | None):
            raise InputError(f"{name}={quoted(value)}: expected a text")
    if owner_token is not None:
        is_valid = owner_token.isascii() and all(c.isalnum() or c in "-_" for c in owner_token)
        if not is_valid or not MIN_TOKEN <= len(owner_token) <= MAX_TOKEN:
            expected = f"expected {MIN_TOKEN} to {MAX_TOKEN} letters, digits, - and _"
            count = f"{len(owner_token):,} character{'s' * (len(owner_token) != 1)}"
            problem = f"found {count}" if is_valid else "found another character"
            raise InputError(f"token of the owner's link: {problem}, {expected}")
    if host is None:
        return LOOPBACK[0]
    if owner_token is None and host not in LOOPBACK:
        raise InputError(f"--host {short(host)} opens the studio to others: add --token-file FILE")
    return host


def recover_link(path: str | os.PathLike[str], name: str = OWNER) -> str:
    """Return the path of a new owner's link; the studio may be running."""
    from karat.studio.web.studio import Keys

    with Store.open(path, exclusive=False, may_be_empty=False) as store:
        token = people.recover_owner(store, name)
        Keys.for_store(store.path).add(store, name, token)
    return f"/join/{token}"
