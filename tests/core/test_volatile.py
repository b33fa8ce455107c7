"""What makes a text new and what does not."""

from __future__ import annotations

import pytest

from unstuck.volatile import CLIPPED, HALF, clipped, mask, numbers, plain_address, template

SAME = [
    ("done at 12:30:01", "done at 12:30:59"),
    ("done at 09:05", "done at 23:59"),
    ("at 3:07 PM", "at 11:45 am"),
    ("[12:30:01.123] ok", "[12:30:01,999] ok"),
    ("2026-01-02", "2025-12-31"),
    ("2026-01-02T03:04:05Z up", "2026-01-03T13:14:15+02:00 up"),
    ("2026/01/02 03:04:05 up", "2026/11/12 13:14:15 up"),
    ("02.01.2026", "31.12.2025"),
    ("1/2/2026, 10:11", "12/31/2025, 23:59"),
    ("Mon, 05 Jan 2026 10:11:12 GMT", "Tue, 06 Jan 2026 11:12:13 GMT"),
    ("Jan 5, 2026", "February 17, 2025"),
    ("since 1712345678", "since 1799999999"),
    ("since 1712345678123", "since 1712345679456"),
    ("took 12 ms", "took 1250ms"),
    ("finished in 3.2s", "finished in 11.07s"),
    ("1m 20s elapsed", "12m 3.5s elapsed"),
    ("1h 2m 3s", "10h 20m 30s"),
    ("12 seconds ago", "3 seconds ago"),
    ("after 3 minutes", "after 41 minutes"),
    ("pid: 4242", "pid: 17"),
    ("pid=4242 started", "pid=17 started"),
    ('{"pid": 4242}', '{"pid": 17}'),
    ("duration_ms=17", "duration_ms=1812"),
    ('{"durationMs": 17.5, "ok": true}', '{"durationMs": 3.25, "ok": true}'),
    ('"elapsed":"00:01:07"', '"elapsed":"00:02:09"'),
    ("elapsed: 12.5", "elapsed: 3.1"),
    ("at 0x7f3a5c001d90", "at 0x7f3a5c0aa000"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id 9b2d8c1a-0f3e-4b5c-8d7e-6f1a2b3c4d5e"),
    ("refused (req 5feceb)", "refused (req 6b86b2)"),
    ("request_id=5feceb66", "request_id=6b86b273"),
    ("X-Request-Id: 5feceb66", "X-Request-Id: 6b86b273"),
    ("request id: 5feceb66", "request id: 6b86b273"),
    ('"trace_id": "4bf92f35"', '"trace_id": "00f067aa"'),
    ("cf-ray: 8a1b2c3d4e5f", "cf-ray: 9f8e7d6c5b4a"),
    ('etag: "33a64df5"', 'etag: "9c1185a5"'),
    ("id: 3f2a9c1b", "id: 77de01ab"),
    ("attempt 1", "attempt 12"),
    ("Attempt 2 of 5 failed", "Attempt 3 of 5 failed"),
    ("attempts: 3", "attempts: 4"),
    ("retry #2", "retry #3"),
    ("In [12]: x", "In [13]: x"),
    ("INFO: Started server process [4849]", "INFO: Started server process [960]"),
    ("you have read this file: read 3 times", "you have read this file: read 4 times"),
    ("this is the 2nd call", "this is the 3rd call"),
    ("in /tmp/tmpab12cd34/x", "in /tmp/tmpzz99yy88/x"),
    ("in pytest-12/x", "in pytest-13/x"),
    ("call_count=3", "call_count=4"),
    ("Execution_Count: 7", "Execution_Count: 8"),
    ("call count: 7", "call count: 8"),
    ("Call #7 done", "Call #18 done"),
    ("request number 17", "request number 18"),
    ("total requests: 17", "total requests: 18"),
    ("calls so far: 7", "calls so far: 8"),
    ("queued (request 17)", "queued (request 18)"),
    ('{"request_count": 17}', '{"request_count": 18}'),
    ("Mar  3 10:11:09 host app[4003]: gone", "Mar  3 10:12:10 host app[17]: gone"),
    ("2026-03-03 10:11:09 host app[4003]: gone", "2026-03-03 10:12:10 host app[17]: gone"),
    ("[9031] ERROR: no such table", "[11022] ERROR: no such table"),
    ("the worker (pid 77) died", "the worker (pid 4012) died"),
    ("client 127.0.0.1:40017 refused", "client 127.0.0.1:61002 refused"),
    ("from 10.0.12.250:53110", "from 10.0.12.250:33001"),
    ("/tmp/pytest-of-root/pytest-3/test_a0: gone", "/tmp/pytest-of-root/pytest-41/test_a0: gone"),
    ("in /tmp/tmp.Xa8bC9dEfG/x", "in /tmp/tmp.0Zb1C2d3E4/x"),
    ("id=01HT4D38E6E35C322E2833E103", "id=01HT8270108206840C178CE162"),
    ("refused (req-b744C5Eqt6Dzcw)", "refused (req-xr6ggx2H7fyH87)"),
    ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2lnbmF0", "token eyJhbGciOiJIUzI1NiJ9.eyJpYXQi.b3RoZXI"),
    ("Tokens used: 1,293, cost $0.11", "Tokens used: 987, cost $0.09"),
    ("31,234 tokens used", "9 tokens used"),
    ("total_tokens: 31234", "total_tokens: 402"),
    ("web-1  0/1  ImagePullBackOff  0  3m", "web-1  0/1  ImagePullBackOff  0  4m12s"),
    ("web-1   1/1     Running   4 (3m12s ago)   41d", "web-1   1/1     Running   4 (9m ago)   42d"),
    ("3m12s       Warning   BackOff", "14m       Warning   BackOff"),
    ("BackOff (x14 over 3m12s) pulling", "BackOff (x41 over 9m) pulling"),
    ("created 3 days ago", "created 4 days ago"),
    ("[turn 7] a dead end", "[turn 12] a dead end"),
    ("a dead end (iteration 3)", "a dead end (iteration 4)"),
    ("Random seed: 941166", "Random seed: 17"),
    ("Using --randomly-seed=941166", "Using --randomly-seed=17"),
    ("----=_Part_46231a829b", "----=_Part_c84b898820"),
    ("------WebKitFormBoundary7MA4YWxkTrZu0gW1", "------WebKitFormBoundaryX0aB1cD2eF3gH4iJ"),
    ("test in 3m12s (ID 7491204112)", "test in 4m1s (ID 7491209987)"),
    ("Chunk ID: 4a3f91", "Chunk ID: b7c02e"),
    ('ETag: W/"9f-Xa81bC"', 'ETag: W/"a0-1bYc7d"'),
    ("==40123== Invalid read", "==51877== Invalid read"),
    ("(node:40123) Warning: gone", "(node:77) Warning: gone"),
    ("[4012:4012:0303/101109.123456:ERROR:gpu.cc(12)] gone", "[77:77:0304/111209.654321:ERROR:gpu.cc(12)] gone"),
    ("goroutine 34 [running]", "goroutine 1 [running]"),
    ('{"token_type": "bearer", "expires_in": 3599}', '{"token_type": "bearer", "expires_in": 3411}'),
    ("X-RateLimit-Remaining: 57", "X-RateLimit-Remaining: 56"),
    ('{"status": "down", "uptime": 812}', '{"status": "down", "uptime": 903}'),
]
DIFFERENT = [
    ("40%", "41%"),
    ("at 40 % now", "at 41 % now"),
    ("item 3 of 9", "item 4 of 9"),
    ("3/9 done", "4/9 done"),
    ("12 failed, 30 passed", "11 failed, 31 passed"),
    ("line 10", "line 11"),
    ("offset=100", "offset=200"),
    ("page: 2", "page: 3"),
    ("v1.2.3", "v1.2.4"),
    ("exit code 1", "exit code 2"),
    ("status: 200", "status: 404"),
    ("port 8080", "port 8081"),
    ("10.0.0.1", "10.0.0.2"),
    ("3 files", "4 files"),
    ("19.90 EUR", "19.95 EUR"),
    ("order 1234", "order 1235"),
    ("order_id: 1234", "order_id: 1235"),
    ("commit 3f2a9c1", "commit 77de01a"),
    ("10 seconds left", "9 seconds left"),
    ("5 minutes remaining", "4 minutes remaining"),
    ("3 hours to go", "2 hours to go"),
    ("0x1f", "0x20"),
    ("id: 7", "id: 8"),
    ("3 retries left", "2 retries left"),
    ("size 1024", "size 2048"),
    ("100 bytes", "120 bytes"),
    ("a", "b"),
    ("", " "),
    ("-1", "1"),
    ("state: open", "state: closed"),
    ("read 3 files", "read 4 files"),
    ("width: 10s0", "width: 10s1"),
    ("processed request 17.", "processed request 18."),
    ("request 17 of 50", "request 18 of 50"),
    ("17 calls", "18 calls"),
    ("page[1200]: read", "page[1300]: read"),
    ("[1200] rows", "[1300] rows"),
    ("[step 300] loss falls", "[step 400] loss falls"),
    ("epoch [3]", "epoch [4]"),
    ("listening on 10.0.0.1:8080", "listening on 10.0.0.1:8081"),
    ("main.py:12:40017", "main.py:12:40018"),
    ("ratio 1:40017", "ratio 1:40018"),
    ("build    12%   4m", "build    14%   3m"),
    ("tokens left: 1200", "tokens left: 1100"),
    ("cost $0.11", "cost $0.12"),
    ("input_tokens: 1200", "input_tokens: 1300"),
    ("3 days left", "2 days left"),
    ("load average: 4.10, 3.20, 2.11", "load average: 0.10, 1.20, 2.01"),
    ("a==12==b", "a==13==b"),
    ("== 12 ==", "== 13 =="),
    ("(step: 12)", "(step: 13)"),
    ("(12:30)-(13)", "(12:30)-(14)"),
    ("request-handler2", "request-handler3"),
    ('{"nextCursor": "95d4529e"}', '{"nextCursor": "a9429ac8"}'),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=lambda text: text)
def test_what_changes_by_itself_is_masked(one: str, other: str):
    """Clocks, dates, durations, process and request ids, addresses, attempts, tallies; alone and in running text."""
    assert mask(one) == mask(other)
    assert mask(f"The job ran.\n{one}\nBye.") == mask(f"The job ran.\n{other}\nBye.")


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda text: text)
def test_what_may_be_progress_stays(one: str, other: str):
    """Percent, items of many, lines, offsets, versions, counts, what is left: masked, two texts would be one wrongly."""
    assert mask(one) != mask(other)


@pytest.mark.parametrize("text", [text for pair in (*SAME, *DIFFERENT) for text in pair])
def test_a_masked_text_has_nothing_left_to_mask(text: str):
    """Masking twice is masking once; a text without digits is left as it is."""
    assert mask(mask(text)) == mask(text)
    if not any(character.isdigit() for character in text):
        assert mask(text) == text


def test_names_that_a_user_adds_are_volatile_too():
    """Whatever their case in the text; without them the value stays."""
    assert mask("buildNumber: 17") != mask("buildNumber: 18")
    extra = frozenset(("buildnumber",))
    assert mask("buildNumber: 17", extra) == mask("buildNumber: 18", extra)
    assert mask('{"buildNumber":17}', extra) == mask('{"buildNumber":18}', extra)
    assert mask("otherNumber: 17", extra) != mask("otherNumber: 18", extra)


def test_of_a_long_text_both_ends_are_masked():
    """Where clocks and tallies stand; what lies between counts as it is."""
    middle = "x" * (3 * HALF)
    assert mask(f"at 12:30:01 {middle} took 7 ms") == mask(f"at 12:30:02 {middle} took 8 ms")
    assert mask(f"{middle} at 12:30:01 {middle}") != mask(f"{middle} at 12:30:02 {middle}")
    assert mask(f"{middle}a{middle}") != mask(f"{middle}b{middle}")


@pytest.mark.parametrize("length", [0, 1, CLIPPED - 1, CLIPPED, CLIPPED + 1, 10 * CLIPPED])
def test_clipping_keeps_what_masking_tells_apart(length: int):
    """A long text is kept as both ends and a digest, a short one whole; equal and unequal stay equal and unequal, masked too."""
    text = ("at 12:30:01 " + "abcdefgh" * (length // 8 + 1))[:length]
    later = text.replace("12:30:01", "12:59:59")
    assert len(clipped(text)) <= CLIPPED
    assert clipped(clipped(text)) == clipped(text)
    assert mask(clipped(text)) == mask(clipped(later))
    if length > CLIPPED:
        changed = text[: length // 2] + "!" + text[length // 2 + 1 :]
        assert clipped(changed) != clipped(text)
        assert mask(clipped(changed)) != mask(clipped(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("12 failed, 30 passed", (12, 30)),
        ("-3 and 4.5", (-3, 4.5)),
        ("a 1 b 2 c 3 d 4 e 5", (1, 2, 3, 4)),
        ("deadbeef3f 4a", ()),
        ("row_17", (17,)),
        ("agent-3 started", (3,)),
        ("50%", (50,)),
    ],
)
def test_numbers_are_read_from_a_masked_text(text: str, expected: tuple[float, ...]):
    """The first four; identifiers in hexadecimal are none."""
    assert numbers(mask(text)) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("12 failed", "3 failed"), ("agent-3 started", "agent-17 started"), ("row_1", "row_22"), ("at 40%", "at 41%")],
)
def test_a_template_is_what_stays_while_a_counter_runs(one: str, other: str):
    """Its numbers are taken out, its words are not."""
    assert template(mask(one)) == template(mask(other))
    assert template(mask(one)) != template(mask("other words"))


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://x.example/a?ts=1712", "https://x.example/a"),
        ("https://x.example/a?id=7&_=1712", "https://x.example/a?id=7"),
        ("https://x.example/a?nonce=ab1&id=7", "https://x.example/a?id=7"),
        ("curl 'https://x.example/a?cache_bust=0.17&id=7'", "curl 'https://x.example/a?id=7'"),
        ("https://x.example/a?rand=3#part", "https://x.example/a?#part"),
        ("https://x.example/a?page=2", "https://x.example/a?page=2"),
        ("https://x.example/a?parts=2&charts=1", "https://x.example/a?parts=2&charts=1"),
        ("what?", "what"),
    ],
)
def test_parameters_that_only_pass_a_cache_by_are_taken_out_of_addresses(address: str, plain: str):
    """Those that choose what is asked for stay."""
    assert plain_address(address) == plain
