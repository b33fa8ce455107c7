"""One response that goes round in itself, streamed or whole, in any script."""

from __future__ import annotations

import random
import string

import pytest

from tests.core.patterns import CITIES, THINGS
from unstuck.degenerate import TAIL, TextWatch, degenerate

SCRIPTS = {
    "latin": "the cache is stale and must be cleared before anything else can be tried again on the other host ",
    "cyrillic": "сначала нужно очистить кэш затем перезапустить службу и проверить журнал на наличие новых ошибок ",
    "greek": "πρώτα καθαρίζουμε την κρυφή μνήμη ύστερα ξεκινάμε πάλι την υπηρεσία και κοιτάμε το ημερολόγιο ",
    "arabic": "امسح الذاكرة المؤقتة أولا ثم أعد تشغيل الخدمة وتحقق من السجل بحثا عن أخطاء جديدة ",
    "devanagari": "पहले कैश साफ़ करें फिर सेवा को दोबारा शुरू करें और लॉग में नई त्रुटियाँ देखें ",
    "han": "首先清除缓存然后重新启动服务并检查日志中是否有新的错误再决定下一步怎么做",
}


def prose(script: str, seed: int, words: int) -> str:
    """Words of a script put together anew, most of them new ones: no sequence comes twice."""
    rng = random.Random(seed)
    letters = [letter for letter in SCRIPTS[script] if letter != " "]
    return " ".join("".join(rng.choice(letters) for _ in range(rng.randrange(2, 11))) for _ in range(words))


def unit(script: str, length: int, seed: int = 1) -> str:
    """A block of that many characters."""
    words = SCRIPTS[script] if length < 20 else prose(script, seed, length)
    return words[: length - 1] + ("。" if script == "han" else " ")


def streamed(text: str, piece: int) -> int | None:
    """How many characters of *text* had come when something was seen to repeat."""
    watch = TextWatch()
    for start in range(0, len(text), piece):
        if watch.feed(text[start : start + piece]) is not None:
            return min(start + piece, len(text))
    return None


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("length", [2, 7, 20, 41, 75, 120, 250, 400])
def test_a_block_again_and_again_is_seen(script: str, length: int):
    """Whatever its length up to four hundred characters: in two kilobytes, or as soon as it stands there five times."""
    head = prose(script, 7, 120)
    text = head + " " + unit(script, length) * (8_000 // length)
    seen = streamed(text, 64)
    assert seen is not None
    assert seen - len(head) <= max(2_048, 5 * length + 320)
    assert degenerate(text) is not None


@pytest.mark.parametrize("piece", [1, 3, 17, 256, 1_000, 100_000])
def test_it_makes_no_difference_in_which_pieces_a_stream_comes(piece: int):
    """Character by character or all at once: it is seen, within a look of each other."""
    text = prose("latin", 3, 200) + " " + "We go on with the next item. " * 200
    seen = streamed(text, piece)
    assert seen is not None
    assert seen <= (streamed(text, 1) or 0) + 512 + piece


def varied(length: int) -> str:
    """Laps that differ in a number or a letter each."""
    rng = random.Random(length)
    block = unit("latin", length)
    laps = []
    for lap in range(12_000 // length):
        place = rng.randrange(length)
        laps.append(block[:place] + rng.choice(string.ascii_lowercase) + block[place + 1 :] + (f"{lap} " if lap % 2 else ""))
    return "".join(laps)


@pytest.mark.parametrize("length", [40, 80, 150, 250])
def test_slight_variation_does_not_hide_it(length: int):
    """A letter or a number that differs from lap to lap is no new thought."""
    seen = streamed(prose("latin", 9, 100) + " " + varied(length), 64)
    assert seen is not None
    assert seen <= 100 * 12 + 2 * TAIL


@pytest.mark.parametrize(
    "text", ["Same. " * 200, "SAME. same. " * 100, "same.\n\nsame.   same.\t" * 80], ids=["plain", "case", "space"]
)
def test_case_and_white_space_make_no_difference(text: str):
    """Blocks are compared without either."""
    assert degenerate(text) is not None


HONEST = {
    "prose": lambda script: prose(script, 11, 900),
    "a sentence said twice": lambda script: (SCRIPTS[script] * 2) + prose(script, 5, 300) + SCRIPTS[script],
    "a list": lambda script: "\n".join(f"- {prose(script, n, 4)}" for n in range(120)),
    "a list with one beginning": lambda script: "\n".join(
        f"{n}. {SCRIPTS[script][:20]}: {prose(script, n, 5)}" for n in range(90)
    ),
    "a poem": lambda script: "\n\n".join(
        f"{prose(script, n, 5)}\n{prose(script, n + 50, 5)}\n{SCRIPTS[script][:30]}" for n in range(30)
    ),
    "a table": lambda script: (
        "| a | b |\n|---|---|\n" + "\n".join(f"| {prose(script, n, 1)} | {prose(script, n + 99, 2)} |" for n in range(90))
    ),
    "a log": lambda script: "\n".join(
        f"12:{n // 60:02}:{n % 60:02} INFO {prose(script, n, 3)} took {n * 7 % 31} ms" for n in range(110)
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("kind", HONEST)
def test_what_people_write_is_left_alone(script: str, kind: str):
    """Prose, lists, poems, tables and logs in six scripts, whole and streamed."""
    text = HONEST[kind](script)
    assert degenerate(text) is None
    assert streamed(text, 64) is None


PROGRAMS = {
    "a rule": "=" * 3_000,
    "rules and headings": ("-" * 78 + "\n# part\n") * 2 + "-" * 78,
    "a table of zeros": "\n".join("| 0 | 0 | 0 |" for _ in range(60)),
    "assertions": "\n".join(f"    assert parse({n}) == {n * n}" for n in range(150)),
    "a switch": "\n".join(f"        case {n}:\n            return {THINGS[n % 16]}{n};" for n in range(100)),
    "a record each": "[\n"
    + ",\n".join(f'  {{"id": {n}, "city": "{CITIES[n % 16]}", "thing": "{THINGS[n * 7 % 16]}"}}' for n in range(90))
    + "\n]",
    "numbers": ", ".join(str(n * n % 9_973) for n in range(900)),
    "a diff": "\n".join(f"-    {CITIES[n % 16]} = {n}\n+    {CITIES[n % 16]} = {n + 1}" for n in range(100)),
    "a matrix": "\n".join(" ".join("01"[(row * col) % 7 == 0] for col in range(40)) for row in range(40)),
    "short": "ha " * 100,
    "nothing": "",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=list(PROGRAMS))
def test_what_programs_and_people_lay_out_is_left_alone(text: str):
    """Rules, tables, code, data: they repeat in lines and mean it."""
    assert degenerate(text) is None
    assert streamed(text, 64) is None


def test_only_a_bounded_tail_is_kept():
    """However long a response becomes."""
    watch = TextWatch()
    for n in range(300):
        watch.feed(prose("latin", n, 40))
    assert len(watch.tail) <= TAIL + 512


def test_once_found_it_stays_found():
    """What follows does not take it back."""
    watch = TextWatch()
    first = watch.feed("Done. Done. Done. " * 100)
    assert first is not None
    assert watch.feed(prose("latin", 1, 500)) == first
    assert watch.end() == first


CIRCLES = {
    "numbered lines": "".join(f"Step {n}: Check whether the value is correct.\n" for n in range(150)),
    "two long paragraphs in turn": f"{prose('latin', 1, 60)}.\n\n{prose('latin', 2, 70)}.\n\n" * 6,
    "line breaks": "Here it is:" + "\n" * 800,
    "line breaks with spaces": "Here it is:" + "\n  " * 800,
    "one syllable": "ha" * 1_200,
}


@pytest.mark.parametrize("piece", [64, 100_000])
@pytest.mark.parametrize("text", CIRCLES.values(), ids=list(CIRCLES))
def test_what_goes_round_in_lines_and_passages_is_seen(text: str, piece: int):
    """In a stream and as a whole."""
    assert streamed(text, piece) is not None
    assert degenerate(text) is not None


DATA = {
    "a sequence of bases": "ACGT" * 120,
    "bytes that are zero": "A" * 1_200 + "==",
    "entries that differ in a number": "".join(f"Test {n} passed.\n" for n in range(200)),
    "numbered lines, not very many": "".join(f"Step {n}: Check whether the value is correct.\n" for n in range(40)),
    "numbered lines about different things": "".join(
        f"{n}. The {thing} of {city} was sent.\n" for n, (thing, city) in enumerate((a, b) for a in THINGS for b in CITIES)
    ),
    "a passage quoted once more": f"{prose('latin', 1, 90)}.\n\n" * 2,
    "records that differ in a number": "".join(f"INSERT INTO t VALUES ({n}, 'x');\n" for n in range(200)),
    "some room": "Here it is:" + "\n" * 100 + "That was it." + "\n" * 150,
}


@pytest.mark.parametrize("text", DATA.values(), ids=list(DATA))
def test_data_and_lists_are_left_alone(text: str):
    """However alike their parts are."""
    assert degenerate(text) is None
