"""Bytes kept beside a session file, named by their sha256."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from pathlib import Path

from traces.output import whole_file, writing
from traces.session.message import Blob, Text

MAX_INLINE_TEXT = 1_000_000
"""Characters. A longer text is kept beside the file; no context holds it anyway."""

HEAD = 2_000
"""Characters of a long text that stay inline, to show what it was."""


@dataclass(slots=True)
class BlobStore:
    """`folder` receives the bytes; without one they are only named and counted."""

    folder: Path | None = None

    def put(self, data: bytes) -> str:
        """Keep `data`; returns its sha256. The same bytes are stored once."""
        name = hashlib.sha256(data).hexdigest()
        if self.folder is not None:
            file = self.folder / name
            if not file.exists():
                with writing(self.folder):
                    self.folder.mkdir(parents=True, exist_ok=True)
                with whole_file(file) as part:
                    part.write_bytes(data)
        return name

    def base64(self, mime: str, encoded: str) -> Blob:
        """An attachment given as base64; what does not decode is kept as it stands."""
        try:
            data = base64.b64decode(encoded, validate=False)
        except (binascii.Error, ValueError):
            data = encoded.encode()
        return Blob(mime=mime, blob=self.put(data), size=len(data))

    def text(self, text: str) -> Text | Blob:
        """Text, inline unless it is too long."""
        if len(text) <= MAX_INLINE_TEXT:
            return Text(text=text)
        data = text.encode()
        return Blob(mime="text/plain", blob=self.put(data), size=len(data), head=text[:HEAD])
