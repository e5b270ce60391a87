"""Keys that can be told by how they begin."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class SecretHit(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


_MARKS = {
    "API Key": (
        r"sk-ant-[a-z0-9]+-[\w-]{20,}",
        r"sk-[\w-]{20,}",  # OpenAI, and others of the same form
        r"(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,})",  # Google
        r"(?:ya29\.[\w-]{20,}(?:\.[\w-]+)*|1//0[\w-]{30,})",  # Google, too
        r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
        r"(?:gsk_|xai-|pplx-|csk-)[A-Za-z0-9]{40,}",
        r"nvapi-[\w-]{40,}",
        r"r8_[A-Za-z0-9]{30,}",
        r"tvly-[\w-]{20,}",
        r"pcsk_\w{40,}",
        r"lsv2_[ps][tk]_[0-9a-f]{32}_[0-9a-f]{6,}",
        r"(?:ntn_|secret_)[A-Za-z0-9]{40,}",  # Notion
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",  # Linear
        r"fig[dour]{1,2}_[\w-]{35,}",
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",  # Airtable
        r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",  # Postman
        r"NRAK-[A-Z0-9]{27}",  # New Relic
        r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}",  # Dynatrace
        r"gl(?:c|sa)_[\w+/=-]{30,}",  # Grafana
        r"sntry[su]_[\w+/=-]{40,}",  # Sentry
        r"sq[aup]_[0-9a-f]{40}",  # SonarQube
        r"(?:sk|tk)\.eyJ[\w-]{20,}\.[\w-]{20,}",  # Mapbox
        r"xkeysib-[0-9a-f]{64}-\w{16}",  # Brevo
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",  # Resend
        r"key-[0-9a-f]{32}",  # Mailgun
        r"[0-9a-f]{32}-us\d{1,2}",  # Mailchimp
        r"rzp_(?:live|test)_[A-Za-z0-9]{14}",  # Razorpay
        r"CFPAT-[\w-]{43}",  # Contentful
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",  # Shopify
        r"sq0(?:atp|csp)-[\w-]{22,}",  # Square
        r"SK[0-9a-f]{32}",  # Twilio
        r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
        r"ops_eyJ[\w-]{100,}",  # 1Password
    ),
    "Cloud Token": (
        r"dapi[0-9a-f]{32}",  # Databricks
        r"do[opr]_v1_[0-9a-f]{64}",  # DigitalOcean
        r"hv[sbr]\.[\w-]{20,}",  # Vault
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}",  # Terraform
        r"pul-[0-9a-f]{40}",  # Pulumi
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.[\w-]{40,}",  # Doppler
        r"HRKU-[\w-]{30,}",  # Heroku
        r"nfp_[A-Za-z0-9]{30,}",  # Netlify
        r"fm[12][ar]?_[\w+/=-]{60,}",  # Fly
        r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})",  # Supabase
        r"pscale_(?:tkn|pw|oauth)_[\w-]{30,}",  # PlanetScale
        r"napi_[a-z0-9]{40,}",  # Neon
        r"tskey-[a-z]+-[\w-]{20,}",  # Tailscale
        r"[\w.~-]{3}[78]Q~[\w.~-]{31,34}",  # Azure
    ),
    "AWS Access Key": (r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}",),
    "GitHub Token": (r"gh[oprsu]_\w{36,}", r"github_pat_\w{30,}"),
    "GitLab Token": (
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent)-[\w-]{20,}(?:\.[\w-]+)*",
        r"(?:gloas-[\w-]{64}|GR1348941[\w-]{20,})",
    ),
    "Slack Token": (r"(?:xox[a-z]|xapp)-[\w-]{20,}",),
    "Stripe Key": (r"(?:(?:sk|rk)_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",),
    "JSON Web Token": (r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]+)?",),
    "Package Token": (
        r"npm_[A-Za-z0-9]{36}",
        r"pypi-Ag[\w-]{70,}",
        r"rubygems_[0-9a-f]{48}",
        r"dckr_pat_[\w-]{20,}",
    ),
    "Build Token": (r"CCIPAT_\w{20,}", r"bkua_[0-9a-f]{40}", r"ATBB[A-Za-z0-9]{24,}"),
    "Atlassian Token": (r"ATATT3[\w=-]{50,}",),
    "SendGrid Key": (r"SG\.[\w-]{22}\.[\w-]{43}",),
    "Bot Token": (
        r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}",  # Discord
        r"\d{8,10}:AA[\w-]{33}",  # Telegram
    ),
    "Webhook": (
        r"https://(?:\w+\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[\w-]{20,}",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}",
        r"https://[\w-]+\.webhook\.office\.com/webhookb2/[\w@/-]{60,}",
        r"https://hooks\.zapier\.com/hooks/catch/\d+/\w+",
    ),
}

_KINDS = tuple(kind for kind, patterns in _MARKS.items() for _ in patterns)
_KEY = re.compile(
    # Only at the beginning of a word, and not after a dash in one: each part would be read to its
    # end again.
    r"(?<!\w)(?<![\w-]-)(?:"
    + "|".join(f"({pattern})" for patterns in _MARKS.values() for pattern in patterns)
    + ")"
)
_LONG = re.compile(r"[\w.~:/+=@-]{18,}")
"""No key is shorter. Finding words first is quicker than trying each beginning."""
_DIGIT = re.compile(r"\d")
_REST = re.compile(r"[\w-]*")
_COMMON = re.compile(r"sk-(?!ant-)")
_UNBROKEN = re.compile(r"[A-Za-z0-9]{20}")


def keys(text: str) -> Iterator[SecretHit]:
    """The keys in a text, in order."""
    for word in _LONG.finditer(text):
        for start, end, kind in _in_word(word.group()):
            yield SecretHit(word.start() + start, word.start() + end, kind)


@lru_cache(20_000)
def _in_word(word: str) -> tuple[SecretHit, ...]:
    """Cached: paths and names come again and again."""
    if not _DIGIT.search(word):
        return ()
    found: list[SecretHit] = []
    for match in _KEY.finditer(word):
        if _is_key(match.group()):
            # One may be longer than its pattern knows.
            end = _REST.match(word, match.end())
            assert match.lastindex is not None
            assert end is not None
            found.append(SecretHit(match.start(), end.end(), _KINDS[match.lastindex - 1]))
    return tuple(found)


def _is_key(word: str) -> bool:
    """Whether it is a key and not a name such as `sk-learn-wrapper`, `npm_config_...`."""
    if not _DIGIT.search(word):
        return False
    return not _COMMON.match(word) or _UNBROKEN.search(word) is not None
