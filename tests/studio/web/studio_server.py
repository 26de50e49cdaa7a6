"""A real studio: the command in a process of its own, and a client without a browser."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, NamedTuple

RUN = "from karat.cli import run; run()"
HOSTILE = "<script>hostile=1</script><img src=x onerror=hostile=1> \"'>{{7*7}}"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class StudioServer:
    """`karat studio` that serves a set; it can be killed and started again on the same port."""

    def __init__(self, folder: Path, name: str, *options: str, port: int | None = None) -> None:
        self.folder, self.name, self.options = folder, name, options
        self.port = port or free_port()
        self.store = folder / "judged.sqlite"
        self.links: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        arguments = ("--no-browser", "--port", str(self.port), "--store", str(self.store))
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "studio", self.name, *arguments, *self.options],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if match := re.match(r"(.*) \((\w+)\): http://[^/]+(/join/\S+)", line):
                self.links[match[1]] = match[3]
            if line.startswith("Press Ctrl-C"):
                return
        raise AssertionError("".join(self.said))

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> str:
        if self.process.poll() is not None:  # a test that failed after a kill
            return ""
        self.process.send_signal(signal.SIGINT)
        return self._ended()

    def _ended(self) -> str:
        assert self.process.stdout
        with self.process.stdout as rest:
            output = rest.read()
        self.process.wait(30)
        return output

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Client:
    """Somebody who follows a link, as a browser would, and can send what no browser sends."""

    def __init__(self, server: StudioServer, name: str | None) -> None:
        self.server, self.cookie, self.csrf = server, "", ""
        if name is None:
            return
        joined = self.ask("GET", server.links[name])
        self.cookie = joined.headers["set-cookie"].partition(";")[0]
        page = self.ask("GET", "/").text
        self.csrf = re.search('name="csrf" content="([0-9a-f]+)"', page)[1]  # type: ignore[index]

    def headers(self, method: str) -> dict[str, str]:
        """The headers that a page of the studio sends."""
        host = f"127.0.0.1:{self.server.port}"
        headers = {"Host": host}
        if self.cookie:
            headers["Cookie"] = self.cookie
        if method == "POST":
            headers |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
            headers["X-Karat-CSRF"] = self.csrf
        return headers

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """Send a request; `headers` replaces or, with None, removes what a page would send."""
        sent: dict[str, str | None] = {**self.headers(method), **(headers or {})}
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if raw is not None and "Content-Length" not in sent and "Transfer-Encoding" not in sent:
            sent["Content-Length"] = str(len(raw))
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        if raw:
            connection.send(raw)
        with connection.getresponse() as answer:
            fields = {name.lower(): value for name, value in answer.getheaders()}
            text = answer.read().decode()
        connection.close()
        return Answer(answer.status, fields, text)

    def next(self) -> dict[str, Any]:
        item: dict[str, Any] = self.ask("GET", "/api/next").json["item"]
        return item

    def judge(self, item: dict[str, Any], value: Any, **more: Any) -> Answer:
        return self.ask("POST", "/api/judgements", judgement(item, value, **more))


def judgement(item: dict[str, Any], value: Any, **more: Any) -> dict[str, Any]:
    """What a page sends for an answer."""
    sent = {"uuid": str(uuid.uuid4()), "assignment": item["assignment"], "value": value, "ms": 1500}
    return {**sent, "supersedes": item["newest"], **more}


SYSTEMS = ("SECRETalpha", "SECRETbeta", "SECRETgamma")
"""Names that are easy to find in what a server sends."""


def write_set(folder: Path, segments: int = 30) -> str:
    """Write a set with hostile text in every field."""
    head = {"evalset": f"set {HOSTILE}", "systems": SYSTEMS}
    rows = [
        {
            "id": f"{k} {HOSTILE}",
            "source": f"source {k} {HOSTILE}",
            "references": [f"reference {k} {HOSTILE}"],
            "outputs": {name: f"output {k} of {n} {HOSTILE}" for n, name in enumerate(SYSTEMS)},
        }
        for k in range(segments)
    ]
    path = folder / "set.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in (head, *rows)), "utf-8")
    return str(path)
