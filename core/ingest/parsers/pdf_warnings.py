"""What a reader of a PDF's text should know of its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Notes:
    """Gathered page by page."""

    hidden: dict[str, int] = field(default_factory=dict)
    """Words left out, by page."""
    scans: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    furniture: int = 0
    cut: bool = False
    plain: bool = False

    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.cut:
            found.append("the end of the file is missing: text may be, too")
        if self.hidden:
            words = sum(self.hidden.values())
            found.append(f"left out hidden text on {_pages(list(self.hidden))} ({words:,} word{'s' * (words != 1)})")
        if self.scans:
            verb = "has no text: it looks like a scan" if len(self.scans) == 1 else "have no text: they look like scans"
            found.append(f"{_pages(self.scans)} {verb} (needs OCR)")
        if self.layers:
            found.append(f"text of {_pages(self.layers)} is an OCR layer, which may differ from what is seen")
        if self.unchecked:
            found.append(f"left out the text of {_pages(self.unchecked)}: too large to tell what is seen")
        if self.unread:
            found.append(f"{_pages(self.unread)} could not be read")
        if self.furniture:
            found.append(f"left out {self.furniture:,} repeated page headers and footers")
        if self.plain:
            found.append("tables were not recognised: they are read line by line")
        return tuple(found)


def _pages(labels: Sequence[str]) -> str:
    """`page 3`, `pages 1, 3–5, iv`; runs of numbers joined."""
    runs: list[list[str]] = []
    for label in dict.fromkeys(labels):
        if runs and label.isdecimal() and runs[-1][-1].isdecimal() and int(label) == int(runs[-1][-1]) + 1:
            runs[-1].append(label)
        else:
            runs.append([label])
    parts = [", ".join(run) if len(run) < 2 else f"{run[0]}–{run[-1]}" for run in runs]
    return f"page{'s' * (len(dict.fromkeys(labels)) > 1)} {', '.join(parts)}"
