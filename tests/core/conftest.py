"""Hypothesis without deadlines: how long an example takes is a matter of benches."""

from hypothesis import settings

settings.register_profile("core", deadline=None)
settings.load_profile("core")
