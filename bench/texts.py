"""Text of our own making in six scripts: honest text that repeats a lot, as honest text does, and text that goes round."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple


class Script(NamedTuple):
    """Words of a script, what stands between them, and what ends a sentence."""

    name: str
    words: list[str]
    space: str = " "
    stop: str = ". "


SCRIPTS = (
    Script(
        "Latin",
        "the of a river house reads open value light table window after before small every other garden letter number paper "
        "because always carries between morning quiet simple stone water returns method branch careful".split(),
    ),
    Script(
        "Cyrillic",
        "и в на река дом читает открыть значение свет стол окно после перед малый каждый другой сад письмо число бумага "
        "потому всегда несёт между утро тихий простой камень вода возвращает метод ветка бережно".split(),
    ),
    Script(
        "Arabic",
        "من في على نهر بيت يقرأ فتح قيمة ضوء طاولة نافذة بعد قبل صغير كل آخر حديقة رسالة رقم ورق لأن دائما يحمل بين صباح هادئ "
        "بسيط حجر ماء يعيد طريقة فرع".split(),
        stop="، ",
    ),
    Script(
        "Devanagari",
        "का में पर नदी घर पढ़ता खोलो मूल्य प्रकाश मेज़ खिड़की बाद पहले छोटा हर दूसरा बाग़ पत्र संख्या काग़ज़ क्योंकि हमेशा ले जाता बीच सुबह शांत "
        "सरल पत्थर पानी लौटाता विधि शाखा".split(),
        stop="। ",
    ),
    Script(
        "Chinese",
        "河流 房子 阅读 打开 数值 光线 桌子 窗户 以后 以前 小的 每个 其他 花园 信件 数字 纸张 因为 总是 携带 之间 早晨 安静 简单 石头 水流 返回 方法 "
        "分支 仔细 的 在 和 是 不 了".split(),
        space="",
        stop="。",
    ),
    Script(
        "Japanese",
        "川 家 読む 開く 値 光 机 窓 あとで まえに 小さい すべて ほかの 庭 手紙 番号 紙 なぜなら いつも 運ぶ あいだ 朝 静かな 簡単な 石 水 返す メソッド "
        "ブランチ 丁寧に は を に が です ます".split(),
        space="",
        stop="。",
    ),
)

Maker = Callable[[random.Random, Script, int], str]
"""Text of a kind in a script, of about so many characters."""


def topic(choose: random.Random, script: Script) -> Script:
    """The script with the words of one subject: some of its own, and many put together of two, which few other subjects have."""
    pairs = ("".join(choose.sample(script.words, 2)) for _ in range(70))
    return script._replace(words=[*choose.sample(script.words, 12), *pairs])


def words(choose: random.Random, script: Script, number: int) -> str:
    """Some words."""
    return script.space.join(choose.choices(script.words, k=number))


def prose(choose: random.Random, script: Script, size: int) -> str:
    """Sentences in paragraphs."""
    text = ""
    while len(text) < size:
        text += words(choose, script, choose.randrange(5, 18)) + script.stop
        if choose.random() < 0.15:
            text += "\n\n"
    return text


def _lines(choose: random.Random, size: int, line: Callable[[int], str]) -> str:
    made: list[str] = []
    while sum(map(len, made)) < size:
        made.append(line(len(made) + 1))
    return "\n".join(made)


def code(choose: random.Random, script: Script, size: int) -> str:
    """Methods that are alike, with comments and strings in the script."""

    def method(number: int) -> str:
        name = f"part_{number}"
        return (
            f"    def get_{name}(self) -> str:\n        # {words(choose, script, 4)}\n        return self._{name}\n\n"
            f"    def set_{name}(self, value: str) -> None:\n        self._{name} = value or {words(choose, script, 2)!r}\n"
        )

    return f"class Parts:\n{_lines(choose, size, method)}"


def calls(choose: random.Random, script: Script, size: int) -> str:
    """Assertions, one like the other."""
    return _lines(choose, size, lambda number: f'assert parse("{words(choose, script, 2)}") == ({number}, {number + 1})')


def markup(choose: random.Random, script: Script, size: int) -> str:
    """Nested elements that close in rows."""

    def item(number: int) -> str:
        return f'<div class="row"><div class="cell"><span>{words(choose, script, 3)}</span></div></div>'

    return _lines(choose, size, item)


def table(choose: random.Random, script: Script, size: int) -> str:
    """Rows with few different cells."""
    cells = [words(choose, script, 1) for _ in range(4)]
    head = f"| n | {' | '.join(cells)} |\n|---|{'---|' * len(cells)}\n"
    return head + _lines(choose, size, lambda number: f"| {number} | {' | '.join(choose.choices(cells, k=len(cells)))} |")


def records(choose: random.Random, script: Script, size: int) -> str:
    """Rows of a file of comma-separated values, mostly zeros."""
    return _lines(choose, size, lambda number: f"{number},{words(choose, script, 1)},0,0,0,{choose.randrange(3)},0,0,0")


def bullets(choose: random.Random, script: Script, size: int) -> str:
    """A list whose items begin alike."""
    lead = words(choose, script, 3)
    return _lines(choose, size, lambda number: f"- {lead}{script.space}{words(choose, script, 3)}")


def numbered(choose: random.Random, script: Script, size: int) -> str:
    """A numbered list of steps."""
    return _lines(choose, size, lambda number: f"{number}. {words(choose, script, choose.randrange(2, 9))}")


def poem(choose: random.Random, script: Script, size: int) -> str:
    """Stanzas with one refrain."""
    refrain = "\n".join(words(choose, script, 5) for _ in range(2))
    stanzas: list[str] = []
    while sum(map(len, stanzas)) < size:
        stanzas.append("\n".join([*(words(choose, script, 6) for _ in range(4)), refrain]))
    return "\n\n".join(stanzas)


def log(choose: random.Random, script: Script, size: int) -> str:
    """Lines with clocks, levels and few messages."""
    messages = [words(choose, script, 4) for _ in range(5)]

    def line(number: int) -> str:
        clock = f"2026-03-04 12:{number // 60 % 60:02}:{number % 60:02},{choose.randrange(1000):03}"
        return f"{clock} INFO worker-{choose.randrange(4)} {choose.choice(messages)} id={choose.randrange(10**6)}"

    return _lines(choose, size, line)


HONEST: dict[str, Maker] = {
    "prose": prose,
    "code": code,
    "assertions": calls,
    "markup": markup,
    "tables": table,
    "records": records,
    "bullets": bullets,
    "numbered": numbered,
    "poems": poem,
    "logs": log,
}

SLIGHT = 24
"""Characters of a block from which on a changed word or number is slight."""

Change = Callable[[random.Random, Script, str, int], str]
"""One lap of a block, with what is different in it."""


def _word(choose: random.Random, script: Script, block: str, lap: int) -> str:
    """A word in place of as many characters, somewhere in the block."""
    new = choose.choice(script.words)[: max(1, len(block) // 8)]
    at = choose.randrange(max(1, len(block) - len(new)))
    return block[:at] + new + block[at + len(new) :]


CHANGES: dict[str, Change] = {
    "exact": lambda choose, script, block, lap: block,
    "case and white space": lambda choose, script, block, lap: block.replace(" ", "  ").upper() if lap % 2 else block,
    "a number that counts": lambda choose, script, block, lap: f"{block}{lap}",
    "a word changed": _word,
}


def degenerate_text(choose: random.Random, script: Script, unit: int, change: Change, size: int) -> str:
    """A block of *unit* characters over and over, each lap changed a little."""
    block = (prose(choose, script, unit + 40).replace("\n", "") + script.words[0])[:unit]
    if not block.strip():
        block = script.words[0][0] * unit
    text, lap = "", 0
    while len(text) < size:
        lap += 1
        text += change(choose, script, block, lap)
    return text
