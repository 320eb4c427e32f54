"""Files that are broken, or made to do harm: refused, or read in part, and never more than the process is lost."""

from __future__ import annotations

import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from core.errors import UnreadableFile
from core.ingest.parsers.pdf import PdfParser
from tests.support import ROOT
from tests.support.pdf_writer import Pdf, lines, text

SEEN = text(72, 700, "A line that can be read")
CHILD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from pathlib import Path
from core.errors import UnreadableFile
from core.ingest.parsers.pdf import PdfParser
try:
    print("parsed", len(PdfParser().parse(Path("paper.pdf"), sys.stdin.buffer.read()).text))
except (UnreadableFile, MemoryError) as error:
    print("refused", error)
"""


def parse(data: bytes) -> str:
    return PdfParser().parse(Path("paper.pdf"), data).text


def outcome(data: bytes) -> str:
    """`parsed`, `refused` or `crashed`, in a process of its own. Raises TimeoutExpired."""
    run = subprocess.run(
        [sys.executable, "-c", CHILD], input=data, capture_output=True, cwd=ROOT, timeout=120, check=False
    )
    return run.stdout.split()[0].decode() if run.returncode == 0 else "crashed"


def plain() -> Pdf:
    pdf = Pdf()
    pdf.page(SEEN)
    return pdf


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"GIF89a and so on", "not a PDF"),
        (b"%PDF-1.7\n", "damaged"),
        (b"%PDF-1.7\n%%EOF\n", "damaged"),
        (plain().build(kids=""), "no pages|damaged"),
    ],
)
def test_what_is_no_pdf(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason) as caught:
        parse(data)
    assert caught.value.remedy


def test_encrypted_with_a_password() -> None:
    pdf = plain()
    key = pdf.add(f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>".encode())
    with pytest.raises(UnreadableFile, match="protected by a password"):
        parse(pdf.build(trailer=f"/Encrypt {key} 0 R /ID [<00> <00>]"))


def test_truncated_anywhere() -> None:
    whole = plain().build()
    for length in range(0, len(whole) - 7, 97):
        with suppress(UnreadableFile):
            assert parse(whole[:length]) == "A line that can be read"


def test_without_its_end_there_is_a_warning() -> None:
    data = plain().build().replace(b"%%EOF", b"")
    parsed = PdfParser().parse(Path("paper.pdf"), data)
    assert parsed.text == "A line that can be read"
    assert parsed.warnings == ("the end of the file is missing: text may be, too",)


def test_outline_that_leads_back_to_itself() -> None:
    pdf = plain()
    _, first, second = pdf.outline([("One", 0), ("Two", 0)])
    for number, following in ((first, second), (second, first)):
        pdf.replace(number, f"<< /Title (Loop) /Next {following} 0 R /First {first} 0 R >>".encode())
    assert outcome(pdf.build()) == "parsed"


def test_pages_that_contain_themselves() -> None:
    pdf = plain()
    assert outcome(pdf.build(kids=f"{pdf.tree} 0 R {pdf.tree} 0 R")) in ("parsed", "refused")


def test_the_same_page_again_and_again() -> None:
    pdf = Pdf()
    page = pdf.page(SEEN)
    assert parse(pdf.build(kids=f"{page} 0 R " * 3)).count("A line that can be read") >= 1


@pytest.mark.nightly
def test_a_form_that_draws_itself() -> None:
    pdf = Pdf()
    form = pdf.form(b"")
    resources = f"/XObject << /S {form} 0 R >>"
    content = b"/S Do /S Do"
    pdf.replace(
        form,
        f"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length {len(content)} /Resources << {resources} >> >>\n"
        "stream\n".encode()
        + content
        + b"\nendstream",
    )
    pdf.page(SEEN + content, resources=resources)
    assert outcome(pdf.build()) in ("parsed", "refused", "crashed")


@pytest.mark.nightly
def test_a_stream_that_swells() -> None:
    pdf = Pdf()
    pump = zlib.compressobj(9)
    packed = b"".join(pump.compress(b" " * 10_000_000) for _ in range(100)) + pump.flush()
    page = pdf.page(SEEN)
    swollen = pdf.stream(packed, "/Filter /FlateDecode")
    pdf.replace(
        page,
        f"<< /Type /Page /Parent {pdf.tree} 0 R /MediaBox [0 0 595 842] /Contents {swollen} 0 R >>".encode(),
    )
    assert outcome(pdf.build()) in ("parsed", "refused", "crashed")


def test_a_page_of_a_million_points() -> None:
    pdf = Pdf()
    pdf.page(SEEN, size=(1_000_000, 1_000_000))
    assert parse(pdf.build()) == "A line that can be read"


def test_a_page_too_large_to_see() -> None:
    pdf = Pdf()
    pdf.page(SEEN + text(900_000, 900_000, "Far away"), size=(1_000_000, 1_000_000))
    pdf.page(lines(72, 700, ["Another page"]))
    parsed = PdfParser().parse(Path("paper.pdf"), pdf.build())
    assert parsed.text == "Another page"
    assert parsed.warnings == ("left out the text of page 1: too large to tell what is seen",)


def test_many_words_on_one_page() -> None:
    pdf = Pdf()
    pdf.page(b"".join(text(20 + 7 * (n % 80), 830 - 3 * (n // 80), "w", 3) for n in range(8_000)))
    assert outcome(pdf.build()) == "parsed"


def test_too_many_pages() -> None:
    pdf = Pdf()
    page = pdf.page(SEEN)
    with pytest.raises(UnreadableFile, match="more than 5,000"):
        parse(pdf.build(kids=f"{page} 0 R " * 5_001))


@pytest.mark.parametrize("seed", range(60))
def test_flipped_bytes(seed: int) -> None:
    """Any outcome but an error of another kind."""
    data = bytearray(plain().build())
    for number in range(5):
        data[(seed * 7919 + number * 104_729) % len(data)] ^= 1 << (seed % 8)
    with suppress(UnreadableFile):
        parse(bytes(data))
