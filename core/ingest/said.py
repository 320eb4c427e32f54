"""What is said about a document outside its file, by a table or a sidecar, and remembered with the document.

A file may come again without them: uploaded alone, or ingested without the table. Labels that went away with the table
would let more people see the document, so what was said holds until a table or a sidecar says otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from core.errors import IntegrityFailure, MetadataError
from core.ingest.metadata import KEYS, DocumentMetadata, combine, read_mapping
from core.store.documents import canonical_json
from core.types import to_json


@dataclass(frozen=True, slots=True)
class Said:
    """None: it says nothing of this document; empty metadata: it takes back what was said before."""

    table: DocumentMetadata | None
    sidecar: DocumentMetadata | None
    front: DocumentMetadata

    def metadata(self) -> DocumentMetadata:
        """Key by key from the table, else from the sidecar, else from the front matter."""
        return combine(self.table, self.sidecar, self.front)

    def with_remembered(self, outside: str) -> tuple[Said, tuple[str, ...]]:
        """With what was said before by a table or a sidecar that is silent now; and the keys that this decides.

        `outside`: as `outside` gives it. Raises IntegrityFailure.
        """
        before = _read(outside)
        silent = {name: metadata for name, metadata in before.items() if getattr(self, name) is None}
        said = replace(self, **silent)
        now, then = self.metadata(), said.metadata()
        return said, tuple(key for key in KEYS if getattr(now, key) != getattr(then, key))

    def outside(self) -> str:
        """Table and sidecar as JSON; empty where neither states anything."""
        found = {"table": self.table, "sidecar": self.sidecar}
        stated = {name: _stated(said) for name, said in found.items() if said is not None and _stated(said)}
        return canonical_json(stated) if stated else ""


def _stated(metadata: DocumentMetadata) -> dict[str, Any]:
    return {key: to_json(value) for key in KEYS if (value := getattr(metadata, key)) is not None}


def _read(outside: str) -> dict[str, DocumentMetadata]:
    if not outside:
        return {}
    try:
        found = dict(json.loads(outside).items())
        return {name: read_mapping(found[name], name) for name in ("table", "sidecar") if name in found}
    except (AttributeError, TypeError, ValueError, MetadataError) as error:
        raise IntegrityFailure(
            f"stored metadata are not readable ({error})", "restore a backup or re-ingest the document"
        ) from None
