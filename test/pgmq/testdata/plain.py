"""What clients return, so that two runs can be compared."""

from datetime import datetime, timezone


def plain(value):
    """What a client returned, with times as thousands of seconds from now."""
    if isinstance(value, list):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, datetime):
        return f"now{round((value - datetime.now(timezone.utc)).total_seconds() / 1000):+d}"
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__ if "_age" not in name}
    return value
