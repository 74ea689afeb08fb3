"""Texts that are made of numbers, as lists of their characters."""

from __future__ import annotations

from typing import Any


def in_base(number: Any, base: Any, mark: Any) -> Any:
    """``bin(number)``, ``oct(number)``, ``hex(number)``."""
    found: list[str] = []
    if number < 0:
        found.append("-")
    for c in mark:
        found.append(c)
    _put_digits(found, abs(number), base, False)
    return found


def characters_of(pieces: Any, numbers: Any, formats: Any) -> Any:
    """Those of texts with integers between them, each in a base, as long as it must be, and with what goes in front."""
    found: list[str] = []
    for piece, number, (base, width, fill, capital) in zip(pieces, numbers, formats):  # noqa: B905 - see below
        for c in piece:
            found.append(c)
        rest = abs(number)
        if width > 0:
            missing = width - _digits(rest, base)
            if number < 0:
                missing -= 1
            if fill == " ":
                for _ in range(missing):
                    found.append(" ")
            if number < 0:
                found.append("-")
            if fill == "0":
                for _ in range(missing):
                    found.append("0")
        elif number < 0:
            found.append("-")
        _put_digits(found, rest, base, capital)
    for c in pieces[-1] if len(pieces) > len(numbers) else "":  # there may be a text behind the last number
        found.append(c)
    return found


def binary_repr(number: Any, width: Any) -> Any:
    """``np.binary_repr(number, width)``."""
    found: list[str] = []
    rest = abs(number)
    if number < 0 and width is not None:  # of the complement
        size = _bits(rest - 1)
        if rest > 1:
            size += 1
    else:
        size = _bits(rest)
    if number < 0 and width is None:
        found.append("-")
    if width is not None and number != 0 and width < size:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={size}")
    if width is not None:
        for _ in range(width - size):
            found.append("1" if number < 0 else "0")
    if width is None or number != 0 or width >= 0:
        for place in range(size):
            found.append("01"[((rest if width is None else number) >> (size - 1 - place)) & 1])
    return found


def _bits(rest: Any) -> Any:
    size = 1
    while rest >> size > 0:
        size += 1
    return size


def zfill(characters: Any, width: Any) -> Any:
    """``text.zfill(width)``."""
    found: list[str] = []
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    for k in range(first):
        found.append(characters[k])
    for _ in range(width - len(characters)):
        found.append("0")
    for k in range(first, len(characters)):
        found.append(characters[k])
    return found


def _digits(rest: Any, base: Any) -> Any:
    """How many digits it has."""
    size, place = 1, 1
    while rest // place >= base:
        place *= base
        size += 1
    return size


def _put_digits(found: Any, rest: Any, base: Any, capital: Any) -> None:
    place = 1
    while rest // place >= base:
        place *= base
    while place > 0:
        found.append(("0123456789ABCDEF" if capital else "0123456789abcdef")[rest // place % base])
        place //= base


def number_of(characters: Any) -> Any:
    """``int(text)`` of a text of digits, perhaps with a sign."""
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    if first == len(characters):
        raise RuntimeError("int() of a text that is no plain number is not compiled")
    number = 0
    for k in range(first, len(characters)):
        if not "0" <= characters[k] <= "9":
            raise RuntimeError("int() of a text that is no plain number is not compiled")
        number = 10 * number + ord(characters[k]) - 48
    if characters[0] == "-":
        number = -number
    return number


def float_of(characters: Any) -> Any:
    """``float(text)`` of a text of at most fifteen digits, perhaps with a sign, a point and an exponent: the integer
    that they are, and a power of ten up to the 22nd, are floats, so that one operation rounds as Python does."""
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    number, digits, behind, power = 0, 0, 0, 0
    point, exponent, negative = False, False, False
    plain, ended = True, False  # whether it could be the beginning of a number, and all of one
    for k in range(first, len(characters)):
        c = characters[k]
        if "0" <= c <= "9":
            ended = True
            if exponent:
                power = min(10 * power + ord(c) - 48, 999)
            else:
                digits += 1
                number = min(10 * number + ord(c) - 48, 10**16)
                if point:
                    behind += 1
        elif c == "." and not point and not exponent:
            point = True
        elif (c == "e" or c == "E") and not exponent and digits > 0:
            exponent, ended = True, False
        elif (c == "-" or c == "+") and (characters[k - 1] == "e" or characters[k - 1] == "E") and exponent:
            negative = c == "-"
        else:
            plain = False
    power = (-power if negative else power) - behind
    if not plain or not ended or number >= 10**15 or abs(power) > 22:
        raise RuntimeError("float() of a text that is no plain number, or of more than 15 digits, is not compiled")
    scale = 1.0
    for _ in range(abs(power)):
        scale *= 10.0
    value = number / scale if power < 0 else number * scale
    if characters[0] == "-":
        value = -value
    return value


def number_in_base(characters: Any, base: Any) -> Any:
    """``int(text, base)`` of a text of digits, perhaps with a sign, and with what tells of base 2, 8 or 16."""
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    marked = False
    if first + 2 < len(characters) and characters[first] == "0":
        mark = characters[first + 1]
        if base == 2:
            marked = mark == "b" or mark == "B"
        if base == 8:
            marked = mark == "o" or mark == "O"
        if base == 16:
            marked = mark == "x" or mark == "X"
    start = first + 2 if marked else first
    if start == len(characters):
        raise RuntimeError("int() of a text that is no plain number is not compiled")
    number = 0
    for k in range(start, len(characters)):
        code = ord(characters[k])
        digit = 99
        if 48 <= code <= 57:
            digit = code - 48
        if 97 <= code <= 122:
            digit = code - 87
        if 65 <= code <= 90:
            digit = code - 55
        if digit >= base:
            raise RuntimeError("int() of a text that is no plain number is not compiled")
        number = base * number + digit
    if characters[0] == "-":
        number = -number
    return number


def part_of(text: Any, start: Any, stop: Any) -> Any:
    """``text[start:stop]``."""
    first = max(start + len(text), 0) if start < 0 else start
    behind = min(stop + len(text) if stop < 0 else stop, len(text))
    found: list[str] = []
    for k in range(first, behind):
        found.append(text[k])
    return found


def code_of_text(characters: Any) -> Any:
    """What a text is looked up by: of one character its code. A step computes with 62 bits, which need no checks."""
    code = 0
    for c in characters:
        code = ((code ^ (code >> 15)) * 1000003 + ord(c)) & ((1 << 42) - 1)
    return code


def must_be_a_key(is_one: Any, key: Any) -> None:
    """The error of a dict that has no such key."""
    if not is_one:
        raise KeyError(key)


def place_among(characters: Any, texts: Any) -> Any:
    """The position of a text among others that are known; -1 where it is none of them."""
    found = -1
    for k, text in enumerate(texts):
        if len(characters) == len(text):
            same = True
            for j, c in enumerate(text):
                if characters[j] != c:
                    same = False
            if same:
                found = k
    return found


def repeated(text: Any, count: Any) -> Any:
    """The first characters of a text that is said again and again."""
    found: list[str] = []
    for k in range(count):
        found.append(text[k % len(text)])
    return found


def again(text: Any, count: Any) -> Any:
    """``text * count``."""
    found: list[str] = []
    for _ in range(count):
        for c in text:
            found.append(c)
    return found


def joined(one: Any, other: Any) -> Any:
    """``one + other``."""
    found: list[str] = []
    for c in one:
        found.append(c)
    for c in other:
        found.append(c)
    return found


def find(characters: Any, part: Any, start: Any) -> Any:
    """``text.find(part, start)``."""
    first = max(start + len(characters), 0) if start < 0 else start
    for k in range(first, len(characters) - len(part) + 1):
        if _stands_at(characters, part, k):
            return k
    return -1


def startswith(characters: Any, part: Any) -> Any:
    """``text.startswith(part)``."""
    return len(part) <= len(characters) and _stands_at(characters, part, 0)


def endswith(characters: Any, part: Any) -> Any:
    """``text.endswith(part)``."""
    return len(part) <= len(characters) and _stands_at(characters, part, len(characters) - len(part))


def _stands_at(characters: Any, part: Any, place: Any) -> Any:
    return all(characters[place + j] == part[j] for j in range(len(part)))


def lower(characters: Any) -> Any:
    """``text.lower()``."""
    found: list[str] = []
    for c in characters:
        found.append(chr(ord(c) + 32) if "A" <= c <= "Z" else c)
    return found


def upper(characters: Any) -> Any:
    """``text.upper()``."""
    found: list[str] = []
    for c in characters:
        found.append(chr(ord(c) - 32) if "a" <= c <= "z" else c)
    return found


def replace(characters: Any, old: Any, new: Any) -> Any:
    """``text.replace(old, new)`` of something that is not empty."""
    found: list[str] = []
    k = 0
    while k < len(characters):
        if k + len(old) <= len(characters) and _stands_at(characters, old, k):
            for c in new:
                found.append(c)
            k += len(old)
        else:
            found.append(characters[k])
            k += 1
    return found


def words(text: Any) -> Any:
    """``text.split()``."""
    pieces = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        else:
            behind = at + 1
            while behind < len(text) and not text[behind].isspace():
                behind += 1
            pieces.append(text[at:behind])
            at = behind
    return pieces


def parts(text: Any, between: Any) -> Any:
    """``text.split(between)`` at one character."""
    pieces = []
    at = 0
    for k in range(len(text)):
        if text[k] == between:
            pieces.append(text[at:k])
            at = k + 1
    pieces.append(text[at : len(text)])
    return pieces


def strip(text: Any, what: Any, in_front: Any, behind: Any) -> Any:
    """``text.strip(what)``, or that of one end alone."""
    first = 0
    last = len(text)
    while in_front and first < last and text[first] in what:
        first += 1
    while behind and last > first and text[last - 1] in what:
        last -= 1
    return text[first:last]


def put_together(between: Any, texts: Any) -> Any:
    """``between.join(texts)``."""
    together = []
    for k, text in enumerate(texts):
        if k > 0:
            for c in between:
                together.append(c)
        for c in text:
            together.append(c)
    return together
