"""What looks like a secret and is none: what sessions are full of."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import UUID

WRITTEN = Path(__file__).with_suffix(".txt")

_WORDS = (
    *("parser", "session", "window", "token", "secret", "password", "key", "account", "request"),
    *("response", "handler", "buffer", "client", "server", "worker", "queue", "index", "cache"),
    *("render", "layout", "widget", "theme", "commit", "branch", "merge"),
)
_LIBRARIES = (
    *("requests", "urllib3", "click", "rich", "numpy", "pandas", "aiohttp", "pydantic"),
    *("httpx", "attrs"),
)


def innocent() -> list[str]:
    written = WRITTEN.read_text(encoding="utf-8").split("\n")
    return [*filter(None, written), *_made(Random(7))]


def _made(r: Random) -> Iterator[str]:
    for _ in range(8):
        yield from _hashes(r)
        yield from _ids(r)
        yield from _locks(r)
        yield from _code(r)
        yield from _pictures(r)


def _hash(r: Random, kind: str) -> str:
    return hashlib.new(kind, r.randbytes(8)).hexdigest()


def _base64(r: Random, octets: int) -> str:
    return base64.b64encode(r.randbytes(octets)).decode()


def _hashes(r: Random) -> Iterator[str]:
    sha1, sha256 = _hash(r, "sha1"), _hash(r, "sha256")
    yield sha1
    yield f"commit {sha1}\nAuthor: Ada <ada@example.com>"
    yield f"index {sha1[:7]}..{_hash(r, 'sha1')[:7]} 100644"
    yield f"{sha256}  dist/pinfold-0.1.0-py3-none-any.whl"
    yield f"sha256:{sha256}"
    yield f"md5: {_hash(r, 'md5')}"
    yield f'{{"hash": "{_hash(r, "sha512")}"}}'


def _ids(r: Random) -> Iterator[str]:
    uuid = UUID(bytes=r.randbytes(16), version=4)
    yield str(uuid)
    yield f"token: {uuid}"
    yield f'"session": "{uuid}", "parent": null'
    yield f"/var/log/app/{uuid}/{_hash(r, 'md5')}.log"
    yield f"https://example.com/o/{_hash(r, 'sha1')[:20]}?v={r.randrange(10**12)}#L8"
    yield f"arn:aws:iam::{r.randrange(10**11, 10**12)}:role/deploy-{r.randrange(99)}"
    yield f"2026-11-{r.randrange(10, 30)}T12:00:{r.randrange(10, 60)}.{r.randrange(1000):03}Z"


def _locks(r: Random) -> Iterator[str]:
    name, version = r.choice(_LIBRARIES), f"{r.randrange(9)}.{r.randrange(20)}.{r.randrange(9)}"
    yield f'"integrity": "sha512-{_base64(r, 64)}"'
    yield f"  integrity sha512-{_base64(r, 64)}"
    yield f'"resolved": "https://registry.npmjs.org/{name}/-/{name}-{version}.tgz"'
    yield f"github.com/{name}/{name} v{version} h1:{_base64(r, 32)}"
    yield f"    --hash=sha256:{_hash(r, 'sha256')}"
    yield f'{{file = "{name}-{version}.tar.gz", hash = "sha256:{_hash(r, "sha256")}"}},'
    yield f'checksum = "{_hash(r, "sha256")}"'
    yield f'name = "{name}"\nversion = "{version}"\nsource = "registry+https://crates.io-index"'


def _code(r: Random) -> Iterator[str]:
    one, two, three = r.sample(_WORDS, 3)
    number = r.randrange(2, 99)
    yield f"def test_{one}_{two}_is_{three}ed_after_{number}_seconds() -> None:"
    yield f"tests/{one}/test_{two}.py::test_{three}[{one}-{number}-{two}] PASSED"
    yield f"{one}_{two}{number} = self.{three}.get_{one}(timeout={number}, retries=3)"
    yield f"const {one}{two.title()} = new {three.title()}{number}<{one.title()}>();"
    yield f"{one}: {two}_{three}_{number}"
    yield f"{one}: {two.title()}{three.title()}V{number},"
    yield f'{one} = "{two}-{three}-v{number}"'
    yield f'{{"{one}": "{two}/{three}{number}.json"}}'
    yield f"let {one} = {two}::{three.title()}{number}::default();"
    yield f"export {one.upper()}_{two.upper()}=/opt/{three}/{number}"
    yield f"  at {one}.{two}.{three.title()}{number}.run({three.title()}.java:{number})"


def _pictures(r: Random) -> Iterator[str]:
    yield f"data:image/png;base64,{_base64(r, 900)}"
    yield f'{{"type": "base64", "media_type": "image/jpeg", "data": "{_base64(r, 1200)}"}}'
    yield f"src: url(data:font/woff2;base64,{_base64(r, 700)}) format('woff2')"
    yield "\n".join(_base64(r, 48) for _ in range(9))
