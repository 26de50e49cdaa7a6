"""`karat judge` and `karat nuggets draft`: files, dry runs, going on, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking.server import serving
from judge.judges import judge
from judge.test_ratings import by_length

Called = Callable[..., Any]
SET = {"evalset": "mine", "dimensions": [{"name": "x", "low": 1, "high": 9}]}
TEXTS = [{"id": str(k), "outputs": {"A": f"One two {k}.", "B": f"Three {k}."}} for k in range(3)]
DEMO = ("--endpoint", "demo", "-o", "log.jsonl")


@pytest.fixture
def a_set(folder: Path) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [SET, *TEXTS]), "utf-8")
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def quick(url: str) -> list[str]:
    return ["--endpoint", url, "--model", "m", "--attempts", "1", "--concurrency", "1"]


def test_a_run_is_written_and_goes_on_from_its_cache(run_karat: Called, a_set: Path) -> None:
    log = a_set.parent / "log.jsonl"
    asks = ["judge", "ratings", "mine.jsonl", "-d", "x", "-o", "log.jsonl"]
    with judge(by_length) as server:
        url = quick(server.url)
        done = run_karat(*asks, *url, "--budget", "4")
        assert done.returncode == 0
        assert "m rated 4 of 6 outputs of mine; 2 are missing (" in done.stdout
        message = (
            "2 are missing in log.jsonl; answers so far are in log.jsonl.cache.sqlite: run the"
        )
        assert message in done.stderr
        assert len(lines(log)) == 5
        plan = run_karat(*asks, *url, "--dry-run", "--price", "1,2", "-f", "json")
        (row,) = json.loads(plan.stdout)["rows"]
        assert (row["requests"], row["cached"], row["to_send"]) == (6, 4, 2)
        most = (row["prompt_tokens"] + 2 * 2 * 1024) / 1e6
        assert row["cost"] == pytest.approx(most)
        assert len(server.asked) == 4
        done = run_karat(*asks, *url)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(server.asked) == 6
    assert len(lines(log)) == 7
    assert [row["value"] for row in lines(log)[1:]] == [3, 3, 3, 2, 2, 2]


def test_parameters_that_a_server_does_not_know(run_karat: Called, a_set: Path) -> None:
    asks = ["judge", "ratings", "mine.jsonl", "-d", "x", "-o", "log.jsonl"]
    bodies = []
    for left_out in ((), ("temperature", "max_tokens", "seed", "response_format")):
        with judge(by_length) as server:
            omitted = [word for name in left_out for word in ("--omit", name)]
            assert run_karat(*asks, *quick(server.url), *omitted).returncode == 0
            bodies.append(set(server.asked[0].body))
    assert bodies[0] - bodies[1] == {"temperature", "max_tokens", "seed", "response_format"}
    assert bodies[1] == {"model", "messages"}


def test_no_key_is_in_any_file(run_karat: Called, a_set: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret-0123456789")
    with judge(by_length) as server:
        done = run_karat(
            *("judge", "ratings", "mine.jsonl", "-d", "x", "-o", "log.jsonl", *quick(server.url)),
            *("--key-variable", "MY_KEY", "--report", "page.html"),
        )
        assert done.returncode == 0
        assert server.asked[0].headers["Authorization"] == "Bearer sk-very-secret-0123456789"
    for path in a_set.parent.iterdir():
        assert b"very-secret" not in path.read_bytes(), path.name
    assert "very-secret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-d", "y"], "mine has no dimension 'y' (it has x): to rate a new one"),
        (["-d", "x", "--scale", "5-1"], "expected a lower and a higher end such as 1-5"),
        (["-d", "x", "--scale", "high"], "expected a lower and a higher end such as 1-5"),
        (["-d", "x", "--scale", "1-5"], "ends at 5, but mine has 9"),
        (["-d", "x", "--budget", "0"], "--budget 0: expected a whole number above 0"),
        (["-d", "x", "--budget", "tokens=1.5"], "expected a whole number above 0"),
        (["-d", "x", "--budget", "cost=2"], "--budget cost=X needs --price IN,OUT"),
        (["-d", "x", "--budget", "euros=2"], "expected requests=N, tokens=N or cost=X"),
        (["-d", "x", "--price", "1"], "--price: expected two numbers"),
        (["-d", "x", "--prompt", "bad.md"], "bad.md, line 2: found the placeholder {texts}"),
        (["-d", "x", "--prompt", "none.md"], "none.md: No such file"),
        (["-d", "x", "--cache", "log.jsonl"], "must be different files"),
        (["-d", "x", "--exclude", "Z"], "'Z'"),
        (["-d", "x", "--replicates", "0"], "--replicates"),
        (["-d", "x", "--report", "page.png"], "page.png: cannot write .png files"),
    ],
)
def test_refused(run_karat: Called, a_set: Path, args: list[str], message: str) -> None:
    (a_set.parent / "bad.md").write_text("Rate\n{texts}", "utf-8")
    before = {path.name for path in a_set.parent.iterdir()}
    done = run_karat("judge", "ratings", "mine.jsonl", *DEMO, *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name for path in a_set.parent.iterdir()} == before


def test_the_output_is_no_input(run_karat: Called, a_set: Path) -> None:
    done = run_karat(
        "judge", "ratings", "mine.jsonl", "-d", "x", "--endpoint", "demo", "-o", a_set.name
    )
    assert (done.returncode, "is one of the inputs" in done.stderr) == (2, True)
    done = run_karat(
        "judge", "ratings", "mine.jsonl", "-d", "x", "--endpoint", "http://x/v1", "-o", "l"
    )
    assert (done.returncode, "--model is missing" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [("401", "key"), ("404", "model"), ("no json", "gave no valid answer"), ("500", "HTTP 500")],
)
def test_an_endpoint_that_is_of_no_use(
    run_karat: Called, a_set: Path, behaviour: str, message: str
) -> None:
    with serving(always=behaviour) as server:
        done = run_karat(
            *("judge", "ratings", "mine.jsonl", "-d", "x", "-o", "log.jsonl"), *quick(server.url)
        )
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (a_set.parent / "log.jsonl").exists()


def test_an_endpoint_that_is_down(run_karat: Called, a_set: Path) -> None:
    with serving() as server:
        url = server.url
    done = run_karat("judge", "ratings", "mine.jsonl", "-d", "x", "-o", "log.jsonl", *quick(url))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (a_set.parent / "log.jsonl").exists()


def test_a_prompt_is_copied_changed_and_used(run_karat: Called, folder: Path) -> None:
    printed = run_karat("judge", "prompts", "ratings").stdout
    assert run_karat("judge", "prompts", "ratings", "-o", "mine.md").returncode == 0
    path = folder / "mine.md"
    assert path.read_text("utf-8") == printed
    listed = run_karat("judge", "prompts").stdout
    asks = ["judge", "ratings", "demo", "-d", "fluency", *DEMO, "-f", "json", "--sample", "1"]
    names = []
    for change in ("", "Be strict.\n"):
        path.write_text(printed + change, "utf-8")
        parsed = json.loads(run_karat(*asks, "--prompt", "mine.md").stdout)
        (message,) = (
            parsed["signature"] if isinstance(parsed["signature"], list) else [parsed["signature"]]
        )
        names.append(json.dumps(message).split("prompt=")[1].split("|")[0])
    assert names[0] != names[1]
    assert names[0].replace("mine@", "ratings.v1@") in listed


def test_nuggets_and_drafts(run_karat: Called, folder: Path) -> None:
    done = run_karat("judge", "nuggets", "demo-nuggets", "--endpoint", "demo", "-o", "labels.jsonl")
    assert "demo (word overlap) labelled 126 of 126 pairs" in done.stdout
    read = run_karat("nuggets", "score", "heron", "-k", "demo-nuggets", "-j", "labels.jsonl")
    assert read.returncode == 0
    done = run_karat(
        "nuggets", "draft", "demo", "--endpoint", "demo", "-o", "key.txt", "--sample", "2"
    )
    assert done.returncode == 0
    assert run_karat("nuggets", "describe", "key.txt").returncode == 0
    done = run_karat("nuggets", "draft", "demo", "--endpoint", "demo", "-o", "key.md")
    assert (done.returncode, "ends in .jsonl" in done.stderr) == (2, True)
