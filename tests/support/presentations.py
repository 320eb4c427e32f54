"""Presentations made for tests with python-pptx."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from pptx import Presentation
from pptx.util import Inches

TITLE_ONLY, TITLE_AND_BODY, BLANK = 5, 1, 6
"""Layouts of the default template."""


def pptx(fill: Callable[[Any], object]) -> bytes:
    """The presentation that `fill` writes into."""
    deck = Presentation()
    fill(deck)
    target = io.BytesIO()
    deck.save(target)
    return target.getvalue()


def add_slide(deck: Any, title: str = "", layout: int = TITLE_ONLY) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def add_box(holder: Any, text: str, left: float = 1, top: float = 2, width: float = 2) -> Any:
    """A text box on a slide or in a group; inches."""
    box = holder.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(0.4))
    box.text_frame.text = text
    return box
