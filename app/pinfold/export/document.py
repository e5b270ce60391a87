"""HTML pages from templates. A page runs, loads and marks up only what its template says."""

import base64
import hashlib
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateNotFound

from pinfold.sanitize import clean, one_line


def render(name: str, *, images: bool = False, **values: object) -> str:
    """The page of the template `name.html`, with the style and script of the same name.

    All text is cleaned and escaped, except what a template marks as `safe`. `images`: whether it
    may have any. `name` starts with the room: `export/page`.
    """
    style, script = _source(f"{name}.css"), _source(f"{name}.js")
    # Even if some markup got through, a browser would neither run nor fetch it.
    policy = [
        "default-src 'none'",
        *([f"style-src '{_hash(style)}'"] if style else []),
        *([f"script-src '{_hash(script)}'"] if script else []),
        *(["img-src data:"] if images else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    template = _environment().get_template(f"{name}.html")
    return template.render(values, policy="; ".join(policy), style=style, script=script)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pinfold", ""),
        autoescape=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"clean": clean, "line": one_line}
    return environment


def _source(name: str) -> str:
    """The file's text; empty if there is no such file."""
    environment = _environment()
    assert environment.loader is not None
    try:
        return environment.loader.get_source(environment, name)[0]
    except TemplateNotFound:
        return ""


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
