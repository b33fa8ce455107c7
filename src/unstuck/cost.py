"""
What a response cost, by the price tables of genai-prices (extra `prices`).

Without the extra, and for models that the tables do not hold, there is no price: `None`, never a guess. The package is imported at
the first question, because that takes most of a second.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

    from unstuck.events import Usage

MODELS = 256
"""Models whose prices are remembered."""

_AROUND: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?::(?:free|beta|thinking|extended|nitro|floor|online)|\[\d+[mk]\])$"), ""),
    (re.compile(r"^.*/"), ""),
    (re.compile(r"^(?:us|us-gov|eu|apac|ap|jp|au|ca|sa|global)\.(?=[a-z0-9-]+\.)"), ""),
    (re.compile(r"^(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen)\."), ""),
    (re.compile(r"-v\d+(?::\d+)?$"), ""),
    (re.compile(r"(?<=\d)\.(?=\d)"), "-"),
)
"""What gateways and clouds add to a model's name, in the order in which it is taken off: variant, gateway, region, vendor, version."""


LATEST = 253_402_300_800.0
"""Seconds since 1970 at the end of the year 9999: a time beyond it is none in seconds."""


def usd(model: str | None, usage: Usage, time: float | None = None) -> float | None:
    """
    The price of *usage* in US dollars, or `None` where it is not known.

    *time* (seconds since 1970) chooses the price table of that day for a model asked for the first time.
    """
    if not model:
        return None
    price = _price(model, int(time // 86400) if time and 1e9 < time < LATEST else None)
    return None if price is None else price(usage)


@lru_cache(maxsize=MODELS)
def _price(model: str, day: int | None) -> Callable[[Usage], float] | None:
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:
        return None

    def ask(name: str, **tokens: int) -> PriceCalculation:
        return calc_price(Tokens(**tokens), name, genai_request_timestamp=moment)

    moment = datetime.fromtimestamp(day * 86400, UTC) if day else None
    for name in spellings(model):
        try:
            table = ask(name, input_tokens=1, output_tokens=1).model_price
        except (LookupError, ValueError):
            continue
        starts = sorted({tier.start for rate in vars(table).values() for tier in getattr(rate, "tiers", ())})
        return _by_rates(partial(_total, partial(ask, name)), starts)
    return None


def _total(ask: Callable[..., PriceCalculation], tokens: dict[str, int]) -> Decimal:
    return ask(**tokens).total_price


def _by_rates(ask: Callable[[dict[str, int]], Decimal], starts: Sequence[int]) -> Callable[[Usage], float]:
    """
    The price as a sum of rates, asked for once in each tier.

    The tables take 0.1 ms an answer, which is more than all detectors together take for an exchange. Within a tier (it begins
    above one of *starts* input tokens) their answer is linear in the four counts.
    """

    @lru_cache(maxsize=len(starts) + 1)
    def rates(tier: int) -> tuple[float, ...]:
        start = starts[tier - 1] + 1 if tier else 1
        fixed, least = ask({"input_tokens": 0}), ask({"input_tokens": start})
        one_more = [
            ask({"input_tokens": start, one: 1}) for one in ("output_tokens", "cache_read_tokens", "cache_write_tokens")
        ]
        return tuple(map(float, (fixed, (least - fixed) / start, *(price - least for price in one_more))))

    def price(usage: Usage) -> float:
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        # Some logs report more cached tokens than input tokens; the input is at least what came out of the cache.
        tokens = max(usage.input_tokens, read + written)
        fixed, per_input, per_output, read_more, written_more = rates(bisect_left(starts, tokens))
        return fixed + tokens * per_input + usage.output_tokens * per_output + read * read_more + written * written_more

    return price


def spellings(model: str) -> Iterator[str]:
    """
    The names under which the tables may know *model*, the given one first.

    Gateways and clouds put things before and behind: `openrouter/anthropic/claude-sonnet-4`, `azure/gpt-4o`,
    `us.anthropic.claude-sonnet-4-20250514-v1:0`.
    """
    yield model
    seen = {model}
    name = model.strip().lower()
    for added, instead in _AROUND:
        name = added.sub(instead, name)
        if name and name not in seen:
            seen.add(name)
            yield name
