"""An authenticator in software: it makes passkeys and answers challenges as a browser sends them."""

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import bytes_to_base64url

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40
ORIGIN, HOST = "http://testserver", "testserver"


@dataclass
class Authenticator:
    """One passkey. `counts` is false where it has no counter, as those that are synchronised."""

    origin: str = ORIGIN
    host: str = HOST
    count: int = 0
    counts: bool = True
    flags: int = PRESENT | VERIFIED
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: dict[str, Any]) -> str:
        """Answer `navigator.credentials.create()`."""
        attested = bytes(16) + len(self.credential).to_bytes(2, "big") + self.credential + self._public_key()
        statement = {"fmt": "none", "attStmt": {}, "authData": self._data(self.flags | ATTESTED) + attested}
        client_data = self._client_data("webauthn.create", options["challenge"])
        response = {
            "clientDataJSON": bytes_to_base64url(client_data),
            "attestationObject": bytes_to_base64url(cbor2.dumps(statement)),
            "transports": ["usb", "a way of tomorrow"],
        }
        return self._credential(response)

    def use(self, options: dict[str, Any], kind: str = "webauthn.get") -> str:
        """Answer `navigator.credentials.get()`."""
        if self.counts:
            self.count += 1
        data, client_data = self._data(self.flags), self._client_data(kind, options["challenge"])
        signature = self.key.sign(data + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": bytes_to_base64url(client_data),
            "authenticatorData": bytes_to_base64url(data),
            "signature": bytes_to_base64url(signature),
        }
        return self._credential(response)

    def _credential(self, response: dict[str, Any]) -> str:
        name = bytes_to_base64url(self.credential)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _public_key(self) -> bytes:
        point = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")})
