"""The private file beside a store: the key of sessions, and the links of invitations.

The store has only hashes of tokens. This file lets the same links be shown at every start; only
its owner can read it.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from karat.errors import InputError, OutputError, short


@dataclass
class Keys:
    """The key of sessions, and tokens by the names of assessors."""

    path: Path
    key: bytes
    tokens: dict[str, str] = field(default_factory=dict)

    @classmethod
    def beside(cls, store: Path) -> Keys:
        """Read the file of a store, or make it."""
        path = store.with_name(f"{store.name}.keys")
        content = _read(path)
        keys = cls(path, *(content or (secrets.token_bytes(32), {})))
        if content is None:
            keys.save()
        return keys

    def add(self, name: str, token: str) -> None:
        """Remember the token of an assessor, beside those that other processes have added."""
        if content := _read(self.path):
            self.tokens = content[1]
        if content is None or self.tokens.get(name) != token:
            self.tokens[name] = token
            self.save()

    def save(self) -> None:
        """Write the file whole, readable by its owner alone."""
        content = json.dumps({"key": self.key.hex(), "tokens": self.tokens}, ensure_ascii=False)
        part = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(number, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            part.unlink(missing_ok=True)
            why = error.strerror or error
            raise OutputError(f"cannot write {short(self.path)}: {why}") from None


def _read(path: Path) -> tuple[bytes, dict[str, str]] | None:
    """Return the key and the tokens of a file; None if there is no file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {short(path)}: {error}") from None
    try:
        found = json.loads(text)
        key, tokens = bytes.fromhex(found["key"]), dict(found["tokens"])
    except (ValueError, TypeError, KeyError, RecursionError):
        key, tokens = b"", {}
    texts = all(isinstance(part, str) for pair in tokens.items() for part in pair)
    if len(key) != 32 or not texts:
        told = "remove it, and new links are made"
        raise InputError(f"{short(path)} is not a file of keys of the studio: {told}")
    return key, tokens
