"""A certificate authority of the tournament's own, and the broker's certificate from it.

Valid from 1970 on: a Raspberry Pi has no clock of its own and wakes up in the past. And only until 2037,
where the clocks of 32-bit systems end.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

FROM: Final = datetime(1970, 1, 1, tzinfo=UTC)
UNTIL: Final = datetime(2037, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its key, both as PEM text."""

    certificate: bytes
    key: bytes


def make_ca() -> Certificate:
    """A new authority; whoever has its key can pass for the hub."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"Table timers {secrets.token_hex(4)}")
    builder = (
        _dated(name, name, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
    )
    return _signed(builder, key, key)


def make_server(ca: Certificate, names: Sequence[str]) -> Certificate:
    """A server's certificate for these host names and addresses."""
    issuer = x509.load_pem_x509_certificate(ca.certificate)
    ca_key = serialization.load_pem_private_key(ca.key, password=None)
    assert isinstance(ca_key, ec.EllipticCurvePrivateKey), "as make_ca makes them"
    key = ec.generate_private_key(ec.SECP256R1())
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = (
        _dated(_name(names[0]), issuer.subject, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_host(name) for name in names]), critical=False)
        .add_extension(authority, critical=False)
    )
    return _signed(builder, key, ca_key)


def days_left(certificate: bytes, now_ms: int) -> int:
    """Whole days until a certificate (PEM) runs out. Raises ValueError for what is none."""
    until = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    return (until - datetime.fromtimestamp(now_ms / 1000, UTC)).days


def _dated(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(FROM)
        .not_valid_after(UNTIL)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _signed(
    builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey, by: ec.EllipticCurvePrivateKey
) -> Certificate:
    pem = serialization.Encoding.PEM
    return Certificate(
        builder.sign(by, hashes.SHA256()).public_bytes(pem),
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common[:64])])


def _host(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)
