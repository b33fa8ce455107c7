"""
What a response cost, by the price tables of genai-prices (extra `prices`).

Without the extra, and for models that the tables do not hold, there is no price: `None`, never a guess. The package is imported at
the first question, because that takes most of a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unstuck.events import Usage

MODELS = 256
"""Models whose prices are remembered."""

_REGION = re.compile(r"^(?:us|us-gov|eu|apac|ap|jp|au|ca|sa|global)\.(?=[a-z0-9-]+\.)")
_VENDOR = re.compile(r"^(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen)\.")
_BEDROCK = re.compile(r"-v\d+(?::\d+)?$")
_VARIANT = re.compile(r"(?::(?:free|beta|thinking|extended|nitro|floor|online)|\[\d+[mk]\])$")


def usd(model: str | None, usage: Usage, time: float | None = None) -> float | None:
    """
    The price of *usage* in US dollars, or `None` where it is not known.

    *time* (seconds since 1970) chooses the price table of that day for a model asked for the first time.
    """
    if not model:
        return None
    price = _price(model, int(time // 86400) if time and time > 1e9 else None)
    return None if price is None else price(usage)


@lru_cache(maxsize=MODELS)
def _price(model: str, day: int | None) -> Callable[[Usage], float] | None:
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:
        return None
    moment = datetime.fromtimestamp(day * 86400, UTC) if day else None
    for name in spellings(model):
        try:
            table = calc_price(Tokens(input_tokens=1, output_tokens=1), name, genai_request_timestamp=moment).model_price
        except (LookupError, ValueError):
            continue

        @lru_cache(maxsize=1024)
        def price(usage: Usage, table: Any = table) -> float:
            return float(table.calc_price(Tokens(**_consistent(usage)))["total_price"])

        return price
    return None


def _consistent(usage: Usage) -> dict[str, int]:
    """The tables refuse more cached tokens than tokens, which some logs report: the input is at least the cached ones."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return usage._asdict() | {"input_tokens": max(usage.input_tokens, cached)}


def spellings(model: str) -> Iterator[str]:
    """
    The names under which the tables may know *model*, the given one first.

    Gateways and clouds put things before and behind: `openrouter/anthropic/claude-sonnet-4`, `azure/gpt-4o`,
    `us.anthropic.claude-sonnet-4-20250514-v1:0`.
    """
    yield model
    seen = {model}
    name = model.strip().lower()
    for step in (
        lambda n: _VARIANT.sub("", n),
        lambda n: n.rsplit("/", 1)[-1],
        lambda n: _REGION.sub("", n),
        lambda n: _VENDOR.sub("", n),
        lambda n: _BEDROCK.sub("", n),
        lambda n: re.sub(r"(?<=\d)\.(?=\d)", "-", n),
    ):
        name = step(name)
        if name and name not in seen:
            seen.add(name)
            yield name
