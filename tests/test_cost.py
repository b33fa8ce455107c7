"""Prices of responses."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from unstuck import cost
from unstuck.events import Usage

genai_prices = pytest.importorskip("genai_prices")

MODELS = ["claude-sonnet-4-5", "claude-opus-4-5-20251101", "gpt-4o", "gpt-5-codex", "gemini-2.5-pro", "claude-3-haiku-20240307"]


@pytest.mark.parametrize("model", MODELS)
def test_prices_are_those_of_the_tables(model):
    """The sum of rates is what the tables answer, below and above the thresholds of tiered prices."""
    choose = random.Random(3)
    for _ in range(40):
        read, written = choose.choice([0, choose.randrange(250_000)]), choose.choice([0, choose.randrange(2_000)])
        usage = Usage(read + written + choose.randrange(300_000), choose.randrange(5_000), read, written)
        expected = genai_prices.calc_price(genai_prices.Usage(**usage._asdict()), model).total_price
        assert cost.usd(model, usage) == pytest.approx(float(expected), rel=1e-9)


SPELLINGS = [
    ("openai/gpt-4o", "gpt-4o"),
    ("azure/gpt-4o", "gpt-4o"),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
    ("anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku-20240307"),
    ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
    ("bedrock/eu.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4-20250514"),
    ("vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
    ("models/gemini-2.5-pro", "gemini-2.5-pro"),
]


@pytest.mark.parametrize(("spelling", "model"), SPELLINGS)
def test_names_of_gateways_and_clouds_are_understood(spelling, model):
    """What a gateway puts before or behind a model's name does not hide its price."""
    assert cost.usd(spelling, Usage(1_000, 100)) == cost.usd(model, Usage(1_000, 100)) is not None


@pytest.mark.parametrize("model", [None, "", "no-such-model", "<synthetic>", "a/b/c", "x" * 10_000, "\ud800", "gpt-4o\n"])
def test_an_unknown_model_has_no_price(model):
    """Never a guess, and never an error."""
    assert cost.usd(model, Usage(1_000, 100)) in (None, cost.usd("gpt-4o", Usage(1_000, 100)))


def test_more_cached_than_input_tokens_are_no_error():
    """Logs that count cached tokens beside the input are priced as if they were part of it."""
    assert cost.usd("gpt-4o", Usage(10, 5, 1_000)) == cost.usd("gpt-4o", Usage(1_000, 5, 1_000))


def test_the_tables_are_loaded_at_the_first_question():
    """Scanning without tokens does not pay for the price tables; without the extra there is no price."""
    code = """
import sys
import unstuck.cost, unstuck.scan
assert "genai_prices" not in sys.modules
sys.modules["genai_prices"] = None
from unstuck.events import Usage
assert unstuck.cost.usd("gpt-4o", Usage(1, 1)) is None
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
