"""The key: sent to the endpoint, and found nowhere else, whatever the server does."""

from __future__ import annotations

import html
import json
import traceback
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from string import printable
from urllib.parse import quote

import pytest
from asking.chats import asked, endpoint, request, requests
from asking.server import serving
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import EndpointError, InputError, KaratError
from karat.llm.endpoint import ApiKey, Endpoint, read_key
from karat.llm.requests import Request

SECRET = "sk-proj-Zq7/plus+0123456789abcdefghijklmnop"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


def has_secret(data: bytes | str) -> bool:
    """Whether the key, or a good part of it, is in something."""
    text = data if isinstance(data, str) else data.decode("latin-1")
    return any(SECRET[at : at + 12] in text for at in range(len(SECRET) - 11))


def test_the_search_finds_the_key() -> None:
    assert has_secret(f"x{SECRET}".encode())
    assert has_secret(SECRET[5:20])


def test_the_key_is_sent() -> None:
    with serving() as server:
        asked(server.url, requests(1))
        assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"


LEAKS = [
    "echo of the key",
    "error with the key",
    "refusal with the key",
    "redirect",
    "truncated",
    "reset",
    "no http",
    "404",
]


@pytest.mark.parametrize("behaviour", LEAKS)
def test_the_key_is_in_no_file_answer_or_error(
    tmp_path: Path, behaviour: str, capfd: pytest.CaptureFixture[str]
) -> None:
    output: list[str] = []

    def check(item: Request, text: str) -> str:
        output.append(text)
        return "" if "key" in text else f"no key in {text}"

    with serving([behaviour] * 3, answer=lambda body: '{"key": 1}') as server:
        try:
            run = asked(
                server.url,
                requests(3),
                tmp_path / "cache",
                check=check,
                progress=lambda *report: output.append(str(report)),
            )
            output += [repr(run), str(run)]
        except KaratError as error:
            output += [str(error), repr(error), repr(error.__context__)]
            output += traceback.TracebackException.from_exception(
                error, capture_locals=True
            ).format()
        assert all(came.headers["Authorization"] == f"Bearer {SECRET}" for came in server.asked)
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert files
    assert not any(map(has_secret, [*files, *output, *capfd.readouterr()]))


def test_an_answer_with_the_key_is_redacted_and_stored_so(tmp_path: Path) -> None:
    with serving(["echo of the key"]) as server:
        asked(server.url, [request("a")], tmp_path / "cache")
        again = asked(server.url, [request("a")], tmp_path / "cache")
    assert again.answers[0].text == '{"echo": "a", "key": "[key]"}'


def test_a_rejected_answer_with_the_key_is_redacted(tmp_path: Path) -> None:
    with serving(["echo of the key"] * 2) as server:
        run = asked(
            server.url,
            [request("a")],
            tmp_path / "cache",
            check=lambda one, text: f"refused: {text}",
            limits={"attempts": 2},
        )
    assert "[key]" in run.answers[0].reason
    assert not has_secret((tmp_path / "cache").read_bytes() + repr(run).encode())


@pytest.mark.parametrize(
    ("message", "left"),
    [
        (f"a {SECRET} b {SECRET}", "a [key] b [key]"),
        (f"{SECRET[:20]}...", "[key]..."),
        (SECRET.replace("/", r"\/"), "[key]"),
        (SECRET.replace("/", "%2F").replace("+", "%2B"), "[key]"),
        ("sk-proj-other", "sk-proj-other"),
        (f'"{SECRET[20:]}"', '"[key]"'),
        (f"ends in {SECRET[-8:]}", "ends in [key]"),
        (f"ends in {SECRET[-7:]}", f"ends in {SECRET[-7:]}"),
        (SECRET.upper(), "[key]"),
        (SECRET.replace("/", "&#x2F;"), "[key]"),
        (SECRET.replace("/", "%2f"), "[key]"),
        (SECRET.encode().hex(), "[key]"),
    ],
)
def test_redaction(message: str, left: str) -> None:
    assert read_key("OPENAI_API_KEY").redact(message) == left


ODD_KEYS = [
    f"{start}{odd}SECRETTAIL9876543210"
    for start in ("sk-abcdefghij", "0123456789abcdefghij")
    for odd in "/+=\"\\&<'%"
]
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "slash escaped": lambda key: key.replace("/", r"\/"),
    "JSON twice": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "URL": lambda key: quote(key, safe=""),
    "URL in small letters": lambda key: quote(key, safe="").replace("%2F", "%2f"),
    "HTML": html.escape,
    "representation": repr,
    "base64": lambda key: b64encode(key.encode()).decode(),
    "basic authorization": lambda key: b64encode(f"user:{key}".encode()).decode(),
    "base64 of a header": lambda key: urlsafe_b64encode(f"Bearer {key}\r\n".encode()).decode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", ODD_KEYS)
def test_no_part_of_a_key_is_left_in_any_spelling(secret: str, spelling: str) -> None:
    text = SPELLINGS[spelling](secret)
    redacted = ApiKey("K", secret).redact(f"the key {text} is wrong")
    assert redacted.startswith("the key ")
    assert redacted.endswith(" is wrong")
    left = redacted.replace("[key]", "")
    parts = {text[at : at + 8] for at in range(len(text) - 7)}
    # The start of "user:" and "Bearer " in base64 is not the key.
    lead = {"basic authorization": 4, "base64 of a header": 7}.get(spelling, 0)
    assert not any(part in left for part in parts if text.index(part) > lead)
    assert "SECRETTAIL" not in left


@given(st.text(alphabet=printable[:94], min_size=8, max_size=40), st.data())
def test_redaction_hides_every_long_part_and_nothing_else(secret: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(secret) - 1))
    stop = data.draw(st.integers(start, len(secret)))
    before, after = data.draw(st.text("αβγ ", max_size=9)), data.draw(st.text("αβγ ", max_size=9))
    part = secret[start:stop]
    redacted = ApiKey("K", secret).redact(f"{before}{part}{after}")
    if len(part) >= 8 and not secret.startswith("sk-"):
        assert redacted == f"{before}[key]{after}"
    elif len(part) < 8:
        assert redacted == f"{before}{part}{after}"


def test_a_placeholder_is_no_secret() -> None:
    assert ApiKey("K", "EMPTY").redact("EMPTY handed") == "EMPTY handed"
    assert ApiKey("K").redact("nothing") == "nothing"
    assert (
        ApiKey("K", "sk-no-key-required").redact("an answer is required") == "an answer is required"
    )


def test_a_key_does_not_show_itself() -> None:
    run = read_key("OPENAI_API_KEY")
    assert not has_secret(repr(run) + str(run) + f"{run}" + repr([run]))
    assert not has_secret(repr(Endpoint("http://localhost/v1", "model")))


@pytest.mark.parametrize("pasted", [f"{SECRET}\n", f" {SECRET}\r\n", f"\t{SECRET} "])
def test_white_space_around_a_key_is_left_out(monkeypatch: pytest.MonkeyPatch, pasted: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", pasted)
    with serving() as server:
        asked(server.url, requests(1))
        assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize("wrong", ["\r\nX-Injected: 1", "\nx", " x", "\x7f", "ü", "€", "\x1b[0m"])
def test_a_key_with_strange_characters_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}{wrong}x")
    with serving() as server:
        with pytest.raises(InputError, match="OPENAI_API_KEY has a space or another") as caught:
            asked(server.url, requests(1))
        assert not server.asked
    assert f"position {len(SECRET) + 1}" in str(caught.value)
    assert not has_secret("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_without_a_key_none_is_sent(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", empty)
    with serving() as server:
        asked(server.url, requests(1))
        assert "Authorization" not in server.asked[0].headers


def test_another_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        other = endpoint(server.url, key_variable="OTHER_KEY")
        with pytest.raises(InputError, match="environment variable OTHER_KEY holds no key"):
            asked("", requests(1), endpoint=other)
        monkeypatch.setenv("OTHER_KEY", "another-key-of-mine")
        asked("", requests(1), endpoint=other)
        assert server.asked[0].headers["Authorization"] == "Bearer another-key-of-mine"
        server.always = "403"
        with pytest.raises(EndpointError, match="key of the environment variable OTHER_KEY"):
            asked("", [request("b")], endpoint=other)


def test_a_key_in_the_wrong_place_is_refused_and_not_shown() -> None:
    plain = SECRET.replace("/", "").replace("+", "")
    for make in (
        lambda: Endpoint("http://localhost", "model", key_variable=SECRET),
        lambda: Endpoint("http://localhost", f"{SECRET}\n"),
        lambda: Endpoint(plain, "model"),
        lambda: asked("", requests(1), endpoint=Endpoint("http://localhost", SECRET)),
        lambda: asked("", requests(1), endpoint=Endpoint(f"http://localhost/{SECRET}", "m")),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert not has_secret(str(caught.value))


def test_a_model_with_line_breaks_is_refused() -> None:
    for name in ("", " ", "model\r\nX-Injected: 1", "model\x00"):
        with pytest.raises(InputError, match="model's name is empty or has hidden characters"):
            Endpoint("http://localhost", name)


def test_debugging_of_http_does_not_print_the_key(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("http.client.HTTPConnection.debuglevel", 1)
    with serving() as server:
        asked(server.url, requests(1))
    assert not has_secret("".join(capfd.readouterr()))
