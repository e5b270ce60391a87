"""An evaluation as one HTML page that asks nothing of the network."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import TypeVar

from pinfold import __version__
from pinfold.evaluation import charts
from pinfold.export.document import document
from pinfold.sanitize import clean, one_line

Name = TypeVar("Name", bound=str)

_BODY = """\
<header>
<h1>{title}</h1>
<p class="verdict">{verdict}</p>
<p class="facts">{facts}</p>
</header>
<main>
{sections}
</main>
<footer>Written by pinfold {version}</footer>"""


def page(title: str, verdict: str, facts: Iterable[str], sections: Iterable[str]) -> str:
    """The whole page; `sections` are HTML, all else is text."""
    body = _BODY.format(
        title=text(title),
        verdict=text(verdict),
        facts="".join(f"<span>{text(fact)}</span>" for fact in facts),
        sections="\n".join(sections),
        version=__version__,
    )
    style = (files("pinfold.evaluation") / "report.css").read_text("utf-8")
    return document(text(title), body, style=style)


def section(title: str, *parts: str) -> str:
    """A heading, and HTML below it."""
    return f"<section><h2>{text(title)}</h2>{''.join(parts)}</section>"


def paragraph(said: str) -> str:
    return f"<p>{text(said)}</p>"


def table(
    caption: str, heads: Sequence[str], rows: Iterable[tuple[str, str, Sequence[str]]]
) -> str:
    """Rows are a name, a class and cells of HTML."""
    top = "".join(f'<th scope="col">{text(head)}</th>' for head in heads)
    body = "".join(
        f'<tr class="{kind}"><th scope="row">{text(name)}</th>'
        f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        for name, kind, cells in rows
    )
    return (
        f'<div class="wide"><table><caption>{text(caption)}</caption>'
        f"<thead><tr><td></td>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def share(mean: float | None, deviation: float = 0.0) -> str:
    """A cell with a figure in [0, 1], and a bar below."""
    if mean is None:
        return '<span class="none">–</span>'
    spread = f"<small> ±{deviation:.2f}</small>" if deviation else ""
    return f"{mean:.2f}{spread}{charts.bar(mean)}"


def amount(told: str, value: float, most: float, kind: str = "") -> str:
    """A cell with any figure, and a bar that compares it with the largest."""
    return f"{text(told)}{charts.bar(value / most if most else 0.0, kind)}"


def figures(charts: Iterable[tuple[str, str, str]], kind: str) -> str:
    """Charts side by side: a caption, a class and the SVG of each."""
    drawn = "".join(
        f'<figure class="{each}"><figcaption>{text(name)}</figcaption>{svg}</figure>'
        for name, each, svg in charts
    )
    return f'<div class="{kind}">{drawn}</div>'


def definitions(of: Mapping[Name, str]) -> str:
    told = "".join(f"<dt>{text(name)}</dt><dd>{text(what)}</dd>" for name, what in of.items())
    return f"<dl>{told}</dl>"


def text(said: str) -> str:
    """Anything as one line that is not read as markup."""
    return escape(one_line(clean(said)))
