"""How Word writes the numbers of lists, headings and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_PLAIN_HAN = "〇一二三四五六七八九"
_LEGAL_HAN = "零壹贰叁肆伍陆柒捌玖"
_LEGAL_HAN_TRADITIONAL = "零壹貳參肆伍陸柒捌玖"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_GANADA = "가나다라마바사아자차카타파하"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def written(number: int, form: str) -> str:
    """`number` as the `w:numFmt` value `form` asks; in digits where the form is unknown or does not reach so far."""
    write = _FORMS.get(form)
    return (write(number) if write and 0 < number < 10_000 else "") or str(number)


def _roman(number: int) -> str:
    parts = []
    for size, letters in _ROMAN:
        parts.append(letters * (number // size))
        number %= size
    return "".join(parts)


def _letters(number: int) -> str:
    """a … z, aa, bb, …, as Word counts on."""
    return _LETTERS[(number - 1) % 26] * min((number - 1) // 26 + 1, 30)


def _ordinal(number: int) -> str:
    last = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"


def _han(digits: str, units: str, ten: str = "") -> Callable[[int], str]:
    """Counting in Han characters; `ten` stands for a leading one and ten."""

    def write(number: int) -> str:
        text, gap = "", False
        for place, digit in zip((3, 2, 1, 0), f"{number:04}", strict=True):
            if digit == "0":
                gap = bool(text)
                continue
            text += (digits[0] if gap else "") + digits[int(digit)] + (units[place - 1] if place else "")
            gap = False
        one_ten = digits[1] + units[0]
        return ten + text[2:] if ten and text.startswith(one_ten) else text

    return write


def _digits(digits: str) -> Callable[[int], str]:
    return lambda number: "".join(digits[int(digit)] for digit in str(number))


def _of(characters: str) -> Callable[[int], str]:
    """The n-th of some characters; empty beyond them."""
    return lambda number: characters[number - 1 : number]


def _circled(number: int) -> str:
    return chr(0x245F + number) if number <= 20 else ""


_COUNTING = _han(_PLAIN_HAN.replace("〇", "零"), "十百千", "十")
_FORMS: Mapping[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "ordinal": _ordinal,
    "chineseCounting": _COUNTING,
    "chineseCountingThousand": _COUNTING,
    "taiwaneseCounting": _COUNTING,
    "taiwaneseCountingThousand": _COUNTING,
    "japaneseCounting": _COUNTING,
    "ideographDigital": _digits(_PLAIN_HAN),
    "taiwaneseDigital": _digits(_PLAIN_HAN.replace("〇", "○")),
    "japaneseDigitalTenThousand": _digits(_PLAIN_HAN),
    "chineseLegalSimplified": _han(_LEGAL_HAN, "拾佰仟"),
    "ideographLegalTraditional": _han(_LEGAL_HAN_TRADITIONAL, "拾佰仟"),
    "ideographTraditional": _of(_STEMS),
    "ideographZodiac": _of(_BRANCHES),
    "decimalFullWidth": _digits("０１２３４５６７８９"),
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "ganada": _of(_GANADA),
    "aiueoFullWidth": _of(_AIUEO),
    "irohaFullWidth": _of(_IROHA),
    "russianLower": _of(_RUSSIAN),
    "russianUpper": _of(_RUSSIAN.upper()),
    "none": lambda number: "",
}
