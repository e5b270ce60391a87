"""`pinfold [PROMPT]`, with the flags that fingers know from other agents."""

import json
from pathlib import Path

import pytest

from fakes.live_session import live_session
from fakes.openai_server import FakeOpenAI, Reply
from fakes.process import Pinfold
from fakes.screen import make_app, until
from pinfold.cli import parse, run
from pinfold.rollout.provenance import Prompt

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize(
    ("argv", "prompt", "flags"),
    [
        (["fix the tests"], "fix the tests", set()),
        (["what is in app/x.py?"], "what is in app/x.py?", set()),
        (["hello"], "hello", set()),
        (["--", "exec"], "exec", set()),
        (["-p", "fix it", "--continue"], "fix it", {"print_", "continue_"}),
        (["-p", "-c", "fix it"], "fix it", {"print_", "continue_"}),
        (["fix it", "-p", "--json"], "fix it", {"print_", "json_"}),
        (["-p", "doctor"], "doctor", {"print_"}),
        (["-c", "and now?"], "and now?", {"continue_"}),
        (["-c", "See docs/a.md"], "See docs/a.md", {"continue_"}),
        (["-c"], None, {"continue_"}),
        (["-c", "model.name=x", "fix it"], "fix it", set()),
        (["-r", "0197", "fix it"], "fix it", {"resume_"}),
        (["-m", "gpt", "fix it", "--approvals", "ask"], "fix it", set()),
    ],
)
def test_a_prompt_and_its_flags(argv: list[str], prompt: str | None, flags: set[str]) -> None:
    found = vars(parse(argv))
    assert found["command"] is None
    assert found.get("prompt") == prompt
    named = ("print_", "continue_", "resume_", "json_")
    assert {name for name in named if found[name]} == flags


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["fix", "the", "tests"], 'put the prompt in quotes: pinfold "fix the tests"'),
        (["contxt"], "there is no command contxt; did you mean context?"),
        (
            ["--continue", "sessions"],
            "--continue goes with a prompt, not with the command sessions",
        ),
        (["-c", "-r", "0197", "hi"], "--continue takes the newest session, --resume the one"),
        (["-p", "hi", "-r"], "-p --resume needs a session's id"),
        (["-c", "model.name", "hi"], "-c (--config) takes SECTION.KEY=VALUE, not 'model.name'"),
        (["-c", "foo.bar", "sessions"], "-c (--config) takes SECTION.KEY=VALUE, not 'foo.bar'"),
        (["hi there", "--json"], "--json goes with -p"),
        (["-c", "approvals=full", "sessions"], "did you mean approvals.mode? allowed: ask, full,"),
        (["hi there", "--nonsense"], "unrecognized arguments: --nonsense\n"),
        (["--contiune"], "unrecognized arguments: --contiune; did you mean --continue?"),
        (["sessions", "--jsn"], "unrecognized arguments: --jsn; did you mean --json?"),
        (["--sandbox=read-only", "hi"], "pinfold's is --approvals, or [sandbox] in config.toml"),
        (["-p", "hi", "--output-format", "json"], "json; pinfold's is --json"),
    ],
)
def test_what_does_not_go_together_is_said(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(argv) == 2
    assert said in capsys.readouterr().err


async def test_p_prints_the_answer_and_continue_takes_the_newest_session(tmp_path: Path) -> None:
    async with FakeOpenAI([Reply("Twelve."), Reply("Thirteen.")]) as server:
        pinfold = Pinfold(
            tmp_path,
            PINFOLD_MODEL__NAME="scripted-1",
            PINFOLD_MODEL__PROVIDER="fake",
            PINFOLD_PROVIDERS__FAKE__BASE_URL=server.url,
        )
        first = await pinfold.run("-p", "how many?", stdin=b"a b c")
        second = await pinfold.run("-p", "and one more?", "--continue")
    assert (first.out, second.out) == ("Twelve.\n", "Thirteen.\n"), first.err + second.err
    (note,) = first.err.splitlines()
    assert "chosen by a PINFOLD_ variable" in note
    assert "/model" not in note
    (rollout,) = pinfold.rollouts()
    asked = [json.loads(line)["data"].get("item", {}) for line in rollout.open()]
    prompts = [item["content"] for item in asked if item.get("kind") == "user"]
    assert prompts == ["how many?\n\n<stdin>\na b c\n</stdin>", "and one more?"]


@pytest.mark.parametrize("text", ["fix the tests", "!touch x", "/quit"])
async def test_the_screen_sends_the_prompt_as_text_whatever_it_begins_with(text: str) -> None:
    session = live_session()
    app = make_app(session, prompt=Prompt(text))
    async with app.run_test() as pilot:
        await until(pilot, lambda: session.sent)
        assert [sent.strip() for sent in session.sent] == [text]
