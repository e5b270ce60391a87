"""Reads the gauge for the current model and settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from pinfold.agent.compaction.mask_batches import MaskBatches
from pinfold.agent.options import Limits
from pinfold.agent.record import Record
from pinfold.agent.requests.model_choice import ModelChoice
from pinfold.tokens.prices import Price
from pinfold.window.reading import GaugeReading
from pinfold.wire.caching import never_cached


@dataclass(eq=False)
class Meter:
    _record: Record
    _choice: ModelChoice
    _limits: Limits
    _masking: MaskBatches
    _prices: Mapping[str, Price]

    def reading(self) -> GaugeReading:
        """The gauge now."""
        limits = self._limits
        threshold = limits.threshold if limits.auto != "off" else None
        reading = self._record.gauge.reading(self._choice.model, threshold, self._prices)
        begins = self._masking.begins(reading) if limits.auto == "auto" else None
        if begins is not None and begins >= (reading.threshold or 0):
            begins = None  # the window is compacted before
        uncached = never_cached(self._choice.connection.base_url)
        return replace(reading, masking=begins, never_cached=uncached)
