"""What stands for an outcome that was not recorded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.patterns import X, chapter, found, harm
from unstuck.unrecorded import is_unrecorded, takes_picture

PIXELS = "iVBORw0KGgoAAAANSUhEUgAA" + "a1B2c3D4" * 40


@pytest.mark.parametrize(
    "text",
    [
        "[image]",
        "[Image]",
        "<image>",
        "(screenshot)",
        "[screenshot]",
        "[Image #1]",
        "[image: 1280x720 png, 45 KB]",
        "[image omitted]",
        "[base64 image data removed]",
        "Screenshot taken.",
        "Successfully captured screenshot",
        "Clicked.\n[screenshot]",
        "data:image/png;base64,",
        "data:image/png;base64,iVBORw0KGgo...",
        '{"type":"image"}',
        '[{"source":{"data":"<omitted>","media_type":"image/png","type":"base64"},"type":"image"}]',
        '[{"text":"Clicked.","type":"text"},{"type":"image"}]',
        "[Old tool result content cleared]",
        "<omitted>",
        "[redacted]",
        "[tool output removed to save context]",
    ],
)
def test_a_placeholder_says_nothing(text: str):
    """For an image, for data that a reader dropped, for a result that a compaction cleared; a receipt may stand beside it."""
    assert is_unrecorded(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "Clicked.",
        "image not found",
        "image 7",
        "Error: image build failed",
        "file removed",
        "Removed 3 images.",
        "cache cleared",
        "image: nginx:1.27",
        "the screenshot shows a login form",
        f"Page: Checkout. Total: 17.90 EUR. Button Place order is disabled; the coupon field is empty.\n[image]\n{chapter(1)}",
        "x" * 500 + "[image]",
        f'[{{"source":{{"data":"{PIXELS}","type":"base64"}},"type":"image"}}]',
        f"data:image/png;base64,{PIXELS}",
        "[1, 2, 3]",
        "<html><body>ok</body></html>",
    ],
    ids=lambda text: text[:40],
)
def test_what_was_recorded_does(text: str):
    """A receipt, a message about images, a page with a picture in it, an image with its data."""
    assert not is_unrecorded(text)


def test_an_empty_answer_to_a_look_at_the_screen_was_not_recorded():
    """By the tool's name or by the action among its arguments."""
    assert takes_picture("mcp__playwright__browser_take_screenshot", {})
    assert takes_picture("computer", {"action": "screenshot"})
    assert takes_picture("computer", '{"action": "screenshot"}')
    assert not takes_picture("computer", {"action": "left_click"})
    assert not takes_picture("read_file", None)


SHOT = {"action": "screenshot"}


@pytest.mark.parametrize("shown", ["[image]", "", [{"type": "image"}], "[screenshot]"])
def test_looks_at_a_screen_between_different_actions_are_left_alone(shown: Any):
    """However many: each click may have changed it."""
    rounds = [
        x
        for n in range(12)
        for x in (
            X("computer", {"action": "left_click", "coordinate": [70 * n, 40 * n]}, "[image]"),
            X("computer", SHOT, shown),
        )
    ]
    assert found(rounds) == []


def test_pictures_with_other_data_are_other_pictures():
    """Whatever their words."""
    rounds = [
        x
        for n in range(20)
        for x in (
            X("computer", {"action": "left_click", "coordinate": [70 * n, 40]}, "done"),
            X("computer", SHOT, [{"type": "image", "source": {"type": "base64", "data": PIXELS + f"{n:04}"}}]),
        )
    ]
    assert found(rounds) == []


def test_a_picture_with_the_same_data_is_the_same_picture():
    """Three of them are a loop."""
    same = X("take_screenshot", {}, [{"type": "image", "source": {"type": "base64", "data": PIXELS}}])
    assert [one.at for one in found([same] * 3)] == [3]


@pytest.mark.parametrize("action", [{"action": "key", "text": "Down"}, {"action": "left_click", "coordinate": [700, 560]}])
def test_the_same_action_whose_picture_was_not_recorded_is_nudged_late_and_never_held_up(action: Any):
    """Whether the screen moves nobody knows."""
    findings = found([X("computer", action, "[image]")] * 40)
    assert harm(findings) == []
    assert 8 < findings[0].at <= 13
    assert found([X("computer", action, "[image]")] * 8) == []


def test_a_wizard_whose_pages_were_not_recorded_is_not_held_up():
    """The same click on "next", a look after each."""
    rounds = [
        x
        for _ in range(20)
        for x in (X("browser_click", {"ref": "e14", "element": "Next"}, "clicked"), X("browser_take_screenshot", {}, "[image]"))
    ]
    assert harm(found(rounds)) == []


def test_pictures_of_different_files_that_were_not_recorded_are_no_spellings_of_one():
    """A sweep over a directory of scans."""
    rounds = [X("read_file", {"path": f"/data/scans/archive/page-{n:03}.png"}, "[Image]") for n in range(14)]
    assert found(rounds) == []
