"""
What an event may be a sign of, as bits: a detector is asked only where a sign that it goes by was seen.

Most exchanges of an agent are new in every respect and show none, so they cost no detector anything.
"""

from __future__ import annotations

SAME = 1
"""A call came to the outcome it had before, or is asked for again; of a tool that waits it is `STILL`."""
DIFFERS = 2
"""A call came to another outcome that says nothing new."""
CHAIN = 4
"""A tool came to one outcome for calls that are alike."""
FAILED = 8
"""A tool failed again."""
ECHO = 16
"""A result only repeated its arguments."""
EMPTY = 32
"""Answers in a row were empty."""
GROUND = 64
"""A read went over ground that was covered."""
MISTAKE = 128
"""Something that changes the world was refused."""
SWING = 256
"""A target's state was changed again."""
DELEGATED = 512
"""Work or a conversation was passed on."""
CASCADE = 1024
"""Tools failed in a row."""
PERIOD = 2048
"""The latest rounds repeat earlier ones."""
WINDOW = 4096
"""A call stands twice among the last ones."""
STILL = 8192
"""A call of a tool that waits came to the outcome it had before, or is asked for again."""
ANY = -1
"""Ask always."""
