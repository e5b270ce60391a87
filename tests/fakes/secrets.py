"""Made-up secrets where people leave them. Made while tests run, so that no scanner finds one."""

import base64
import string
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

_LOWER = string.ascii_lowercase + string.digits
_MIXED = string.ascii_letters + string.digits
_END = "PRIVATE KEY" + "-----"


class Planted(NamedTuple):
    """A text, and what in it is secret."""

    name: str
    text: str
    secret: str


class _Made:
    """Random parts of secrets, each with a letter and a digit."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        while True:
            text = "".join(self._random.choices(alphabet, k=length))
            if any(map(str.isdigit, text)) and any(map(str.isalpha, text)):
                return text

    def mixed(self, length: int) -> str:
        return self.of(_MIXED, length)

    def url_safe(self, length: int) -> str:
        return self.of(_MIXED + "-_", length - 2) + self.mixed(2)

    def lower(self, length: int) -> str:
        return self.of(_LOWER, length)

    def upper(self, length: int) -> str:
        return self.of(string.ascii_uppercase + string.digits, length)

    def hex(self, length: int) -> str:
        return self.of("0123456789abcdef", length)

    def digits(self, length: int) -> str:
        return "".join(self._random.choices("123456789", k=length))

    def base64(self, octets: int) -> str:
        while True:
            text = base64.b64encode(self._random.randbytes(octets)).decode()
            if any(map(str.isdigit, text)):
                return text

    def password(self) -> str:
        """As people make them: a word or two with digits and signs in it."""
        word = self._random.choice(["Winter", "tiger", "Coffee", "rocket", "Juniper", "saffron"])
        word = word.replace(self._random.choice("ei"), "3") + self.digits(2)
        return word + self._random.choice(["x", "!kq", "#Az", "_wq7", "Rz"])

    def pem_lines(self, lines: int = 6) -> str:
        return "\n".join(self.base64(48) for _ in range(lines))

    def uuid(self) -> str:
        return "-".join(map(self.hex, (8, 4, 4, 4, 12)))


def planted(seed: int) -> list[Planted]:
    made = _Made(seed)
    return [*_keys(made), *_values(made), *_blocks(made)]


def _keys(r: _Made) -> Iterator[Planted]:
    """Keys that begin with their maker's mark, in whatever line."""
    found = {
        "1Password": "ops_" + "eyJ" + r.mixed(200),
        "Age": "AGE-SECRET" + "-KEY-1" + r.upper(58),
        "Airtable": "pat" + r.mixed(14) + "." + r.hex(64),
        "Anthropic": "sk-ant-" + "api03-" + r.url_safe(93) + "AA",
        "Atlassian": "ATAT" + "T3xFfGF0" + r.url_safe(180),
        "AWS": "AK" + "IA" + r.upper(16),
        "AWS, for a while": "AS" + "IA" + r.upper(16),
        "Azure": r.mixed(3) + "8Q~" + r.url_safe(34),
        "Bitbucket": "AT" + "BB" + r.mixed(32),
        "Brevo": "xkey" + "sib-" + r.hex(64) + "-" + r.mixed(16),
        "Buildkite": "bk" + "ua_" + r.hex(40),
        "CircleCI": "CCI" + "PAT_" + r.mixed(22) + "_" + r.hex(40),
        "Contentful": "CF" + "PAT-" + r.url_safe(43),
        "Databricks": "da" + "pi" + r.hex(32),
        "Databricks, numbered": "da" + "pi" + r.hex(32) + "-2",
        "DigitalOcean": "dop" + "_v1_" + r.hex(64),
        "DigitalOcean, renewed": "dor" + "_v1_" + r.hex(64),
        "Discord bot": "M" + r.mixed(25) + "." + r.mixed(6) + "." + r.url_safe(38),
        "Discord webhook": f"https://discord.com/api/web{'hooks'}/{r.digits(18)}/{r.url_safe(68)}",
        "Discord, old webhook": f"https://discordapp.com/api/web{'hooks'}/{r.digits(18)}/"
        + r.url_safe(68),
        "Docker Hub": "dckr" + "_pat_" + r.url_safe(27),
        "Doppler": "dp." + "pt." + r.mixed(43),
        "Dynatrace": "dt0" + "c01." + r.upper(24) + "." + r.upper(64),
        "Figma": "fig" + "d_" + r.url_safe(40),
        "Fly": "fm2" + "_" + r.mixed(120),
        "GitHub": "gh" + "p_" + r.mixed(36),
        "GitHub app": "gh" + "s_" + r.mixed(36),
        "GitHub fine-grained": "github" + "_pat_" + r.mixed(22) + "_" + r.mixed(59),
        "GitLab": "gl" + "pat-" + r.url_safe(20),
        "GitLab deploy": "gl" + "dt-" + r.url_safe(20),
        "Google": "AI" + "za" + r.url_safe(35),
        "Google client": "GOC" + "SPX-" + r.url_safe(28),
        "Google for an hour": "ya" + "29." + r.url_safe(160),
        "Grafana": "gl" + "sa_" + r.mixed(32) + "_" + r.hex(8),
        "Grafana Cloud": "gl" + "c_eyJ" + r.mixed(90),
        "Groq": "gs" + "k_" + r.mixed(52),
        "Heroku": "HR" + "KU-" + r.url_safe(60),
        "Hugging Face": "hf" + "_" + r.mixed(34),
        "JSON Web Token": f"ey{'J'}{r.mixed(33)}.ey{'J'}{r.mixed(80)}.{r.url_safe(43)}",
        "LangSmith": "lsv2" + "_pt_" + r.hex(32) + "_" + r.hex(10),
        "Linear": "lin" + "_api_" + r.mixed(40),
        "Mailchimp": r.hex(32) + "-us" + "14",
        "Mailgun": "ke" + "y-" + r.hex(32),
        "Mapbox": "sk" + ".ey" + "J" + r.mixed(80) + "." + r.url_safe(22),
        "Neon": "na" + "pi_" + r.lower(64),
        "Netlify": "nf" + "p_" + r.mixed(36),
        "New Relic": "NR" + "AK-" + r.upper(27),
        "Notion": "nt" + "n_" + r.mixed(46),
        "Notion, older": "secret" + "_" + r.mixed(43),
        "npm": "np" + "m_" + r.mixed(36),
        "NVIDIA": "nv" + "api-" + r.url_safe(64),
        "OpenAI": "sk-" + r.mixed(48),
        "OpenAI project": "sk-" + "proj-" + r.url_safe(60) + r.mixed(40) + r.url_safe(56),
        "OpenRouter": "sk-" + "or-v1-" + r.hex(64),
        "Perplexity": "pp" + "lx-" + r.mixed(48),
        "Pinecone": "pc" + "sk_" + r.mixed(6) + "_" + r.mixed(63),
        "PlanetScale": "pscale" + "_tkn_" + r.url_safe(43),
        "Postman": "PM" + "AK-" + r.hex(24) + "-" + r.hex(34),
        "Pulumi": "pu" + "l-" + r.hex(40),
        "PyPI": "py" + "pi-AgEIcHlwaS5vcmc" + r.url_safe(150),
        "Razorpay": "rzp" + "_live_" + r.mixed(14),
        "Replicate": "r8" + "_" + r.mixed(37),
        "Resend": "re" + "_" + r.mixed(8) + "_" + r.mixed(24),
        "RubyGems": "ruby" + "gems_" + r.hex(48),
        "SendGrid": "S" + "G." + r.url_safe(22) + "." + r.url_safe(43),
        "Sentry": "sntr" + "ys_" + r.mixed(100),
        "Shopify": "shp" + "at_" + r.hex(32),
        "Shopify app": "shp" + "ss_" + r.hex(32),
        "Slack app": "xa" + "pp-1-A" + r.upper(10) + "-" + r.digits(13) + "-" + r.hex(64),
        "Slack bot": "xo" + f"xb-{r.digits(12)}-{r.digits(13)}-" + r.mixed(24),
        "Slack webhook": "https://hooks.slack"
        f".com/services/T{r.upper(8)}/B{r.upper(8)}/" + r.mixed(24),
        "SonarQube": "sq" + "u_" + r.hex(40),
        "Square": "sq0" + "atp-" + r.url_safe(22),
        "Stripe": "sk" + "_live_" + r.mixed(24),
        "Stripe webhook": "wh" + "sec_" + r.mixed(32),
        "Supabase": "sb" + "p_" + r.hex(40),
        "Tailscale": "ts" + "key-auth-" + r.mixed(11) + "-" + r.mixed(32),
        "Tavily": "tv" + "ly-" + r.mixed(32),
        "Telegram": r.digits(10) + ":AA" + r.url_safe(33),
        "Terraform Cloud": r.mixed(14) + ".atlas" + "v1." + r.url_safe(67),
        "Twilio": "S" + "K" + r.hex(32),
        "Vault": "hv" + "s." + r.url_safe(90),
        "Vault batch": "hv" + "b." + r.url_safe(138),
        "xAI": "xa" + "i-" + r.mixed(80),
    }
    lines = ["{}", "The key is {}, use it.", "key={}\n", '{{"a": "{}"}}', "+{}\n", "a\n-{}\nb"]
    for at, (name, secret) in enumerate(found.items()):
        yield Planted(name, lines[at % len(lines)].format(secret), secret)


def _values(r: _Made) -> Iterator[Planted]:
    """Values that only what stands around them tells of."""
    office = f"{r.uuid()}@{r.uuid()}/IncomingWebhook/{r.hex(32)}/{r.uuid()}"
    texts = {
        "AWS credentials": ("[default]\naws_secret_access_key = {}\n", r.base64(30)),
        "AWS credentials, tight": ("aws_secret_access_key={}\nregion=eu-west-1", r.base64(30)),
        "AWS session": ("aws_session_token = {}\n", r.base64(120)),
        "AWS, signed address": ("https://b.s3.amazonaws.com/k?X-Amz-Signature={}&x=1", r.hex(64)),
        "Azure SAS": (
            "https://a.blob.core.windows.net/c/f?sv=2023-01-03&se=2026-01-01T00%3A00%3A00Z&sig={}",
            r.mixed(42) + "%3D",
        ),
        "Azure storage": (
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core",
            r.base64(64),
        ),
        "Azure Service Bus": (
            "Endpoint=sb://a.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
            r.base64(32),
        ),
        "Redis without a user": ("REDIS_URL=redis://:{}@cache.internal:6379/0", r.password()),
        "Postgres": ("postgres://app:{}@db.internal:5432/shop", r.password()),
        "MongoDB": ("mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/test", r.mixed(16)),
        "AMQP": ("amqps://svc:{}@mq.internal/vhost", r.password()),
        "Git remote": ("origin  https://x-access-token:{}@github.com/a/b (fetch)", r.mixed(40)),
        "YAML": ("database:\n  user: app\n  password: {}\n  port: 5432\n", r.password()),
        "YAML, first": ("password: {}", r.password()),
        "YAML, quoted": ("  password: '{}'\n", r.password()),
        "YAML with a comment": ("smtp:\n  password: {}  # rotate in May\n", r.password()),
        "YAML in a list": ("env:\n- name: a\n- password: {}\n", r.password()),
        "YAML, read with line numbers": ("  11  db:\n  12    password: {}\n", r.password()),
        "YAML, found by grep": ("conf/db.yml:12:  password: {}\n", r.password()),
        "YAML, removed": ("-  db_password: {}\n+  db_password: ${{DB}}\n", r.password()),
        "Compose": ("    environment:\n      POSTGRES_PASSWORD: {}\n", r.password()),
        "Kubernetes secret": ("kind: Secret\ndata:\n  api-key: {}\n", r.base64(24)),
        "kubeconfig token": ("users:\n- name: admin\n  user:\n    token: {}\n", r.mixed(64)),
        "kubeconfig token, Rancher": ("    token: {}\n", f"kubeconfig-user-x7q2b:{r.lower(54)}"),
        "kubeconfig key": (
            "    client-key-data: {}\n",
            "LS0tLS1CRUdJTi" + "BSU0EgUFJJVkFURSBLRVktLS0tLQ" + r.mixed(200) + "==",
        ),
        "properties": ("spring.datasource.password={}\n", r.password()),
        "ini": ("[mysql]\nuser = root\npassword = {}\n", r.password()),
        "TOML": ('secret_key = "{}"\n', r.url_safe(50)),
        "Terraform": ('variable "db" {{\n  password = "{}"\n}}', r.password()),
        "env": ("DB_HOST=x\nDB_PASSWORD={}\nDB_PORT=1", r.password()),
        "env, prefixed": ("STRIPE_API_KEY_LIVE={}\n", r.mixed(32)),
        "env, exported": ("export SECRET_KEY_BASE={}\n", r.hex(64)),
        "env in a Dockerfile": ("ENV JWT_SECRET={}\nRUN x", r.mixed(40)),
        "env of a command": ("PGPASSWORD={} psql -h db -U app", r.password()),
        "JSON": ('{{"user": "a", "password": "{}"}}', r.password()),
        "JSON in JSON": ('{{"content": "{{\\"api_key\\": \\"{}\\"}}"}}', r.hex(32)),
        "YAML in JSON": ('{{"content": "db:\\n  password: {}\\n  port: 1\\n"}}', r.password()),
        "JavaScript": ("const client = new Client({{ apiKey: '{}' }});", r.mixed(32)),
        "Python": ('client = Client(token="{}")', r.mixed(32)),
        "Python settings": ("SECRET_KEY = '{}'", r.mixed(50)),
        "C#": ('Server=db;User Id=sa;Password={};Encrypt=true"', r.password()),
        "JDBC": ("jdbc:mysql://db:3306/x?user=app&password={}&ssl=true", r.password()),
        "XML": ("<server><username>ci</username><password>{}</password></server>", r.password()),
        ".NET configuration": ('<add key="ApiKey" value="{}" />', r.mixed(32)),
        "header of an API key": ("X-API-Key: {}\nAccept: */*", r.mixed(32)),
        "header in a command": ("curl -H 'X-API-Key: {}' https://a.example", r.lower(24)),
        "header in code": ('headers = {{"X-Api-Key": "{}"}}', r.mixed(24)),
        "header of GitLab": ('curl --header "PRIVATE-TOKEN: {}" https://g.example', r.mixed(20)),
        "header with a bearer": ("Authorization: Bearer {}", r.mixed(40)),
        "header with a token": ("Authorization: token {}", r.hex(40)),
        "header with a scheme of its own": ("authorization: ApiKey {}", r.base64(33)),
        "basic authorization": (
            "Authorization: Basic {}",
            base64.b64encode(f"ci:{r.password()}".encode()).decode(),
        ),
        ".netrc": ("machine git.example login ci password {}\n", r.password()),
        ".netrc on lines": ("machine git.example\n  login ci\n  password {}\n", r.password()),
        ".npmrc": ("//registry.example/:_authToken={}\n", r.uuid()),
        ".npmrc, older": ("_auth={}\n", base64.b64encode(f"ci:{r.password()}".encode()).decode()),
        ".pypirc": ("[pypi]\nusername = a\npassword = {}\n", r.password()),
        "Docker login": (
            '{{"auths": {{"https://index.docker.io/v1/": {{"auth": "{}"}}}}}}',
            base64.b64encode(f"ada:{r.password()}".encode()).decode(),
        ),
        "mysql -p": ("mysql -h db -u root -p{} shop", r.password()),
        "mysqldump -p": ("mysqldump -uroot -p'{}' shop > dump.sql", r.password()),
        "curl -u": ("curl -u admin:{} https://a.example/api", r.password()),
        "curl -u after the address": ("curl -s https://a.example/?a=1 -u 'ci:{}'", r.password()),
        "curl --user": ('curl -X POST --user "ci:{}" https://a.example', r.password()),
        "sshpass": ("sshpass -p {} ssh deploy@10.0.0.7", r.password()),
        "redis-cli": ("redis-cli -h cache -a {} ping", r.password()),
        "docker login -p": ("docker login -u ada -p {} r.example", r.password()),
        "flag of a password": ("backup --user a --password {} now", r.password()),
        "flag of a token": ("deploy --token={} --prod", r.mixed(32)),
        "flag of an API key": ('tool --api-key "{}"', r.mixed(32)),
        "cookie": ("Cookie: theme=dark; session={}; lang=en", r.mixed(32)),
        "cookie that is set": ("Set-Cookie: sid={}; Path=/; HttpOnly", "s%3A" + r.mixed(32)),
        "cookie in a command": ("curl -H 'Cookie: PHPSESSID={}' https://a.example", r.lower(26)),
        "cookie of a flag": ('curl --cookie "auth={}" https://a.example', r.hex(40)),
        "parameter": ("GET /feed?user=7&access_token={}&page=2 HTTP/1.1", r.mixed(32)),
        "parameter of a form": ("grant_type=x&client_secret={}&scope=a", r.mixed(40)),
        "Heroku, older": ("HEROKU_API_KEY={}", r.uuid()),
        "WireGuard": ("[Interface]\nPrivateKey = {}\n", r.base64(32)),
        "Google refresh": ('"refresh_token": "{}"', "1//" + "0g" + r.url_safe(98)),
        "Teams webhook": (
            "notify {}",
            "https://acme.webhook.office.com/webhookb2/" + office,
        ),
        "Zapier webhook": ("POST {}/", f"https://hooks.zapier.com/hooks/catch/123456/{r.lower(7)}"),
        "prose": ("Your new password is: {}\nPlease change it.", r.password()),
        "log": ("INFO connect user=app password={} host=db", r.password()),
    }
    for name, (text, secret) in texts.items():
        yield Planted(name, text.format(secret), secret)


def _blocks(r: _Made) -> Iterator[Planted]:
    """Private keys, whole and in part."""
    head, tail = "-----BEGIN RSA " + _END, "-----END RSA " + _END
    der = {"RSA": "MIIEpAIB" + "AAKCAQEA", "PKCS #8": "MIIEvQIB" + "ADANBgkqhkiG9w0BAQEFAASC"}
    whole = f"{head}\n{r.pem_lines()}\n{tail}"
    yield Planted("PEM", f"a\n{whole}\nb", whole)
    folded = whole.replace("\n", "\\n")
    yield Planted("PEM in JSON", f'{{"private_key": "{folded}\\n"}}', folded)
    cut = f"{head}\n{r.pem_lines()}"
    yield Planted("PEM without its end", cut, cut)
    rest = f"{r.pem_lines()}\n{tail}"
    yield Planted("PEM without its head", f"$ tail -7 id_rsa\n{rest}\n$", rest)
    sealed = rest.replace("\n", "\\n")
    yield Planted("PEM without its head in JSON", f'{{"output": "{sealed}\\n"}}', sealed)
    for name, begins in der.items():
        inner = begins + r.pem_lines()[len(begins) :]
        yield Planted(f"{name} key without head and end", f"x = (\n{inner}\n)", inner)
    inner = "b3BlbnNzaC1rZXktdjE" + "AAAAA" + r.mixed(40) + "\n" + r.pem_lines()
    yield Planted("OpenSSH key without head and end", f"cat key\n{inner}\n", inner)
    numbered = "\n".join(f"{at:>4}\t{line}" for at, line in enumerate(whole.split("\n"), 1))
    yield Planted("PEM, read with line numbers", numbered, numbered.split("\t", 1)[1])
