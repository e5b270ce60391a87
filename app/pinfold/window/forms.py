"""The forms of a window's items in few bytes: every earlier window is kept."""

from collections.abc import Mapping
from typing import get_args

import msgspec

from pinfold.rollout.items import Form

Packed = bytes

_FORMS: tuple[Form, ...] = get_args(Form)
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[tuple[int, int, int]])


def pack(forms: Mapping[int, Form]) -> Packed:
    """The numbers in their order, each with its form; neighbours of one form together."""
    runs: list[list[int]] = []
    for n, form in forms.items():
        code = _FORMS.index(form)
        if runs and runs[-1][0] + runs[-1][1] == n and runs[-1][2] == code:
            runs[-1][1] += 1
        else:
            runs.append([n, 1, code])
    return _encoder.encode(runs)


def unpack(packed: Packed) -> dict[int, Form]:
    """What was packed. Raises `ValueError`."""
    runs = _decoder.decode(packed) if packed else []
    return {n: _FORMS[code] for start, length, code in runs for n in range(start, start + length)}
