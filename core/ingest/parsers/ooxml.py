"""How the parts of an Office document refer to each other."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from lxml import etree

from core.errors import UnreadableFile
from core.ingest.parsers.zip_guard import Container

_DOCUMENT = "officeDocument"


@dataclass(frozen=True, slots=True)
class Relation:
    kind: str
    """The last part of its type, e.g. `worksheet`."""
    target: str
    """Path of the part inside the archive."""


def reference(element: etree._Element, name: str = "id") -> str:
    """The id of a relation that `element` names in the attribute `r:id`, or `r:` and another name; empty: none."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith(f"}}{name}")), "")


def relations(container: Container, part: str) -> dict[str, Relation]:
    """The parts that `part` refers to, by their ids there; addresses outside the archive are left out."""
    folder, name = posixpath.split(part)
    listing = posixpath.join(folder, "_rels", f"{name}.rels")
    if listing not in container.names:
        return {}
    found = {}
    for item in container.xml(listing).iterfind("{*}Relationship"):
        target = item.get("Target", "")
        if item.get("TargetMode") == "External" or not target:
            continue
        path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[item.get("Id", "")] = Relation(item.get("Type", "").rsplit("/", 1)[-1], path)
    return found


def main_part(container: Container, path: str) -> str:
    """The part that everything else hangs on. Raises UnreadableFile: no Office document."""
    for relation in relations(container, "").values():
        if relation.kind == _DOCUMENT:
            return relation.target
    raise UnreadableFile(path, "not what its extension says: it is no Office document", "rename or convert it")
