#!/usr/bin/env python3
"""An S3 server for tests, on loopback: moto, over HTTP and HTTPS.

    python-moto tests/cluster/s3_server.py DIRECTORY

It has one bucket, `taquin`, and handles one request at a time: moto looks for an object before it writes one, so its
conditional requests are atomic only in this way. Once it listens, the directory has `ca.pem`, the authority of its
certificate, `other.pem`, another one, and `endpoints`, with the URLs of both. It runs until it is killed.
"""

import datetime
import ipaddress
import logging
import pathlib
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

BUCKET = "taquin"


class OneAtATime:
    """A WSGI application of which one request runs at a time."""

    def __init__(self, app: Callable[..., Iterable[bytes]]) -> None:
        self.app = app
        self.lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Runs a request to its end."""
        with self.lock:
            return list(self.app(environ, start_response))


def certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: tuple[x509.Name, ec.EllipticCurvePrivateKey] | None
) -> x509.Certificate:
    """Returns the certificate of an authority, or one of this machine that the issuer has signed."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    issuer_name, issuer_key = issuer or (subject, key)
    builder = (
        x509.CertificateBuilder(issuer_name, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def make_certificates(directory: pathlib.Path) -> tuple[str, str]:
    """Writes the authorities, and returns the files of the server's certificate and key."""
    ca_key, other_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    ca = certificate("Taquin's tests", ca_key, None)
    other = certificate("Another authority", other_key, None)
    server = certificate("127.0.0.1", key, (ca.subject, ca_key))
    pem = serialization.Encoding.PEM
    (directory / "ca.pem").write_bytes(ca.public_bytes(pem))
    (directory / "other.pem").write_bytes(other.public_bytes(pem))
    (directory / "server.pem").write_bytes(server.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (directory / "server.key").write_bytes(private)
    return str(directory / "server.pem"), str(directory / "server.key")


def main() -> None:
    """Serves until it is killed."""
    directory = pathlib.Path(sys.argv[1])
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = OneAtATime(DomainDispatcherApplication(create_backend_app))
    urls = []
    for scheme, certificates in (("http", None), ("https", make_certificates(directory))):
        server = make_server(
            "127.0.0.1", 0, app, threaded=True, request_handler=MotoRequestHandler, ssl_context=certificates
        )
        threading.Thread(target=server.serve_forever).start()
        urls.append(f"{scheme}://127.0.0.1:{server.port}")
    request = urllib.request.Request(f"{urls[0]}/{BUCKET}", method="PUT")
    with urllib.request.urlopen(request, timeout=60):
        pass
    unfinished = directory / "endpoints.new"
    unfinished.write_text("\n".join(urls) + "\n")
    unfinished.rename(directory / "endpoints")


if __name__ == "__main__":
    main()
