"""What a slide takes from its layout, master and theme: places, backgrounds, colours, and what is painted below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lxml import etree

from core.ingest.parsers.ooxml import relations
from core.ingest.parsers.slides_ground import Palette, palette
from core.ingest.parsers.slides_shapes import Box, Key, painted, placeholder_boxes, shapes, tree_of
from core.ingest.parsers.zip_guard import Container


@dataclass(frozen=True, slots=True)
class Design:
    boxes: dict[Key, Box]
    """Where placeholders stand."""
    filled: Sequence[Box | None]
    """Where pictures or filled shapes stand."""
    backgrounds: Sequence[etree._Element]
    """Roots that may state a background, the nearest first."""
    names: Palette


NO_DESIGN = Design({}, (), (), {})


def read_design(layout: str, container: Container, xml: Callable[[str], etree._Element]) -> Design:
    """`layout`: the path of its part; `xml` gives the root of a part. Raises UnreadableFile."""
    first = xml(layout)
    master_part = _part(container, layout, "slideMaster")
    if not master_part:
        return Design(placeholder_boxes(first), _filled(first), (_only_background(first),), {})
    master = xml(master_part)
    theme = _part(container, master_part, "theme")
    names = palette(master, xml(theme) if theme else None)
    boxes = {**placeholder_boxes(master), **placeholder_boxes(first)}
    filled = [*_filled(first), *(_filled(master) if first.get("showMasterSp") not in ("0", "false") else ())]
    return Design(boxes, filled, (_only_background(first), _only_background(master)), names)


def _part(container: Container, part: str, kind: str) -> str:
    return next((item.target for item in relations(container, part).values() if item.kind == kind), "")


def _filled(root: etree._Element) -> list[Box | None]:
    tree = tree_of(root)
    found = painted(shapes(tree, {})) if tree is not None else ()
    return [shape.box for shape in found if not shape.is_see_through and not shape.placeholder]


def _only_background(root: etree._Element) -> etree._Element:
    """`root` without its shapes, so that keeping it takes no memory."""
    tree = tree_of(root)
    parent = tree.getparent() if tree is not None else None
    if tree is not None and parent is not None:
        parent.remove(tree)
    return root
