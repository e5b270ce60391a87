"""A strong model over HTTP uses every tool that it is offered, in one session."""

import json
from pathlib import Path
from typing import Any

from fakes.openai_server import Call, FakeOpenAI, Reply
from fakes.process import Pinfold

PATCH = "*** Begin Patch\n*** Update File: b.txt\n@@\n-three\n+four\n*** End Patch"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("update_plan", {"steps": [{"text": "try them", "status": "in_progress"}]}),
    ("list_dir", {"path": "."}),
    ("glob", {"pattern": "*.txt"}),
    ("grep", {"pattern": "one"}),
    ("read_file", {"path": "a.txt"}),
    ("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    ("write_file", {"path": "b.txt", "content": "three\n"}),
    ("apply_patch", {"patch": PATCH}),
    ("shell", {"command": "cat a.txt b.txt"}),
    ("shell", {"command": "echo begun; sleep 60", "background": True}),
    ("shell_output", {"job": 1, "wait": 1}),
    ("shell_kill", {"job": 1}),
    ("recall", {"id": 1}),
    (
        "memory_apply",
        {
            "kind": "fact",
            "evidence": {"source": "user", "ref": "latest", "quote": "Try every tool."},
            "key": "wish",
            "value": "Try every tool.",
        },
    ),
    ("task", {"description": "look", "prompt": "Look around."}),
    ("ask_user", {"question": "Which?", "choices": ["a", "b"]}),
]


async def test_every_tool(tmp_path: Path) -> None:
    replies = [
        Reply(calls=(Call(name, json.dumps(arguments), f"call_{n}"),))
        for n, (name, arguments) in enumerate(CALLS)
    ]
    child = next(n for n, (name, _) in enumerate(CALLS) if name == "task")
    replies.insert(child + 1, Reply("The child has looked."))
    page = "<html><body><article><p>A page about ports.</p></article></body></html>"
    async with FakeOpenAI(pages={"/page": page}) as server:
        fetch = json.dumps({"url": f"{server.url.removesuffix('/v1')}/page"})
        fetching = Reply(calls=(Call("web_fetch", fetch, "call_web"),))
        server.script = [*replies, fetching, Reply("Done.")]
        pinfold = Pinfold(tmp_path, **Pinfold.on(server.url))
        (pinfold.work / "a.txt").write_text("one\n")
        config = pinfold.config / "pinfold" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[web]\nprivate = ["127.0.0.1"]\n')
        ended = await pinfold.run("exec", "--approvals", "full", "Try every tool.")
    assert (ended.code, ended.out.strip()) == (0, "Done."), ended.err
    offered = {tool["function"]["name"] for tool in server.bodies[0]["tools"]}
    assert offered == {name for name, _ in CALLS} | {"web_fetch"}
    results = [m["content"] for m in server.bodies[-1]["messages"] if m["role"] == "tool"]
    assert "two\nfour" in results[8]
    assert "begun" in results[10]
    assert "The child has looked." in results[child]
    assert "A page about ports." in results[-1]
    assert len(results) == len(CALLS) + 1
    for result in results[:-2]:
        assert "no tool" not in result, result
