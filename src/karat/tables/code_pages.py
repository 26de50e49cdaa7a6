"""Code pages of text that is not UTF-8, decided by letters and frequent words of languages.

A byte above 127 is a different letter in every code page. A page is implausible if its text has
control codes, symbols or capitals within words, or words whose letters no language of the page
has. Pages that decode a text alike are one. If several pages remain, frequent words decide; if
these do not, either, the file is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement, islice
from typing import NamedTuple

from karat.errors import InputError, quoted

_SAMPLE = 1 << 18  # bytes with other characters than ASCII around them
_MAX_WORDS = 20_000
_FEW_BAD = 0.04  # share of words that no language explains, in the right code page
_MANY_BAD = 0.2  # share in a wrong one
_FEWEST_HITS = 2
_LEAST_SHARE = 0.2  # of words with other letters than a to z that a language explains
_CLEAR = 3  # frequent words, as many times as in the next page


class Language(NamedTuple):
    """Letters besides a to z, and frequent words."""

    letters: str
    words: str


WESTERN: Mapping[str, Language] = {
    "French": Language(
        "àâæçéèêëîïôœùûüÿ",
        "le la les et des est une que dans pour qui pas sur été être même très où déjà après avec "
        "il elle nous vous du au à ne se ce",
    ),
    "German": Language(
        "äöüß",
        "der die und das ist nicht ein eine mit auf für von dem den zu sich auch über können wird "
        "sind wurde müssen wäre könnte",
    ),
    "Spanish": Language(
        "áéíóúüñ",
        "de la que el en los del se las por un para con una su al más está también año qué cómo "
        "según así él sólo",
    ),
    "Portuguese": Language(
        "àáâãçéêíóôõúü",
        "de que não do da em um para com uma os no se na por mais as dos como mas ao são você é "
        "está também até já",
    ),
    "Italian": Language(
        "àèéìíîòóùú",
        "di che il la un per non in una del sono con da si le della più è perché già può così "
        "città cioè",
    ),
    "Dutch": Language("äëïöüéèêóáíú", "de het een van en dat niet te zijn op met voor één zoals"),
    "Swedish": Language("åäöéàü", "och att det som en på är av för med till inte den jag från när"),
    "Danish": Language(
        "åæøéüö", "og at det som en på er af for med til ikke den jeg være når også"
    ),
    "Finnish": Language("äöåšž", "ja on ei se että oli hän en ovat mutta myös mitä sitä"),
    "Icelandic": Language("áéíóúýðþæö", "og að er í á sem það ekki við til um en var með hann"),
    "Catalan": Language("àçèéíïòóúü·", "de la que el en els per amb les no una és més però també"),
    "Irish": Language("áéíóú", "an agus na ar go sé tá bhí níl mé"),
    "English": Language("éèêëïñçöü", "the of and to in is that it for was on are with"),
}
CENTRAL: Mapping[str, Language] = {
    "Polish": Language(
        "ąćęłńóśźż", "w i na się z do nie że to jest są od po jak przez był była może więc"
    ),
    "Czech": Language(
        "áčďéěíňóřšťúůýžöü", "a v se na je že to s z do o jsem pro který jsou není při také být"
    ),
    "Slovak": Language("áäčďéíĺľňóôŕšťúýž", "a v sa na je že to s z do o som pre ktorý sú nie pri"),
    "Hungarian": Language("áéíóöőúüű", "a az és hogy nem is egy ez van meg volt csak már még"),
    "Croatian": Language("čćđšž", "i je u se na da za su od što kao nije koji biti već"),
    "Romanian": Language("ăâîşţșț", "de și şi în la cu nu o că să pe este din un care mai"),
    "German": WESTERN["German"],
    "English": Language("éöüáčž", WESTERN["English"].words),
}
CYRILLIC: Mapping[str, Language] = {
    "Russian": Language(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "и в не на что с он как это по но его к из у за от"
    ),
    "Ukrainian": Language(
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", "і в не на що з як це та до але його за від є про"
    ),
    "Bulgarian": Language(
        "абвгдежзийклмнопрстуфхцчшщъьюя", "и на да в не се от за е че по това като съм ще"
    ),
    "Serbian": Language("абвгдђежзијклљмнњопрстћуфхцчџш", "и је у се на да за су од што као није"),
}
GREEK: Mapping[str, Language] = {
    "Greek": Language("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", "και το να του η της με για που την")
}
TURKISH: Mapping[str, Language] = {
    "Turkish": Language("çğıöşüâîûİ", "ve bir bu da de için çok ile daha ne gibi olarak değil")
}
BALTIC: Mapping[str, Language] = {
    "Lithuanian": Language("ąčęėįšųūž", "ir yra kad su į iš tai kaip bet buvo ne"),
    "Latvian": Language("āčēģīķļņšūž", "un ir ar no ka par uz tas bet kas nav"),
    "Estonian": Language("äöõüšž", "ja on ei et see ta oli ka kui mis"),
}
HEBREW: Mapping[str, Language] = {
    "Hebrew": Language("אבגדהוזחטיךכלםמןנסעףפץצקרשת", "של את על לא הוא זה עם כי גם אני היא")
}
ARABIC: Mapping[str, Language] = {
    "Arabic": Language("ابتثجحخدذرزسشصضطظعغفقكلمنهويىةءآأؤإئ", "في من على إلى أن ما لا هذا التي")
}

_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile("[이다는에의을가하고은로도지기나한를사어리아서습니요있시]")
_CHINESE = re.compile(
    "[的一是不了在有我他这個个中大来上國国人到说們们为子和你地出道也时時年这這為會会]"
)


class CodePage(NamedTuple):
    """A codec, its name for users, and its languages."""

    codec: str
    label: str
    languages: Mapping[str, Language]
    rare: bool = False
    """Whether the page is considered only if a frequent word has letters besides a to z."""


CODE_PAGES = (
    CodePage("cp1252", "Windows-1252", WESTERN),
    CodePage("cp1250", "Windows-1250", CENTRAL),
    CodePage("iso8859-2", "ISO-8859-2", CENTRAL),
    CodePage("cp1251", "Windows-1251", CYRILLIC),
    CodePage("koi8-r", "KOI8-R", CYRILLIC, rare=True),
    CodePage("cp1253", "Windows-1253", GREEK),
    CodePage("cp1254", "Windows-1254", TURKISH),
    CodePage("cp1257", "Windows-1257", BALTIC),
    CodePage("cp1255", "Windows-1255", HEBREW),
    CodePage("cp1256", "Windows-1256", ARABIC),
    CodePage("mac-roman", "Mac-Roman", WESTERN, rare=True),
    CodePage("cp850", "CP850", WESTERN, rare=True),
)
_EAST_ASIAN: tuple[tuple[str, str, re.Pattern[str], float], ...] = (
    ("cp932", "Shift-JIS", _KANA, 0.25),
    ("euc-jp", "EUC-JP", _KANA, 0.25),
    ("cp949", "EUC-KR", _HANGUL, 0.2),
    ("gb18030", "GB18030", _CHINESE, 0.1),
    ("cp950", "Big5", _CHINESE, 0.1),
)
"""Codec, name, frequent characters, and their least share of characters that are not ASCII."""

_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH = bytes(range(0x80, 0x100))
_WORD = re.compile(r"[^\W\d_]+")
_FIRST_GREEK = "\u0370"
_ODD = (
    re.compile(r"[^\W\d_][^\w\s\x00-\x7f’‘´·‐-―…\u0300-\u036f][^\W\d_]"),  # symbols in words
    re.compile(r"[a-zß-ÿа-яα-ω][À-ÖØ-ÞŠŽŸА-ЯΑ-Ω]"),  # capitals in words
    re.compile(r"\d[^\W\d_\x00-\x7f]|[^\W\d_\x00-\x7f]\d"),  # letters at numbers
    re.compile(
        r"[\x80-\x9f¤¦¬¯¸\u2320\u2321\u2500-\u25ff\ue000-\uf8ff]"
    ),  # control codes, unusual symbols
)


class _PageReading(NamedTuple):
    """A sample as a code page reads it."""

    page: CodePage
    text: str
    bad: float
    """Share of words that no language of the page explains."""
    hits: int
    """Number of frequent words of the two languages that explain most words."""
    frequent: Counter[str]
    """Frequent words with other letters than a to z."""


def decode_code_page(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file that is not UTF-8, and a remark with its code page."""
    _refuse_damaged_utf8(data, name)
    sample = _sample(data)
    if label := _east_asian_page(data, sample):
        return data.decode(label[0], "strict"), (f"the text is {label[1]}, not UTF-8",)
    readings = [r for page in CODE_PAGES if (r := _read_page(sample, data, page)) is not None]
    plausible = [reading for reading in readings if reading.bad <= _FEW_BAD]
    if not plausible:
        raise InputError(
            f"{name}, line {_line(data)}: not UTF-8, and no code page fits; name the encoding with "
            "--encoding, such as windows-1250"
        )
    best = max(plausible, key=lambda reading: reading.hits)
    best = next(reading for reading in plausible if reading.text == best.text)
    for rival in readings:
        if rival.text != best.text and rival.bad < _MANY_BAD and not _is_clear(best, rival):
            words = _different_words(best.text, rival.text)
            raise InputError(
                f"{name}, line {_line(data)}: not UTF-8; it may be {best.page.label} or "
                f"{rival.page.label}{words}: name the encoding with --encoding, such as "
                f"{best.page.label.lower()}"
            )
    return data.decode(best.page.codec), (f"the text is {best.page.label}, not UTF-8",)


def _is_clear(best: _PageReading, rival: _PageReading) -> bool:
    """Return whether frequent words decide between two readings.

    Frequent words that only one of them has count by their letters: two for a word of three
    letters, one for a word of two letters.
    """
    gained, lost = best.frequent - rival.frequent, rival.frequent - best.frequent
    weights = [
        sum(min(len(word) - 1, 2) * count for word, count in words.items())
        for words in (gained, lost)
    ]
    if weights[0] >= _FEWEST_HITS and weights[0] >= _CLEAR * weights[1]:
        return True
    return best.hits >= _FEWEST_HITS and best.hits >= _CLEAR * rival.hits


def _line(data: bytes) -> int:
    """Return the line of the first byte that is not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1


def _refuse_damaged_utf8(data: bytes, name: str) -> None:
    """Refuse UTF-8 with some other bytes in it."""
    pairs = sum(len(match[0]) for match in _UTF8.finditer(data))
    total = len(data) - len(data.translate(None, _HIGH))
    if 4 * pairs > 3 * total:
        raise InputError(
            f"{name}, line {_line(data)}: not valid UTF-8, unlike most of the file; correct this "
            "line, or name the encoding with --encoding"
        )


def _sample(data: bytes) -> bytes:
    """Return the lines that are not ASCII, up to a size."""
    lines, size = [], 0
    for line in re.split(rb"\r\n|\r|\n", data):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size > _SAMPLE:
                break
    return b"\n".join(lines)


def _east_asian_page(data: bytes, sample: bytes) -> tuple[str, str] | None:
    """Return codec and name of the only East Asian encoding with enough frequent characters."""
    fitting = []
    for codec, label, frequent, least in _EAST_ASIAN:
        try:
            text = sample.decode(codec)
            data.decode(codec)
        except UnicodeDecodeError:
            continue
        high = [char for char in text if char > "\x7f"]
        wide = sum(unicodedata.east_asian_width(char) in "WF" for char in high)
        if not high or any("\uff61" <= c <= "\uff9f" or "\ue000" <= c <= "\uf8ff" for c in high):
            continue
        share = len(frequent.findall(text)) / len(high)
        if share >= least and wide >= 0.9 * len(high):
            fitting.append((share / least, codec, label))
    fitting.sort(reverse=True)
    if not fitting or (len(fitting) > 1 and fitting[0][0] < 2 * fitting[1][0]):
        return None
    return fitting[0][1:]


def _read_page(sample: bytes, data: bytes, page: CodePage) -> _PageReading | None:
    """Return how well a page explains a sample; None if it does not decode the data."""
    try:
        text = sample.decode(page.codec)
        data.decode(page.codec)
    except UnicodeDecodeError:
        return None
    every_word = [match[0].lower() for match in islice(_WORD.finditer(text), _MAX_WORDS)]
    words = [word for word in every_word if not word.isascii()]
    ascii_words = [word for word in every_word if word.isascii()]
    odd = sum(len(pattern.findall(text)) for pattern in _ODD)
    explained, hits, frequent = _best_languages(words, Counter(ascii_words), page.languages)
    if page.rare and not any(word in frequent for word in words):
        return None
    total = len(words) + odd
    bad = (len(words) - explained + odd) / total if total else 0.0
    return _PageReading(page, text, bad, hits, Counter(word for word in words if word in frequent))


def _best_languages(
    words: Sequence[str], ascii_words: Counter[str], languages: Mapping[str, Language]
) -> tuple[int, int, set[str]]:
    """Choose the two languages that explain most words.

    Return the number of explained words, the number of frequent words of these languages, and the
    frequent words. A language that explains hardly any of the words has no frequent words.
    """
    explains = [_explainer(language.letters) for language in languages.values()]
    frequents = [set(language.words.split()) for language in languages.values()]
    masks = Counter(tuple(fits(word) for fits in explains) for word in words)
    shares = [sum(n for mask, n in masks.items() if mask[at]) for at in range(len(explains))]
    high_words = Counter(words)
    best = (-1, -1, set[str]())
    for left, right in combinations_with_replacement(range(len(explains)), 2):
        explained = sum(count for mask, count in masks.items() if mask[left] or mask[right])
        frequent: set[str] = set()
        for at in (left, right):
            if shares[at] >= _LEAST_SHARE * len(words):
                frequent |= frequents[at]
        hits = sum(ascii_words[word] + high_words[word] for word in frequent)
        best = max(best, (explained, hits, frequent), key=lambda choice: choice[:2])
    return best


def _explainer(letters: str) -> Callable[[str], bool]:
    """Return whether a word has only letters of a language, and of ASCII if that is Latin."""
    ascii_letters = "a-z" if min(letters) < _FIRST_GREEK else ""
    match = re.compile(f"[{ascii_letters}{re.escape(letters)}]*").fullmatch
    return lambda word: match(word) is not None


def _different_words(left: str, right: str) -> str:
    """Return the first word that two code pages read differently, for a message."""
    pairs = zip(left.split(), right.split(), strict=False)
    words = next(((a, b) for a, b in pairs if a != b), None)
    return f" ({quoted(words[0])} or {quoted(words[1])})" if words else ""
