"""Prose that goes round with small changes is cut while it streams; data and code on one line are no prose."""

from __future__ import annotations

import json
import random

import pytest

from unstuck.degenerate import LAPS, degenerate
from unstuck.events import Message
from unstuck.findings import Level
from unstuck.monitor import Monitor

BLOCKS = {
    "latin": "I will look at the file again and then decide what has to be done about the table of orders, as it was before. ",
    "cyrillic": "Я ещё раз посмотрю на файл и потом решу, что делать и как быть дальше, как это было прежде. ",
    "arabic": "سأنظر إلى الملف مرة أخرى ثم أقرر ما يجب فعله بجدول الطلبات كما كان من قبل. ",
    "devanagari": "मैं फ़ाइल को फिर से देखूँगा और फिर तय करूँगा कि ऑर्डर की तालिका के साथ क्या करना है। ",
    "chinese": "我会再看一遍文件然后决定如何处理订单表格就像以前那样因为结果总是一样的",
    "japanese": "もう一度ファイルを見てから注文の表をどうするか決めますこれまでと同じように",
}


def cut_after(text: str, piece: int = 20) -> int | None:
    """After how many characters of a stream the monitor says to cut it."""
    monitor = Monitor()
    for start in range(0, len(text), piece):
        if monitor.stream(text[start : start + piece]).level == Level.BLOCK:
            return start + piece
    return None


@pytest.mark.parametrize("script", BLOCKS)
@pytest.mark.parametrize("length", [30, 120, 400])
def test_a_stream_that_goes_round_with_small_changes_is_cut_before_two_kilobytes(script, length):
    """In any script, blocks of any length up to 400, a word of each replaced and a number counting on."""
    choose = random.Random(length)
    words = BLOCKS[script].split() if " " in BLOCKS[script] else list(BLOCKS[script])
    # A block of its own words, so that only its laps repeat.
    block = "".join(choose.choices(BLOCKS[script], k=length)) if length > 100 else BLOCKS[script][:length]
    laps = []
    for lap in range(6_000 // length):
        at, word = choose.randrange(length - 8), choose.choice(words)[: length // 10]
        laps.append(f"{block[:at]}{word}{block[at + len(word) :]}{lap if lap % 2 else ''}")
    cut = cut_after("".join(laps))
    assert cut is not None
    assert cut <= length + 2_048


def test_laps_that_vary_are_as_many_as_a_block_needs():
    """What is found is acted on: the count never stands below the rung of the default preset."""
    block = "".join(random.Random(4).choices("abcdefgh ijklmnop", k=400))
    found = degenerate("".join(f"{block[:390]}{lap}{lap}{lap}" for lap in range(20)))
    assert found is not None
    assert found.laps >= LAPS


def records(number):
    """Objects with few different fields, as an interface answers."""
    choose = random.Random(number)
    return [
        {"item_id": choose.randrange(10**9), "options": {"color": choose.choice(("black", "white")), "available": True}}
        for _ in range(80)
    ]


ONE_LINE = {
    "JSON": json.dumps(records(1)),
    "packed JSON": json.dumps(records(2), separators=(",", ":")),
    "a Python list": repr([(f"Street {number}", "information_schema", "SYSTEM VIEW") for number in range(90)]),
    "SQL": "SELECT * FROM t WHERE "
    + " OR ".join(f"table_name LIKE '%{name}{name}%'" for name in "abcdefghijklmnopqrstuvwxyz" * 3),
    "markup": "".join(f'<li class="row"><a href="/item/{number}">item {number}</a></li>' for number in range(90)),
    "names of tests": ", ".join(f"testStringComparison{number}()" for number in range(90)),
}


@pytest.mark.parametrize("text", ONE_LINE.values(), ids=list(ONE_LINE))
def test_data_and_code_on_one_line_are_left_alone(text):
    """They repeat by their form; brackets and signs tell them from prose."""
    assert degenerate(text) is None
    assert cut_after(text) is None


def test_a_complete_response_is_judged_like_a_streamed_one():
    """A host that does not stream gets the finding with the response."""
    block = BLOCKS["latin"]
    text = "".join(f"{block[:-2]}, attempt {lap}. " for lap in range(40))
    assert cut_after(text) is not None
    (finding,) = Monitor().observe(Message("r", 1, 0, text=text)).findings
    assert finding.pattern == "degenerate_text"
