"""URLs of endpoints: every spelling that is meant, and one sentence for the others."""

from __future__ import annotations

import http.server
import socket
from typing import Any

import pytest
from asking.chats import asked, requests
from asking.server import ChatServer, serving

import karat as kt
from karat.errors import InputError
from karat.llm.endpoint import Endpoint, parse_address

SPELLINGS = {
    "http://localhost:8000/v1": "http://localhost:8000/v1",
    "http://localhost:8000/v1/": "http://localhost:8000/v1",
    "http://localhost:8000/v1//": "http://localhost:8000/v1",
    "http://localhost:8000/v1/chat/completions": "http://localhost:8000/v1",
    "http://localhost:8000/v1/chat/completions/": "http://localhost:8000/v1",
    "HTTPS://API.Example.com:443/v1": "https://api.example.com/v1",
    "http://example.com:80": "http://example.com",
    "https://example.com:80": "https://example.com:80",
    "http://[::1]:8000/v1": "http://[::1]:8000/v1",
    "http://[2001:DB8::1]/v1": "http://[2001:db8::1]/v1",
    "http://10.0.0.1:65535": "http://10.0.0.1:65535",
}


@pytest.mark.parametrize(("spelled", "url"), SPELLINGS.items())
def test_spellings(spelled: str, url: str) -> None:
    assert parse_address(spelled).url == url
    assert parse_address(url).url == url


WRONG = {
    "localhost:8000/v1": "does not begin with http:// or https://",
    "//localhost/v1": "does not begin with http:// or https://",
    "ftp://localhost/v1": "does not begin with http:// or https://",
    "file:///etc/passwd": "does not begin with http:// or https://",
    "http:localhost/v1": "does not begin with http:// or https://",
    "": "does not begin with http:// or https://",
    "http://": "has no valid host",
    "http:///v1": "has no valid host",
    "http://:8000/v1": "has no valid host",
    "http://localhost:99999/v1": "has no valid host and port",
    "http://localhost:0/v1": "has the port 0",
    "http://localhost:http/v1": "has no valid host and port",
    "http://localhost:-1/v1": "has no valid host and port",
    "http://[::1/v1": "has no valid host and port",
    "http://local host/v1": "has a character that URLs do not have",
    "http://localhost/v1\n": "has a character that URLs do not have",
    "http://localhost/v1\r\nX-Injected: 1": "has a character that URLs do not have",
    "http://lócalhost/v1": "has a character that URLs do not have",
    "http://localhost\\v1": "has a character that URLs do not have",
    'http://localhost/"v1"': "must be percent-encoded",
}


@pytest.mark.parametrize(("url", "message"), WRONG.items())
def test_wrong_urls_are_refused_in_one_sentence(url: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Endpoint(url, "model")
    assert message in str(caught.value)
    assert "http://localhost:8000/v1" in str(caught.value)
    assert "\n" not in str(caught.value)


SECRET = [
    "https://user:s3cr3t-s3cr3t@api.example.com/v1",
    "https://s3cr3t-s3cr3t@api.example.com/v1",
    "user:s3cr3t-s3cr3t@localhost/v1",
    "https://api.example.com/v1?api_key=s3cr3t-s3cr3t",
    "https://api.example.com/v1#s3cr3t-s3cr3t",
    "s3cr3t-s3cr3t",
]


@pytest.mark.parametrize("url", SECRET)
def test_a_url_with_a_secret_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Endpoint(url, "model")
    assert "s3cr3t" not in str(caught.value)


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChatServer, "address_family", socket.AF_INET6)

    def bind(self: ChatServer) -> None:
        self.server_address = ("::1", 0)
        http.server.HTTPServer.server_bind(self)

    monkeypatch.setattr(ChatServer, "server_bind", bind)
    with serving() as server:
        port = server.server_address[1]
        assert asked(f"http://[::1]:{port}/v1", requests(2)).usage.missing == 0
        assert server.asked[0].headers["Host"] == f"[::1]:{port}"


@pytest.mark.parametrize(
    "arguments",
    [{"url": None}, {"model": 3}, {"key_variable": b"KEY"}],
    ids=lambda one: str([*one]),
)
def test_names_of_endpoints_are_strings(arguments: dict[str, Any]) -> None:
    with pytest.raises(kt.InputError, match="expected a string"):
        kt.Endpoint(**{"url": "demo", "model": "m", **arguments})
