"""TLS is verified: a certificate that nobody vouches for is refused, one that the user names is believed."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from unworn.client.transport.credentials import Secret
from unworn.client.transport.problem_errors import ServerUnreachable
from unworn.client.transport.retry_policy import RetryPolicy
from unworn.client.transport.server_address import parse_address
from unworn.client.transport.wire import Wire

TOKEN = "unw_0123456789abcdef"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / "both.pem").write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    (tmp_path / "public.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return tmp_path


@pytest.fixture
def port(certificate: Path) -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers one kind of request, over TLS; and what it was sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "both.pem")
    listener = socket.create_server(("127.0.0.1", 0))
    seen: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    seen.append(connection.recv(65536))
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntrue")
            except (ssl.SSLError, OSError):
                plain.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield listener.getsockname()[1], seen
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(10)


def test_tls_is_verified(port: tuple[int, list[bytes]], certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number, seen = port
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    address = parse_address(f"https://127.0.0.1:{number}")
    stranger = Wire(address, Secret(TOKEN), retry=RetryPolicy(tries=1))
    with pytest.raises(ServerUnreachable, match="ConnectError"):
        stranger.get("/api/me")
    stranger.close()
    assert not any(TOKEN.encode() in request for request in seen)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "public.pem"))
    known = Wire(address, Secret(TOKEN), retry=RetryPolicy(tries=1))
    assert known.get("/api/me") is True
    known.close()
    assert TOKEN.encode() in seen[-1]
