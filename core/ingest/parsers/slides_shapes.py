"""Shapes of a slide: where they stand, in which order they are read, and which of them a viewer sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from core.ingest.parsers.docx_xml import whole
from core.ingest.parsers.sheets_xml import local

_ROW_EMU = 91_440
"""Tops this near each other (0.1 inch) stand in one row and are read from left to right."""
_KINDS = frozenset({"sp", "grpSp", "graphicFrame", "pic", "cxnSp"})

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in EMU (914,400 to the inch)."""
Key = tuple[str, str]
"""Type and index of a placeholder."""


@dataclass(frozen=True, slots=True)
class Shape:
    element: etree._Element
    kind: str
    box: Box | None
    """None: nowhere stated."""
    placeholder: Key | None
    role: str
    """The placeholder's type as it is written, e.g. `subTitle`; empty: it is none."""
    fill: etree._Element | None
    """Its own; a child of its properties such as `solidFill`."""
    is_see_through: bool
    """Filled neither by itself nor by a style."""
    children: tuple[Shape, ...] = ()
    """Of a group, in the order of painting."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How coordinates inside a group become those of the slide."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    move_x: float = 0.0
    move_y: float = 0.0

    def box(self, transform: etree._Element | None) -> Box | None:
        corner, size = _pair(transform, "off", "x", "y"), _pair(transform, "ext", "cx", "cy")
        if corner is None or size is None:
            return None
        left, top = corner[0] * self.scale_x + self.move_x, corner[1] * self.scale_y + self.move_y
        return left, top, left + size[0] * self.scale_x, top + size[1] * self.scale_y

    def inside(self, transform: etree._Element | None) -> Frame:
        """The frame of what a group holds."""
        box = self.box(transform)
        corner, size = _pair(transform, "chOff", "x", "y"), _pair(transform, "chExt", "cx", "cy")
        if box is None or corner is None or size is None or not all(size):
            return self
        scale_x, scale_y = (box[2] - box[0]) / size[0], (box[3] - box[1]) / size[1]
        return Frame(scale_x, scale_y, box[0] - corner[0] * scale_x, box[1] - corner[1] * scale_y)


def _pair(transform: etree._Element | None, name: str, x: str, y: str) -> tuple[int, int] | None:
    child = transform.find(f"{{*}}{name}") if transform is not None else None
    if child is None:
        return None
    first, second = whole(child.get(x)), whole(child.get(y))
    return (first, second) if first is not None and second is not None else None


def tree_of(root: etree._Element) -> etree._Element | None:
    return root.find("{*}cSld/{*}spTree")


def placeholder_boxes(root: etree._Element) -> dict[Key, Box]:
    """Where a layout or master puts its placeholders, by type and index and by type alone."""
    boxes: dict[Key, Box] = {}
    tree = tree_of(root)
    for shape in painted(shapes(tree, {})) if tree is not None else ():
        if shape.placeholder and shape.box:
            boxes.setdefault(shape.placeholder, shape.box)
            boxes.setdefault((shape.placeholder[0], ""), shape.box)
    return boxes


def shapes(parent: etree._Element, inherited: Mapping[Key, Box], frame: Frame | None = None) -> tuple[Shape, ...]:
    """Shapes in a tree or group, in the order of painting. `inherited`: where a layout puts its placeholders."""
    return tuple(_shape(element, inherited, frame or Frame()) for element in _elements(parent))


def _shape(element: etree._Element, inherited: Mapping[Key, Box], frame: Frame) -> Shape:
    kind = local(element)
    properties = element.find("{*}grpSpPr" if kind == "grpSp" else "{*}spPr")
    holder = element if kind == "graphicFrame" else properties
    transform = holder.find("{*}xfrm") if holder is not None else None
    key, role = _placeholder(element)
    box = frame.box(transform)
    if box is None and key is not None:
        box = inherited.get(key) or inherited.get((key[0], ""))
    fill = _fill(properties)
    style = element.find("{*}style/{*}fillRef")
    by_style = style is not None and style.get("idx") != "0"
    see_through = kind in ("sp", "cxnSp", "grpSp") and (not by_style if fill is None else local(fill) == "noFill")
    children = shapes(element, inherited, frame.inside(transform)) if kind == "grpSp" else ()
    return Shape(element, kind, box, key, role, fill, see_through, children)


def _elements(parent: etree._Element) -> Iterator[etree._Element]:
    for child in parent:
        if local(child) == "AlternateContent":
            branch = chosen_drawing(child)
            yield from (item for item in branch if local(item) in _KINDS) if branch is not None else ()
        elif local(child) in _KINDS:
            yield child


def chosen_drawing(alternatives: etree._Element) -> etree._Element | None:
    """The reading that holds text, else the first that holds anything."""
    branches = [child for child in alternatives if local(child) in ("Choice", "Fallback") and len(child)]
    with_text = [branch for branch in branches if next(branch.iter("{*}t"), None) is not None]
    return next(iter(with_text or branches), None)


def _placeholder(element: etree._Element) -> tuple[Key | None, str]:
    mark = next((mark for child in element if (mark := child.find("{*}nvPr/{*}ph")) is not None), None)
    if mark is None:
        return None, ""
    role = mark.get("type", "obj")
    return ({"ctrTitle": "title", "subTitle": "body", "obj": "body"}.get(role, role), mark.get("idx", "")), role


def _fill(properties: etree._Element | None) -> etree._Element | None:
    if properties is None:
        return None
    return next((child for child in properties if local(child).endswith("Fill")), None)


def is_hidden(shape: Shape) -> bool:
    """Switched off by its author."""
    properties = next((child.find("{*}cNvPr") for child in shape.element if local(child).startswith("nv")), None)
    return properties is not None and properties.get("hidden") in ("1", "true")


def is_off(box: Box | None, width: float, height: float) -> bool:
    """Wholly beside the slide. A shape without a place is on it."""
    if box is None:
        return False
    left, top, right, bottom = box
    beside = right < 0 or left >= width or (right == 0 and left < 0)
    return beside or bottom < 0 or top >= height or (bottom == 0 and top < 0)


def reading_order(found: Sequence[Shape]) -> list[Shape]:
    """From top to bottom, and from left to right where tops are level; those without a place first."""
    placed = sorted((shape for shape in found if shape.box), key=_corner)
    rows: list[list[Shape]] = []
    for shape in placed:
        if rows and _corner(shape)[0] - _corner(rows[-1][0])[0] <= _ROW_EMU:
            rows[-1].append(shape)
        else:
            rows.append([shape])
    in_rows = [shape for row in rows for shape in sorted(row, key=lambda shape: _corner(shape)[1])]
    return [shape for shape in found if not shape.box] + in_rows


def _corner(shape: Shape) -> tuple[float, float]:
    return (shape.box[1], shape.box[0]) if shape.box else (0.0, 0.0)


def overlap(one: Box | None, other: Box | None) -> bool:
    """Whether they meet; a box that is not known may."""
    if one is None or other is None:
        return True
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def painted(found: Sequence[Shape]) -> Iterator[Shape]:
    """They and what groups hold, without the groups."""
    for shape in found:
        if shape.kind == "grpSp":
            yield from painted(shape.children)
        else:
            yield shape
