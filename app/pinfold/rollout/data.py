"""The base of all events."""

from msgspec import Struct


class Data(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field=None):
    """What an event says."""
