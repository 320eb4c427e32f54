from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableFile
from core.ingest.parsers.mail import MailParser
from core.ingest.parsers.mail_message import PARTS_MAX, readable
from core.ports import ParsedDocument

Check = Callable[[ParsedDocument], ParsedDocument]


def mail(data: bytes | EmailMessage, name: str = "a.eml") -> ParsedDocument:
    return MailParser().parse(Path(name), data if isinstance(data, bytes) else data.as_bytes())


def message(subject: str = "Refunds", text: str = "Up to 30 days.") -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = subject
    made["From"] = "Ann Lee <ann@example.org>"
    made["To"] = "bob@example.org"
    made["Date"] = "Tue, 01 Dec 2026 10:00:00 +0800"
    if text:
        made.set_content(text)
    return made


def raw(body: bytes, *headers: str) -> bytes:
    return "\r\n".join(["From: a@b.c", *headers, "", ""]).encode() + body


def test_headers_and_paragraphs(checked: Check) -> None:
    parsed = checked(mail(message(text="Up to 30 days.\nNo more.\n\n> earlier\n> words\n")))
    assert parsed.text == (
        "Refunds\n\nFrom: Ann Lee <ann@example.org>\nTo: bob@example.org\nDate: Tue, 01 Dec 2026 10:00:00 +0800\n\n"
        "Up to 30 days.\nNo more.\n\n> earlier\n> words"
    )
    assert [block.kind for block in parsed.blocks] == ["heading", *["paragraph"] * 3]
    assert parsed.title == "Refunds" and parsed.warnings == ()
    assert parsed.blocks[2].provenance["section"] == ("Refunds",)


def test_plain_text_before_html_and_html_where_it_says_nothing(checked: Check) -> None:
    both = message(text="plain words")
    both.add_alternative("<p>html words</p>", subtype="html")
    assert "plain words" in checked(mail(both)).text and "html words" not in mail(both).text
    blank = message(text="  \n")
    page = "<h1>Limits</h1><p>html words<span style='display:none'>secret</span></p><table><tr><td>a<td>b</table>"
    blank.add_alternative(page, subtype="html")
    parsed = checked(mail(blank))
    assert parsed.text.endswith("Limits\n\nhtml words\n\na | b") and "secret" not in parsed.text
    assert parsed.warnings == ("left out 1 hidden elements",)
    assert parsed.blocks[-1].provenance["section"] == ("Refunds > Limits",)


def test_attachments_are_named_and_not_read(checked: Check) -> None:
    made = message()
    made.add_attachment("secret one", filename="notes.txt")
    made.add_attachment(b"\0\1", maintype="application", subtype="pdf", filename="价目表 2026.pdf")
    parsed = checked(mail(made))
    assert "secret" not in parsed.text
    assert parsed.warnings == ("attachments were not read: notes.txt, 价目表 2026.pdf",)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("filename*=gb2312''%BC%DB%C4%BF%B1%ED.pdf", "价目表.pdf"),
        ("filename*0*=utf-8''%E4%BB%B7; filename*1*=%E7%9B%AE.pdf", "价目.pdf"),
        ('filename="=?gb2312?B?vNvEv7Ht?=.pdf"', "价目表.pdf"),
        ('filename="价目表.pdf"', "价目表.pdf"),
        ('filename="..\\\\..\\\\etc/passwd"', "passwd"),
        ("x=1", "unnamed application/pdf"),
    ],
)
def test_names_of_attachments(value: str, name: str) -> None:
    headers = f"Content-Type: application/pdf\r\nContent-Disposition: attachment; {value}"
    body = f"--x\r\n\r\nhi\r\n--x\r\n{headers}\r\n\r\nx\r\n--x--"
    parsed = mail(raw(body.encode(), "Content-Type: multipart/mixed; boundary=x"))
    assert parsed.warnings == (f"attachments were not read: {name}",)


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("gb2312", "gb18030", "朱镕基的模板"),
        ("GBK", "gb18030", "㐂"),
        ("shift_jis", "cp932", "①髙"),
        ("iso-2022-jp", "iso2022_jp", "日本語"),
        ("hz-gb-2312", "hz", "中文"),
        ("iso-8859-1", "utf-8", "Zürich ist schön"),
        ("iso-8859-1", "latin-1", "Zürich ist schön"),
        ("utf-8", "gb18030", "这是一封没有正确声明字符集的中文邮件，内容很长。" * 5),
        ("no-such-charset", "utf-8", "naïve"),
        ("koi8-r", "koi8-r", "Привет"),
    ],
)
def test_charsets(charset: str, codec: str, text: str) -> None:
    parsed = mail(raw(text.encode(codec), f'Content-Type: text/plain; charset="{charset}"', "Subject: s"))
    assert parsed.text.endswith("\n\n" + text)


def test_encoded_subjects() -> None:
    halves = "退款".encode("gb18030")
    words = " ".join(f"=?gb2312?B?{b64encode(half).decode()}?=" for half in (halves[:1], halves[1:]))
    assert mail(raw(b"x", f"Subject: Re: {words} =?utf-8?Q?caf=C3=A9_x?= end")).title == "Re: 退款café x end"
    assert (
        mail(b"Subject: \xcd\xcb\xbf\xee\xc9\xea\xc7\xeb\r\nContent-Type: text/plain; charset=gbk\r\n\r\nx").title
        == "退款申请"
    )
    assert mail(raw(b"x", "Subject: folded\r\n over lines")).title == "folded over lines"
    assert mail(raw(b"x"), "folder/name.eml").title == "name"
    assert mail(raw(b"words", "Subject: a =?utf-8?B?AAECAwQF?= b")).title.startswith("a ")
    assert mail(raw(b"x", "Subject: =?utf-8?Q?a=E2=80=AEb?=")).title == "ab"


@given(st.text(max_size=30), st.sampled_from(["b", "q"]))
def test_readable_undoes_encoding(text: str, encoding: str) -> None:
    from email.charset import BASE64, QP, Charset
    from email.header import Header

    text = " ".join("".join(c for c in text if c.isprintable() and c not in "=?").split())
    charset = Charset("utf-8")
    charset.header_encoding = BASE64 if encoding == "b" else QP
    encoded = Header(text, charset, maxlinelen=200).encode()
    if text:
        assert readable(encoded).replace("\ufeff", "") == text.replace("\ufeff", "")


def test_attached_messages_follow_one_level_deeper(checked: Check) -> None:
    made = message("Outer", "outer words")
    made.add_attachment(message("Inner", "inner words"))
    made.add_attachment("more", filename="b.txt")
    parsed = checked(mail(made))
    assert parsed.text.index("outer words") < parsed.text.index("Inner") < parsed.text.index("inner words")
    headings = [(block.level, block.provenance["section"]) for block in parsed.blocks if block.kind == "heading"]
    assert headings == [(1, ("Outer",)), (2, ("Outer > Inner",))]


def test_twenty_attached_messages_inside_each_other_are_read() -> None:
    made = message("m0", "words 0")
    for number in range(1, 20):
        outer = message(f"m{number}", f"words {number}")
        outer.add_attachment(made)
        made = outer
    text = mail(made).text
    assert [f"words {number}\n" in text + "\n" for number in range(20)] == [True] * 20


def test_a_mail_cut_short_says_so() -> None:
    made = message()
    made.add_attachment("notes", filename="notes.txt")
    data = made.as_bytes()
    parsed = mail(data[: data.index(b"notes.txt") + 12])
    assert "Up to 30 days." in parsed.text
    assert "cut short: a part has no end" in parsed.warnings


def test_a_subject_alone_is_kept_with_a_warning(checked: Check) -> None:
    assert checked(mail(message("Approved", ""))).warnings == ("no text in it but its headers",)


def test_unreadable_parts_do_not_hide_the_others() -> None:
    body = b"--x\r\n\r\nwords\r\n--x\r\nContent-Type: text/plain\r\n\r\na\0\0\1\2b\r\n--x--"
    parsed = mail(raw(body, "Content-Type: multipart/mixed; boundary=x"))
    assert parsed.text.endswith("words") and any("could not be read" in warning for warning in parsed.warnings)


def nested(depth: int) -> bytes:
    parts = [f"Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n" for level in range(depth)]
    return b"Subject: s\r\n" + "".join(parts).encode() + b"Content-Type: text/plain\r\n\r\nhi"


def remote() -> bytes:
    kind = 'Content-Type: message/external-body; access-type=URL; URL="http://192.0.2.1/x"; name="x"'
    return raw(f"{kind}\r\n\r\n".encode(), kind)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \r\n", "empty"),
        (b"%PDF-1.7\n1 0 obj\n", "no headers of mail"),
        (b"PK\x03\x04" + bytes(50), "no headers of mail"),
        (b"<html><body>hi</body></html>", "no headers of mail"),
        (b"just some text\n\nmore", "no headers of mail"),
        (nested(3_000), "nested more than"),
        (b"Subject: s\r\n" + b"Content-Type: message/rfc822\r\n\r\n" * 3_000 + b"x", "nested more than"),
        (raw(b"--x\r\n\r\n\r\n" * (PARTS_MAX + 1), "Content-Type: multipart/mixed; boundary=x"), "parts"),
        (raw(b"x", "Content-Type: application/pkcs7-mime"), "encrypted"),
        (raw(b""), "no text"),
        (remote(), "no text"),
    ],
)
def test_hostile_files_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        mail(data)


@pytest.mark.parametrize(
    "line",
    ["To: " + "(" * 2_000_000, "Subject: " + "=?utf-8?q?" * 300_000, "Content-Type: text/plain" + ';"' * 1_000_000],
)
def test_long_headers_take_bounded_time(line: str) -> None:
    assert "hi" in mail(raw(b"hi", line)).text


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for start in (
        b"Subject: s\nContent-Type: text/plain; charset=gbk\n\n",
        b"Subject: ",
        b"From: a\nContent-Type: multipart/",
    ):
        with suppress(UnreadableFile):
            mail(start + data)
