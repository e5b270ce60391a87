"""Where in the session things are known from: for each artifact, the last item about it."""

from pinfold.checkpoint.anchors import number
from pinfold.rollout.events import ArtifactObserved, Event, ItemAdded
from pinfold.rollout.memory import Evidence


class Sources:
    """A projection of the rollout: numbers alone."""

    def __init__(self) -> None:
        self._items: dict[str, int] = {}

    def step(self, event: Event) -> None:
        match event.data:
            case ItemAdded(item=item) if item.kind == "tool_result" and item.call_id:
                self._items[f"call:{item.call_id}"] = item.n
            case ArtifactObserved(uri=uri, item=n) if n is not None:
                self._items[uri] = n

    def of_artifact(self, uri: str) -> int | None:
        """The last item that read it, changed it or brought it about."""
        return self._items.get(uri)

    def of_evidence(self, evidence: Evidence) -> int | None:
        """The item that evidence points to; none where it names no item."""
        match evidence.source:
            case "user":
                return number(evidence.ref) or None
            case "file":
                return self.of_artifact(evidence.ref)
            case "tool_output":
                return self.of_artifact(f"call:{evidence.ref}")
