"""Numbers below a million in words, spelled by rule: what readers of number words must read."""

# ruff: noqa: SIM905
from __future__ import annotations

_EN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_EN_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()


def english(n: int) -> str:
    """Two hundred and five thousand three hundred and twenty-one."""
    if n < 20:
        return _EN[n]
    if n < 100:
        return _EN_TENS[n // 10] + (f"-{_EN[n % 10]}" if n % 10 else "")
    if n < 1000:
        return f"{_EN[n // 100]} hundred" + (f" and {english(n % 100)}" if n % 100 else "")
    rest = n % 1000
    return f"{english(n // 1000)} thousand" + (f" {english(rest)}" if rest else "")


_DE = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn"
).split()
_DE_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def german(n: int) -> str:
    """Zweihundertfünftausenddreihunderteinundzwanzig."""
    if n < 20:
        return _DE[n]
    if n < 100:
        return (f"{_DE[n % 10]}und" if n % 10 else "") + _DE_TENS[n // 10]
    if n < 1000:
        return f"{_DE[n // 100]}hundert" + (german(n % 100) if n % 100 else "")
    return f"{german(n // 1000)}tausend" + (german(n % 1000) if n % 1000 else "")


_FR = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
    "dix-sept dix-huit dix-neuf"
).split()
_FR_TENS = "- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split()


def french(n: int) -> str:
    """Deux cent cinq mille trois cent vingt et un."""
    if n < 20:
        return _FR[n]
    if n < 100:
        tens, rest = n // 10, n % 10 + (10 if n // 10 in (7, 9) else 0)
        if not rest:
            return _FR_TENS[tens] + ("s" if tens == 8 else "")
        link = " et " if rest in (1, 11) and tens < 8 else "-"
        return _FR_TENS[tens] + link + _FR[rest]
    if n < 1000:
        head = "" if n // 100 == 1 else f"{_FR[n // 100]} "
        return f"{head}cent" + (f" {french(n % 100)}" if n % 100 else "")
    head = "" if n // 1000 == 1 else f"{french(n // 1000)} "
    return f"{head}mille" + (f" {french(n % 1000)}" if n % 1000 else "")


_ES = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro "
    "veinticinco veintiséis veintisiete veintiocho veintinueve"
).split()
_ES_TENS = "- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_ES_HUNDREDS = (
    "- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos "
    "novecientos"
).split()


def spanish(n: int) -> str:
    """Doscientos cinco mil trescientos veintiuno."""
    if n < 30:
        return _ES[n]
    if n < 100:
        return _ES_TENS[n // 10] + (f" y {_ES[n % 10]}" if n % 10 else "")
    if n < 1000:
        return "cien" if n == 100 else " ".join([_ES_HUNDREDS[n // 100], *_rest(n % 100)])
    head = [] if n // 1000 == 1 else [spanish(n // 1000)]
    return " ".join([*head, "mil", *_rest(n % 1000)])


def _rest(n: int) -> list[str]:
    return [spanish(n)] if n else []


_IT_TENS = "- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()
_IT = (
    "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
    "quindici sedici diciassette diciotto diciannove"
).split()


def italian(n: int) -> str:
    """Duecentocinquemilatrecentoventuno."""
    if n < 20:
        return _IT[n]
    if n < 100:
        tens = _IT_TENS[n // 10]
        return (tens[:-1] if n % 10 in (1, 8) else tens) + (_IT[n % 10] if n % 10 else "")
    if n < 1000:
        head = "" if n // 100 == 1 else _IT[n // 100]
        return f"{head}cento" + (italian(n % 100) if n % 100 else "")
    head = "mille" if n // 1000 == 1 else f"{italian(n // 1000)}mila"
    return head + (italian(n % 1000) if n % 1000 else "")


def chinese(n: int) -> str:
    """二十万五千三百二十一; zeros within are written."""
    digits = "零一二三四五六七八九"
    if n < 10:
        return digits[n]
    for unit, sign in ((10_000, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if n >= unit:
            head, rest = n // unit, n % unit
            tail = "" if not rest else ("零" if rest * 10 < unit else "") + chinese(rest)
            return ("" if (unit, head) == (10, 1) else chinese(head)) + sign + tail
    raise AssertionError(n)


SPELLERS = {
    "en": english,
    "de": german,
    "fr": french,
    "es": spanish,
    "it": italian,
    "zh": chinese,
}
"""Language -> what spells its numbers."""
