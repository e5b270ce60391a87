"""A yes to this session's edits."""

import json
from pathlib import Path

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.agent.options import Options
from pinfold.ports.approver import Decision
from pinfold.rollout.events import ApprovalDecided


async def test_it_spares_plain_edits_until_the_mode_changes(tmp_path: Path) -> None:
    def writes(path: str, call_id: str) -> list:
        return calls((call_id, "write_file", json.dumps({"path": path, "content": "x\n"})))

    script = [writes("a", "c1"), writes("b", "c2"), writes(".envrc", "c3"), says("Done.")]
    options = Options(approvals="ask")
    on = await stage(tmp_path, script, Decision("always"), Decision("no"), options=options)
    await on.session.send("Write them")
    assert [(question.edits, question.review.title) for question in on.user.asked] == [
        (True, "create a"),
        (False, "create .envrc"),
    ]
    assert on.session.edits_allowed
    said = [event.edits for event in on.events() if isinstance(event, ApprovalDecided)]
    assert said == [True, False]

    on.session.set_approvals("ask")
    assert not on.session.edits_allowed
