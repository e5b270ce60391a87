"""Formats numbers for people."""

ID_SHOWN = 13
"""Characters of a session's id that tell it from others: its time in milliseconds."""


def tokens(count: int) -> str:
    """`950`, `3.1k`, `128k`, `1.05M`."""
    if count < 1_000:
        return str(count)
    if count < 99_950:
        return f"{count / 1_000:.1f}k".replace(".0k", "k")
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"


def plural(count: int, what: str) -> str:
    """`1 item`, `1,200 items`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """`12s`, `3m 05s`, `1h 02m`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3_600}h {whole % 3_600 // 60:02}m"


def dollars(amount: float) -> str:
    """`$0.42`, `<$0.01`."""
    return f"${amount:,.2f}" if amount >= 0.005 else "<$0.01"


def precise(amount: float) -> str:
    """`$1.25`, `$0.0042`: dollars of a single request."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


_UPRIGHT = " ▁▂▃▄▅▆▇█"
_LYING = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = 1) -> str:
    """A share in [0, 1] as a bar of `width` columns; one of a single column stands upright."""
    whole, eighths = divmod(round(min(1.0, max(0.0, share)) * width * 8), 8)
    blocks = _UPRIGHT if width == 1 else _LYING
    return (blocks[8] * whole + blocks[eighths].strip()).ljust(width)
