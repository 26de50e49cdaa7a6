"""A command that is stopped says how to go on, and goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from asking.server import serving
from judge.judges import prompt_values
from judge.test_ratings import by_length

ASKS = ("judge", "ratings", "demo", "-d", "style", "--scale", "1-99", "-o", "log.jsonl")


def test_a_stopped_run_goes_on(
    folder: Path, command: list[str], clean_environment: Any, run_karat: Any
) -> None:
    answer = lambda body: json.dumps(by_length(prompt_values(body)))  # noqa: E731
    with serving(answer=answer, always="slow", pause=0.1) as server:
        url = ("--endpoint", server.url, "--model", "m", "--concurrency", "2")
        started = subprocess.Popen(
            [*command, *ASKS, *url], cwd=folder, env=clean_environment(), stderr=subprocess.PIPE
        )
        while len(server.asked) < 4 and started.poll() is None:
            time.sleep(0.02)
        started.send_signal(signal.SIGINT)
        _, message = started.communicate(timeout=60)
        expected_message = (
            b"karat: interrupted; answers so far are in log.jsonl.cache.sqlite: run the same "
        )
        assert (started.returncode, message.count(b"\n")) == (130, 1)
        assert message.startswith(expected_message)
        assert not (folder / "log.jsonl").exists()
        server.always = "ok"
        before = len(server.asked)
        done = run_karat(*ASKS, *url)
        assert done.returncode == 0
        assert "m rated 48 of 48 outputs of demo." in done.stdout
        assert 4 <= before < 48
        assert len(server.asked) <= 48 + 2  # what was under way is asked again
        assert max(server.answered.values()) <= 2
    assert len((folder / "log.jsonl").read_text("utf-8").splitlines()) == 49
