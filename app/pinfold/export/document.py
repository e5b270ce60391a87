"""An HTML document that asks nothing of the network."""

import base64
import hashlib

_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def document(title: str, body: str, *, style: str, script: str = "", images: bool = False) -> str:
    """The whole file; `title` and `body` are HTML. `images` says whether there are any in it."""
    # Even if some markup got through, a browser would neither run nor fetch it.
    policy = ["default-src 'none'", f"style-src '{_hash(style)}'"]
    if script:
        policy.append(f"script-src '{_hash(script)}'")
        body += f"\n<script>{script}</script>"
    if images:
        policy.append("img-src data:")
    policy += ["base-uri 'none'", "form-action 'none'"]
    return _DOCUMENT.format(policy="; ".join(policy), title=title, style=style, body=body)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
