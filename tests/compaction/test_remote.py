"""The provider's own compaction: nobody but its model can read it."""

import asyncio

import pytest

from fakes.compactions import apply, session, working
from fakes.summarizer import MODEL, ScriptedSummarizer
from pinfold.compaction.engine import plan_with, validate
from pinfold.compaction.report import UNREADABLE, report_of
from pinfold.compaction.strategies.registry import house
from pinfold.compaction.strategies.remote import Remote
from pinfold.compaction.strategy import Material
from pinfold.compaction.view import PlanOptions, WindowView
from pinfold.ports.errors import RequestRejected
from pinfold.ports.provider import Compacted, ModelInfo
from pinfold.window.refused import Refused
from pinfold.wire.responses.render import input_items

OPAQUE = {"type": "compaction", "encrypted_content": "c2VhbGVk"}
OTHER = ModelInfo("another", "p", 16_000, "config", 2_000)


def prepared(view: WindowView, **changes: object) -> Material:
    given = {"compacted": Compacted(OPAQUE), **changes}
    model = ScriptedSummarizer(**given)  # type: ignore[arg-type]
    return asyncio.run(Remote().prepare(view, model, PlanOptions()))


def test_what_goes_is_one_opaque_item_behind_the_users_messages() -> None:
    live = session(12)
    view = live.view()
    plan = plan_with("remote", view, prepared(view), PlanOptions(), strategies=house())
    validate(view, plan)
    assert plan.strategy == "remote"
    assert [item.kind for item in plan.inserted] == ["checkpoint", "compaction"]
    assert report_of(view, plan).inserted[1].text == UNREADABLE
    apply(live, plan)
    kinds = [item.kind for item in live.window.items]
    assert kinds == ["checkpoint"] + ["user"] * 23 + ["compaction", "user"]
    assert OPAQUE in input_items(live.window.items, MODEL)
    assert OPAQUE not in input_items(live.window.items, OTHER)


def test_a_model_that_did_not_write_it_is_told_apart() -> None:
    live = session(12)
    assert not live.view(name="another").unreadable
    view = live.view()
    apply(live, plan_with("remote", view, prepared(view), PlanOptions(), strategies=house()))
    assert live.view(name="another").unreadable
    assert not live.view().unreadable
    for data in working(6, first=live.next_n):
        live.add(data)
    view = live.view()
    apply(live, plan_with("checkpoint", view, Material(), PlanOptions(), strategies=house()))
    assert not live.view(name="another").unreadable


def test_where_there_is_no_endpoint_the_reason_comes_out() -> None:
    view = session(12).view()
    with pytest.raises(RequestRejected, match="no compaction endpoint"):
        prepared(view, compacted=None)
    with pytest.raises(Refused, match="No model"):
        asyncio.run(Remote().prepare(view, None, PlanOptions()))


def test_another_models_compaction_is_of_no_use() -> None:
    view = session(12).view()
    with pytest.raises(Refused, match="Only another can read"):
        prepared(view, model=OTHER)
    made = Material(opaque=OPAQUE, through=96, meta={"provider": "p", "model": "another"})
    plan = plan_with("remote", view, made, PlanOptions(), strategies=house())
    assert plan.strategy == "checkpoint"
    assert "can't read" in plan.notes[-1]
