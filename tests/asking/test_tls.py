"""TLS: certificates are checked, and the key goes nowhere without one that is valid."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from asking.chats import asked, requests
from asking.server import ChatServer, serving

from karat.errors import EndpointError

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes certificates")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new certificate for localhost, with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    produced = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    files = ["-keyout", "key.pem", "-out", "certificate.pem"]
    names = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(
        ["openssl", *produced, *files, *names],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=60,
    )
    return folder


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that speak TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
    plain = ChatServer.get_request

    def get_request(self: ChatServer) -> object:
        sock, place = plain(self)
        return context.wrap_socket(sock, server_side=True), place

    monkeypatch.setattr(ChatServer, "get_request", get_request)


@pytest.mark.usefixtures("secure")
def test_a_certificate_that_nobody_trusts_ends_the_run() -> None:
    with serving() as server:
        port = server.server_address[1]
        with pytest.raises(EndpointError, match=r"has no valid certificate \(self.signed"):
            asked(f"https://localhost:{port}/v1", requests(3))
        assert not server.asked


@pytest.mark.usefixtures("secure")
def test_a_trusted_certificate(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    with serving() as server:
        port = server.server_address[1]
        assert asked(f"https://localhost:{port}/v1", requests(9)).usage.missing == 0
        with pytest.raises(EndpointError, match="has no valid certificate"):  # of another host
            asked(f"https://127.0.0.1:{port}/v1", requests(3))


def test_a_server_without_tls() -> None:
    with serving() as server:
        port = server.server_address[1]
        with pytest.raises(EndpointError, match="cannot connect to https://127"):
            asked(f"https://127.0.0.1:{port}/v1", requests(1), limits={"attempts": 2})
