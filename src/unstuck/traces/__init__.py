"""
What every reader needs of a file: bytes to lines, lines to records, records to whole responses.

Nothing here knows a format, and everything works in bounded memory.
"""
