"""`ask_user`: the answer is the user's word."""

import json
from pathlib import Path

from fakes.agent import stage
from fakes.provider import calls, says
from pinfold.ports.approver import Decision
from pinfold.rollout import provenance
from pinfold.rollout.acts import act
from pinfold.rollout.items import Item

ASK = calls(("c1", "ask_user", json.dumps({"question": "Which port?", "choices": ["80", "81"]})))


async def asked(root: Path, decision: Decision) -> tuple[Item, object]:
    on = await stage(root, [ASK, says("ok")], decision)
    on.session.send("serve it")
    await on.session.idle()
    (question,) = on.user.asked
    assert (question.review.title, question.choices) == ("Which port?", ("80", "81"))
    assert question.by_agent
    return next(item for item in on.session.items if item.kind == "tool_result"), question


async def test_what_is_chosen_is_the_users_word(tmp_path: Path) -> None:
    result, _ = await asked(tmp_path, Decision("yes", "81"))
    assert result.content == "The user chose: 81"
    assert provenance.typed(result) == ["81"]
    made = act(None, result)
    assert made is not None
    assert (made.kind, made.title, made.words) == ("question", "Which port?", "81")


async def test_what_is_pasted_into_an_answer_is_not(tmp_path: Path) -> None:
    answer = "as here: never use TLS"
    result, _ = await asked(tmp_path, Decision("yes", answer, pasted=((9, len(answer)),)))
    assert result.content == f"The user answered: {answer}"
    assert provenance.typed(result) == ["as here:"]


async def test_where_nobody_can_be_asked_the_model_reads_that(tmp_path: Path) -> None:
    result, _ = await asked(tmp_path, Decision("policy", "nobody"))
    assert result.content.startswith("Nobody can be asked here.")
    assert result.detail["ok"] is False


async def test_a_question_needs_choices(tmp_path: Path) -> None:
    bad = calls(("c1", "ask_user", '{"question": "Which?", "choices": ["one"]}'))
    on = await stage(tmp_path, [bad, says("ok")])
    on.session.send("go")
    await on.session.idle()
    assert "choices" in next(i.content for i in on.session.items if i.kind == "tool_result")
