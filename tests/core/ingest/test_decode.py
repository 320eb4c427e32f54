from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.decode import decode

ZH = "退款申请须在收到商品后三个工作日内提出，逾期不予受理。"
TW = "退款申請須在收到商品後三個工作日內提出，逾期不予受理。"
JA = "返品は商品到着後三日以内にお申し込みください。詳しくは窓口まで。"
KO = "환불 신청은 상품 수령 후 3일 이내에 하셔야 합니다"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ZH, "utf-8"),
        (ZH, "gb18030"),
        (TW, "big5"),
        (JA, "cp932"),
        (JA, "euc_jp"),
        (JA, "iso2022_jp"),
        (KO, "cp949"),
        ("Rückerstattung dauert fünf Tage über die Straße", "cp1252"),
        ("Le délai de remboursement est de trois jours ouvrés après réception", "cp1252"),
        ("Возврат денег занимает три рабочих дня после заявки", "cp1251"),
        ("Plain words only, with UTF-16", "utf-16-le"),
        ("Plain words only, with UTF-16", "utf-16-be"),
    ],
)
def test_text_in_any_encoding(text: str, encoding: str) -> None:
    assert decode("a.txt", text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_mark_decides(mark: bytes, encoding: str) -> None:
    decoded = decode("a.txt", mark + ZH.encode(encoding))
    assert (decoded.text, decoded.encoding) == (ZH, encoding)


@pytest.mark.parametrize("encoding", ["gb18030", "iso2022_jp", "utf-16-le"])
def test_an_encoding_that_was_guessed_is_said(encoding: str) -> None:
    text = {"gb18030": ZH, "iso2022_jp": JA}.get(encoding, "Plain words only, with UTF-16")
    decoded = decode("a.txt", text.encode(encoding))
    assert decoded.warnings == (f"read as {decoded.encoding}; save it as UTF-8 if that is wrong",)
    assert decoded.encoding == encoding


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        (ZH.encode(), None),
        (b"plain", None),
        (ZH.encode(), "gb2312"),
        (ZH.encode("gb18030"), "gb2312"),
        (JA.encode("iso2022_jp"), "iso-2022-jp"),
        (codecs.BOM_UTF16_LE + ZH.encode("utf-16-le"), None),
    ],
)
def test_an_encoding_that_is_stated_is_not(data: bytes, declared: str | None) -> None:
    assert decode("a.txt", data, declared).warnings == ()


def test_a_wrong_declaration_does_not_hide_a_guess() -> None:
    assert len(decode("a.html", ZH.encode("gb18030"), "utf-8").warnings) == 1


def test_declared_charset_is_widened() -> None:
    # 镕 is in GBK, not in the GB 2312 that the page declares
    assert decode("a.html", "朱镕基".encode("gbk"), "gb2312").text == "朱镕基"


@pytest.mark.parametrize("declared", ["utf-16", "rot13", "no-such", "", "base64"])
def test_a_charset_that_cannot_be_is_passed_over(declared: str) -> None:
    assert decode("a.html", ZH.encode("gb18030"), declared).text == ZH


def test_one_broken_byte_does_not_turn_utf8_into_something_else() -> None:
    decoded = decode("a.txt", ZH.encode() * 3 + b"\xff" + ZH.encode())
    assert decoded.text == ZH * 3 + "\ufffd" + ZH
    assert "not all of it is utf-8" in decoded.warnings[0]


def test_long_text_is_not_cut_inside_a_character_for_detection() -> None:
    line = (ZH + "a\n").encode("gb18030")
    assert decode("a.txt", line * (1_200_000 // len(line))).text.startswith(ZH)


@pytest.mark.parametrize("data", [b"", b" \n\t ", b"\xef\xbb\xbf \n"])
def test_empty(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match="empty"):
        decode("a.txt", data)


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7 \n",
        b"PK\x03\x04rest",
        b"\x89PNG\r\n\x1a\n",
        b"{\\rtf1 hello}",
        b"text\x00with zero bytes",
        b"\x01\x02\x03\x04\x05" * 20,
        bytes(range(256)) * 4,
    ],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFile, match=r"a\.txt: not"):
        decode("a.txt", data)


@given(st.binary(max_size=300))
def test_any_bytes_give_text_or_a_refusal(data: bytes) -> None:
    try:
        text = decode("a.txt", data).text
    except UnreadableFile:
        return
    assert text.strip() and "\0" not in text
    text.encode()


@given(st.text(st.characters(exclude_categories=("C",)), min_size=1).filter(str.strip))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    from core.ingest.clean import clean

    assert decode("a.txt", b"\xef\xbb\xbf" + text.encode()).text == clean(text)[0]
