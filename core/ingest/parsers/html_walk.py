"""The nodes of a page that a reader sees, in document order, without recursion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from selectolax.lexbor import LexborNode

from core.ingest.parsers.html_hidden import is_hidden, never_shown

Event = Literal["enter", "leave", "text"]


class VisibleWalk:
    """Every visible node in document order. Set `skip` on entering an element to pass over what is inside."""

    def __init__(self, root: LexborNode, hidden: frozenset[int]) -> None:
        self._root = root
        self._hidden = hidden
        self.skip = False
        self.hidden = 0
        """Elements with text that were left out because they are hidden."""

    def __iter__(self) -> Iterator[tuple[Event, LexborNode]]:
        stack = [(self._root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                yield "leave", node
            elif node.is_text_node:
                yield "text", node
            elif node.is_element_node and not never_shown(node.tag or ""):
                if node.mem_id in self._hidden or is_hidden(node):
                    self.hidden += bool(node.text().strip())
                    continue
                self.skip = False
                yield "enter", node
                if not self.skip:
                    stack.append((node, True))
                    stack += [(child, False) for child in reversed(list(node.iter(include_text=True)))]
