"""An outcome for people and for CI: a table, Markdown, JUnit XML."""

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pinfold.evaluation.gate.outcome import RuleOutcome, Verdict, missing, sentence
from pinfold.sanitize import clean, one_line

UNKNOWN = "unknown: no baseline"


def table(outcome: RuleOutcome) -> RenderableType:
    """What was lost, then the verdict."""
    if not outcome.lost and not outcome.unread:
        return Text(sentence(outcome))
    grid = Table(box=None, pad_edge=False)
    for head in ("session", "rule", "lost", "since"):
        grid.add_column(head, overflow="fold")
    before = ("", "")
    for session, rule, line, since in _rows(outcome):
        named = ("", "") if (session, rule) == before else (session, rule)
        before = (session, rule)
        grid.add_row(*(Text(one_line(text)) for text in (*named, line, since)))
    return Group(grid, Text(""), Text(sentence(outcome)))


def markdown(outcome: RuleOutcome) -> str:
    """A table for the summary of a CI job."""
    lines = [f"**{sentence(outcome)}**", ""]
    if rows := list(_rows(outcome)):
        lines += ["| session | rule | lost | since |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(_cell(text) for text in row)} |" for row in rows]
        lines.append("")
    lines.append(f"pinfold {outcome.version}, {outcome.at:%Y-%m-%d %H:%M} UTC")
    return "\n".join(lines) + "\n"


def junit(outcome: RuleOutcome) -> bytes:
    """One test suite, a test case for each rule on each session."""
    suite = ET.Element(
        "testsuite",
        name="pinfold",
        tests=str(len(outcome.verdicts) + len(outcome.unread)),
        failures=str(len(outcome.lost)),
        errors=str(len(outcome.unread)),
        timestamp=f"{outcome.at:%Y-%m-%dT%H:%M:%S}",
    )
    for verdict in outcome.verdicts:
        names = {"classname": one_line(verdict.rule), "name": one_line(verdict.session)}
        case = ET.SubElement(suite, "testcase", names)
        if verdict.lost:
            failure = ET.SubElement(case, "failure", message=one_line(_failure_text(verdict)))
            failure.text = "\n".join(
                clean(f"{line}: {since or UNKNOWN}") for line, since in missing(verdict)
            )
    for session in outcome.unread:
        case = ET.SubElement(suite, "testcase", classname="sessions", name=one_line(session))
        ET.SubElement(case, "error", message=one_line(session))
    suites = ET.Element("testsuites")
    suites.append(suite)
    written: bytes = ET.tostring(suites, "utf-8", xml_declaration=True)
    return written + b"\n"


def _rows(outcome: RuleOutcome) -> Iterator[tuple[str, str, str, str]]:
    for verdict in outcome.lost:
        if verdict.kept.not_run:
            yield verdict.session, verdict.rule, verdict.kept.not_run, ""
            continue
        for line, since in missing(verdict):
            yield verdict.session, verdict.rule, line, since or UNKNOWN
    for session in outcome.unread:
        yield session, "", "can't be read", ""


def _failure_text(verdict: Verdict) -> str:
    if verdict.kept.not_run:
        return verdict.kept.not_run
    return f"keeps {verdict.kept.share:.0%}, must keep {verdict.at_least:.0%}"


def _cell(text: str) -> str:
    """Escapes Markdown."""
    escaped = one_line(text)
    for sign in "\\`*_[]<>|":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped
