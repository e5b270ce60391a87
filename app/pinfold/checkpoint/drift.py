"""Whether an edit is of a file that the work has nothing to do with."""

from collections.abc import Iterable, Sequence

from pinfold.checkpoint.known import Known


def unnamed(known: Known, uris: Iterable[str]) -> list[str]:
    """Of the files, those that neither the goal, the task, open steps, the core nor what was read,
    edited or found since the user's last request names. Paths are as the journal has them."""
    checkpoint, core = known.checkpoint, known.core
    plan = checkpoint.plan
    texts = [core.goal or core.first_request, *(statement.text for statement in core.stated())]
    texts += [checkpoint.task.text] if checkpoint.task else []
    texts += [step.text for step in plan.steps if not plan.done.get(step.id)]
    return known.named.others(uris, texts)


def reason(uris: Sequence[str]) -> str:
    """Why an edit of these asks."""
    more = f" and {len(uris) - 1} more" if len(uris) > 1 else ""
    return f"edits {uris[0]}{more}, which neither the task, the plan nor anything read since names"
