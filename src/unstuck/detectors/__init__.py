"""One file a pattern: what repeats, seen in a ledger."""
