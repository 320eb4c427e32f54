"""Which elements of a page no reader sees, by their tags, attributes, inline styles and plain style sheets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

_NEVER_SHOWN = frozenset(
    "area audio base button canvas col colgroup datalist embed frame frameset head iframe input link map meta noembed "
    "noframes noscript object param script select source style svg template textarea track video rp".split()
)
# Both in linear time: a rule is looked for after a brace only, a comment left open reaches to the end.
_RULE = re.compile(r"(?:^|(?<=[{}]))([^{}]++)\{([^{}]*+)\}")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_AT_RULE_HEAD_END = re.compile(r"[{;]")
_BRACE = re.compile(r"[{}]")
_RULES_MAX = 500
_ZERO = re.compile(r"[+-]?0*\.?0+(?:[a-z]+|%)?")
_LENGTH = re.compile(r"([+-]?[\d.]+)(px|pt|em|rem|%|)")
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)"})


def never_shown(tag: str) -> bool:
    return tag in _NEVER_SHOWN


def is_hidden(node: LexborNode) -> bool:
    """By its own attributes and inline style."""
    attributes = node.attributes
    if "hidden" in attributes or (node.tag == "dialog" and "open" not in attributes):
        return True
    style = attributes.get("style")
    return bool(style) and hides(style or "")


def hidden_by_sheets(tree: LexborHTMLParser, linked: Callable[[str], str] | None = None) -> frozenset[int]:
    """`mem_id` of every element that a rule of a style sheet hides: in `<style>`, or in what `linked` gives for the
    address in a `<link>`. Rules under conditions (`@media`) and states are passed over: where they hold is not known.
    """
    found: set[int] = set()
    for selector in _hiding_selectors(tree, linked):
        try:
            found.update(node.mem_id for node in tree.css(selector))
        except SelectolaxError:
            continue
    return frozenset(found)


def _hiding_selectors(tree: LexborHTMLParser, linked: Callable[[str], str] | None) -> Iterator[str]:
    count = 0
    for sheet in tree.css("style, link[rel~=stylesheet]" if linked else "style"):
        media = (sheet.attributes.get("media") or "all").strip().lower()
        if media not in ("all", "screen"):
            continue
        css = linked(sheet.attributes.get("href") or "") if linked and sheet.tag == "link" else sheet.text()
        for match in _RULE.finditer(_without_conditions(_CSS_COMMENT.sub("", css))):
            selector = match[1].strip()
            if not hides(match[2]) or ":" in selector or "@" in selector:
                continue
            count += 1
            if count > _RULES_MAX:
                return
            yield selector


def _without_conditions(css: str) -> str:
    """The sheet without its `@…{…}` blocks, whatever they nest."""
    parts, position, at = [], 0, css.find("@")
    while at >= 0:
        parts.append(css[position:at])
        first = _AT_RULE_HEAD_END.search(css, at)
        position = first.end() if first else len(css)
        if first and first.group() == "{":
            depth = 1
            for mark in _BRACE.finditer(css, position):
                depth += 1 if mark.group() == "{" else -1
                if not depth:
                    position = mark.end()
                    break
            else:
                position = len(css)
        at = css.find("@", position)
    return "".join([*parts, css[position:]])


def hides(style: str) -> bool:
    """Whether these declarations make text invisible: not displayed, transparent, of no size, off the page, or in
    the colour of its ground."""
    values = _declarations(style)
    get = values.get
    colour, ground = get("color", ""), get("background-color", get("background", ""))
    return (
        get("display") == "none"
        or get("visibility") in ("hidden", "collapse")
        or _is_zero(get("opacity", "1"))
        or _is_tiny(get("font-size", get("font", "").split(" ")[0].split("/")[0]))
        or _is_far(get("text-indent", ""))
        or colour == "transparent"
        or (bool(colour) and (colour == ground or (colour in _WHITE and ground in _WHITE)))
        or (get("position") in ("absolute", "fixed") and any(_is_far(get(s, "")) for s in ("left", "top", "right")))
        or (get("overflow") in ("hidden", "clip") and (_is_zero(get("height", "1")) or _is_zero(get("width", "1"))))
        or get("clip", "").replace(" ", "") in ("rect(0,0,0,0)", "rect(0000)", "rect(1px,1px,1px,1px)")
        or get("clip-path", "").replace(" ", "") in ("inset(50%)", "inset(100%)")
    )


def _declarations(style: str) -> dict[str, str]:
    values = {}
    for part in _CSS_COMMENT.sub("", style).split(";"):
        name, _, value = part.partition(":")
        text = " ".join(value.lower().replace("!important", "").split())
        values[name.strip().lower()] = text.replace(", ", ",")
    return values


def _is_zero(value: str) -> bool:
    return bool(_ZERO.fullmatch(value))


def _is_tiny(value: str) -> bool:
    match = _LENGTH.fullmatch(value)
    try:
        size = float(match[1]) if match else None
    except ValueError:
        return False
    limits = {"px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "%": 10.0, "": 0.0}
    return size is not None and match is not None and size <= limits[match[2]]


def _is_far(value: str) -> bool:
    match = _LENGTH.fullmatch(value)
    try:
        return bool(match) and float(match[1]) <= {"em": -60, "rem": -60, "%": -100}.get(match[2], -900)  # type: ignore[index]
    except ValueError:
        return False
