from __future__ import annotations

import copy
import hashlib
import hmac
import pickle

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from unworn.errors import LedgerError
from unworn.ledger import Key, check_signature


def test_new_keys_differ_and_read_back() -> None:
    one, two = Key.new(), Key.new()
    assert one != two
    assert Key.from_hex(one.hex()) == one
    assert Key.from_hex(f" {one.hex()}\n") == one
    assert len(bytes.fromhex(one.hex())) == 32
    assert hash(Key.from_hex(one.hex())) == hash(one)
    assert one != one.hex()


def test_derived_bytes_are_hmac_by_label(key: Key) -> None:
    assert key.derive("noise") == hmac.new(bytes(range(32)), b"noise", hashlib.sha256).digest()
    assert key.derive("noise") != key.derive("fingerprint")


def test_signatures(key: Key) -> None:
    digest = "5a" * 32
    signature = key.sign(digest)
    assert check_signature(key.public, digest, signature)
    assert not check_signature(key.public, "5b" + digest[2:], signature)
    assert not check_signature(Key.new().public, digest, signature)
    assert not check_signature(key.public, digest, "00" + signature[2:])


def test_another_library_makes_and_accepts_the_same_signatures(key: Key) -> None:
    signer = Ed25519PrivateKey.from_private_bytes(key.derive("unworn/ledger/ed25519"))
    assert key.public == signer.public_key().public_bytes_raw().hex()
    for digest in (bytes(32), bytes(range(32)), b"\xff" * 32):
        signature = key.sign(digest.hex())
        assert signature == signer.sign(digest).hex()
        signer.public_key().verify(bytes.fromhex(signature), digest)


def test_a_signature_and_its_digest_are_not_cut_elsewhere(key: Key) -> None:
    digest = "5a" * 32
    whole = key.sign(digest) + digest
    for cut in (126, 130):
        assert not check_signature(key.public, whole[cut:], whole[:cut])


@pytest.mark.parametrize(
    ("public", "digest", "signature"),
    [
        ("", "", ""),
        ("zz" * 32, "00", "00"),
        ("00" * 31, "00" * 32, "00" * 64),
        ("00" * 33, "00" * 32, "00" * 64),
        ("00" * 32, "00" * 32, "00" * 64),
        (None, "00", "00"),
        ("00" * 32, 1, 2),
    ],
)
def test_malformed_signatures_are_wrong_not_errors(public: str, digest: str, signature: str) -> None:
    assert check_signature(public, digest, signature) is False


def test_nothing_leaks_by_print_or_pickle(key: Key) -> None:
    secret = key.hex()
    for shown in (repr(key), str(key), f"{key}", f"{[key]}"):
        assert key.public[:8] in shown
        assert not any(secret[i : i + 8] in shown for i in range(56))
        assert key.public not in shown
    assert not hasattr(key, "__dict__")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="keys never travel in pickles"):
            pickle.dumps(key, protocol)
    with pytest.raises(TypeError, match="keys never travel in pickles"):
        pickle.dumps({"inside": [key]})
    assert copy.deepcopy({"key": key})["key"] is key
    assert copy.copy(key) is key


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "00" * 33, None, 7, "é" * 64])
def test_bad_keys_are_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Key.from_hex(text)
    assert "zz" not in str(caught.value)


@pytest.mark.parametrize("secret", [b"", b"x" * 31, "x" * 32, bytearray(32)])
def test_a_key_is_32_bytes(secret: bytes) -> None:
    with pytest.raises(LedgerError):
        Key(secret)
