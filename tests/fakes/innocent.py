"""What looks like a secret and is none: what sessions are full of."""

import base64
import hashlib
from collections.abc import Iterator
from random import Random
from uuid import UUID

WRITTEN = r"""
password = os.environ["DB_PASSWORD"]
password: str | None = None
password: string;
password: String,
password: z.string().min(8),
password: { type: String, required: true, minlength: 8 },
password: hashed_password2,
password = getpass.getpass("Password: ")
password = request.form.get("password2")
password=password
password=${DB_PASSWORD}
password: ${{ secrets.DB_PASSWORD_2 }}
password: {{ .Values.postgresql.auth.password1 }}
password: <your-password-1>
password: "********"
password: "changeme"
password: "password123"
password: !vault |
password: *default_password1
password: None
password_hash = bcrypt.hashpw(password.encode("utf8"), salt)
password_min_length: 12
password_reset_timeout = 3600
passwordField: "PasswordInput2"
self.password = password or self._password2
if password == confirm_password2:
raise ValueError("password must be at least 8 characters")
def test_login_with_wrong_password_returns_401(client):
test_password_reset_token_expires_after_24h PASSED
tests/auth/test_password.py::test_password_is_hashed_with_argon2id PASSED
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = []
DB_PASSWORD=
DB_PASSWORD=changeme
DB_PASSWORD=$(cat /run/secrets/db_password1)
DB_PASSWORD_FILE=/run/secrets/db_password_v2
MYSQL_PWD=$MYSQL_ROOT_PASSWORD
PWD=/home/ada/project2
pwd: /home/ada/work/api-v2
export PASSWORD_STORE_DIR=$HOME/.password-store2
token = secrets.token_urlsafe(32)
token: string | undefined
token: Uint8Array
token: process.env.TOKEN2,
token: ${{ secrets.GITHUB_TOKEN }}
token: "<token-goes-here-1>"
token: "test-token-123"
token = tokens[2]
token = next(tokens1)
token=None
token := scanner.Scan()
token.type === TokenType.Int64
const token = await getToken({ audience: "api2" });
const [token1, token2] = line.split(" ");
let token = self.peek_token2();
tokens: 128000
tokens: 12k of 200k
max_tokens: "128000 or so"
max_tokens: 4096
"max_completion_tokens": 16384
"tokenizer_class": "GPT2TokenizerFast"
"token_type": "x509v3cert"
"token_endpoint": "https://auth.example.com/oauth2/token"
"token_count": "12345abc"
"next_page_token": "CAUQAA1x2y3z4w5v"
nextPageToken: "CAUQAA1x2y3z4w5v"
tokenizer = AutoTokenizer.from_pretrained("gpt2")
TOKEN_LIMIT=128000
TOKEN_EXPIRY=30d12h
TOKEN_URL=https://auth.example.com/v2/token
ACCESS_TOKEN_LIFETIME=timedelta_15m
Bearer tokens are sent in the authorization header
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${API_TOKEN_V2}
Authorization: Basic {credentials}
"Authorization": f"Bearer {self.token2}"
"WWW-Authenticate: Bearer realm=api2"
securitySchemes: bearerAuth: type: http, scheme: bearer
secret: string
secretName: my-app-tls-v2
secretKeyRef: name: db-credentials-2
secret: my-app-secret-1
secrets: inherit
secret_id = aws_secretsmanager_secret.db2.id
secret_arn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbC123
SECRET_NAME=prod/db1/password
def secret_santa(token: str) -> str: ...
The secret of this algorithm is in step 2b.
const SECRET_LENGTH = 32;
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
OPENAI_API_KEY=$OPENAI_API_KEY
OPENAI_API_KEY=your-api-key-1
OPENAI_API_KEY=your_openai_api_key_here_2024
ANTHROPIC_API_KEY="sk-ant-your-key-here"
apiKey: "${OPENAI_API_KEY}"
apiKey: process.env.OPENAI_API_KEY!,
api_key = config.get("api_key2")
api_key: Optional[str] = Field(default=None)
api_key="YOUR_API_KEY_1"
api_key_env = "MY_KEY_2"
API_KEY_HEADER=X-API-Key2
"api_key_id": "key-prod-2024"
X-API-Key: <key>
X-API-Key: {{api_key_v2}}
X-Api-Key: your-api-key-1
access_key = item.access_key2
access-key-rotation: every-90-days
AccessKeyId: example1
ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID}
private_key_path = "~/.ssh/id_ed25519"
PRIVATE_KEY_FILE=/etc/ssl/private/server1.key
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----
-----END CERTIFICATE-----
ssh-keygen -t ed25519 -C ada@example.com -f ~/.ssh/id_ed25519
primary_key=True, auto_increment=1
foreign key (user_id) references users2 (id)
key: "user:1234:profile-v2"
keys = sorted(data2.keys())
partition_key = f"tenant#{tenant_id}#2024"
sort_key: created_at_desc_2
cache-key: node-modules-v3-linux-x64
idempotency_key2 = uuid4()
KeyError: 'user_id_2'
signature = inspect.signature(function2)
sig=42
&sig=true&x=1
credentials: "include"
credentials: same-origin
credential_process = /usr/local/bin/creds2 --profile dev
auth: { user, pass }
"auth": "oauth2"
"auth": "none"
"auth": {"type": "bearer2"}
auth = HTTPBasicAuth(user2, password2)
auth: required2
_auth=${NPM_AUTH_2}
//registry.npmjs.org/:_authToken=${NPM_TOKEN}
https://user:${PASSWORD}@example.com
https://user:$PASS2@example.com/repo.git
https://<user>:<password>@example.com
https://{user}:{password}@{host}:5432/db
https://user:***@example.com
postgres://user:password@localhost:5432/app
postgresql://localhost:5432/app_test2
postgresql+asyncpg://db2.internal/app
redis://localhost:6379/0
redis://cache-2:6379
mongodb://localhost:27017,localhost:27018/?replicaSet=rs0
amqp://guest@localhost:5672//
http://localhost:8080/a@b
http://127.0.0.1:8000/v1/models
https://[2001:db8::1]:8443/path2
ssh://git@github.com:22/owner/repo2.git
git@github.com:owner/repo2.git
git+ssh://git@gitlab.com/group/project2.git@v1.2.3
npm:@scope/name@1.2.3
docker.io/library/postgres:16.4-alpine3.20
ghcr.io/owner/app@sha256:0f3c1a9d4be27586c3f0a1d2e4b5c6978899aabbccddeeff0011223344556677
mysql -u root -p shop2
mysql -h 127.0.0.1 -P 3307 -u app2 --protocol=tcp
mysql -u root -p"$MYSQL_PASSWORD" shop2
mysqldump --single-transaction -u root -p shop2 > dump2.sql
mkdir -p build2/output3
mkdir -pv a1/b2/c3
cp -p file1 file2
ssh -p 2222 deploy@host1
docker run -p 8080:80 nginx1
docker run --rm -p 127.0.0.1:5433:5432 -e POSTGRES_PASSWORD postgres:16
docker login -u ada --password-stdin ghcr.io
psql -p 5433 -U app2 -d shop2
redis-cli -h cache2 -p 6380 ping
rsync -avp src1/ dst2/
pytest -p no:cacheprovider -k test2
curl -u "$USER:$PASS" https://example.com/api/v2
curl -u admin https://example.com/api/v2
curl -u ${USER2}:${PASS2} https://example.com
curl -sS -X POST -d '{"a": 1}' https://example.com/v2/items
curl -H "Authorization: Bearer $TOKEN2" https://example.com
curl -H "X-API-Key: $KEY2" https://example.com
curl --user-agent "curl/8.5.0" https://example.com/v2
python -u main2.py
sort -u file2.txt
git push -u origin feature/login-v2
useradd -u 1001 -g 1001 app2
wget -qO- https://example.com/install2.sh
machine learning at scale with 8 GPUs and password protection2
machine example.com
login page requires a password field2
login ada password
Cookie: theme=dark; lang=en
Cookie consent banner: v2
Set-Cookie: theme=dark; Path=/; Max-Age=31536000; Expires=Wed, 21 Oct 2026 07:28:00 GMT
Set-Cookie: lang=en-GB; SameSite=Lax
cookie: string2
document.cookie = name + "=" + value2
cookies: { secure: true, sameSite: "lax" }
--token-limit 128000
--tokens 4096
--password-file /run/secrets/pg2
--secret id=npmrc,src=.npmrc2
--api-key-env MY_KEY2
--token "$TOKEN2"
risk-assessment-2024-final-version-3
task-runner/node_modules/.pnpm/sk-learn-wrapper@1.0.0/index.js
sk-learn-compatible-estimators-v2-and-pipelines
/usr/lib/x86_64-linux-gnu/libcrypto.so.3
key-value-store-with-32-shards
re_compile_all_patterns_in_utf8_mode2
hf_transfer_enabled_by_default_since_v0_30
npm_config_registry_url_for_scope_2
npm_package_config_port_8080
gsk_probe_value_from_window_v2
glsa_index_of_first_match_2
dapi_client_for_rest_v2
hvs.rs:120
ya29 is how such a token begins
s.split(".")[2]
sq_exp_kernel_with_lengthscale_0_5
pat_recognition_with_2_layers
figd_export_all_frames_as_png_2x
fc-match -s monospace:pixelsize=12
pk_live_is_public_anyway
whsec_ stands before the secret of a webhook
lin_api_version_2024_10_is_the_newest
dp.version.number.is.2.0.1
pul-request-numbers-are-1234
SG.1 and SG.2 are the two groups
AC0 to AC3 are the power states
SKU1234567890
SKILL_LEVEL_2_REQUIRED_FOR_ACCESS
AKIA is how the id of an AWS key begins
ASIAN_MARKET_REGION_2
MIIE is how many certificates begin
eyJ is base64 for {"
eyJhIjoxfQ==
call_8hG2kLmN3pQ4rS5tU6vW7xY8
toolu_01A2b3C4d5E6f7G8h9J0k1L2
chatcmpl-9aB8cD7eF6gH5iJ4kL3mN2oP1qR
resp_68f3a1c9e0b7d25468f3a1c9e0b7d254
msg_01XyZ2aBcD3eFgH4iJkL5mNo
req_011CQ2aBcD3eFgH4iJkL5mNo
file-9aB8cD7eF6gH5iJ4kL3mN2oP
run_id: 17394820193
job-id: build-linux-x64-20261104
session_id: "0197f3a2-7c10-7d2e-9b1e-0123456789ab"
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
Content-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==
integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"
content-security-policy: script-src 'nonce-r4nd0mV4lu3' 'strict-dynamic'
Sec-WebSocket-Key: <16 random bytes>
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDhA1x2y3z4 ada@laptop2
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2k3l4m5n6o7p8q9r0s1t2u3v4w5x6y7z8A9B0C1D2E ada@laptop2
SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8
certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM1ekNDQWMrZ0F3
client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURFakNDQWZxZ0F3
PublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=
gpg: key 3AA5C34371567BD2: public key "Ada <ada@example.com>" imported
Private-Lines: 14
ERC20Token token = new ERC20Token(18);
0xdAC17F958D2ee523a2206206994597C13D831ec7 is a contract
bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq
192.168.100.200:8443
fe80::1ff:fe23:4567:890a%eth2
user@example.com, password reset sent
1,234,567 tokens in 89 requests
Die Sitzung läuft in 30 Minuten ab; das Passwort: mindestens 12 Zeichen.
Das Token wird alle 24 Stunden erneuert, der Schlüssel nie.
Passwort: bitte zweimal eingeben
Le mot de passe doit contenir au moins 8 caractères, dont 1 chiffre.
Mot de passe : 12 caractères au moins
La contraseña debe tener al menos 8 caracteres y 1 número.
contraseña: opcional
Hasło musi mieć co najmniej 8 znaków.
Пароль должен содержать не менее 8 символов.
Пароль: обязательно
密码至少需要8个字符,并且包含数字。
密码:必填
パスワードは8文字以上で入力してください。
비밀번호는 8자 이상이어야 합니다.
كلمة المرور يجب أن تتكون من 8 أحرف على الأقل
הסיסמה חייבת להכיל לפחות 8 תווים
Şifre en az 8 karakter olmalıdır.
Mật khẩu phải có ít nhất 8 ký tự.
"""

_WORDS = [
    "parser",
    "session",
    "window",
    "token",
    "secret",
    "password",
    "key",
    "account",
    "request",
    "response",
    "handler",
    "buffer",
    "client",
    "server",
    "worker",
    "queue",
    "index",
    "cache",
    "render",
    "layout",
    "widget",
    "theme",
    "commit",
    "branch",
    "merge",
]
_LIBRARIES = [
    "requests",
    "urllib3",
    "click",
    "rich",
    "numpy",
    "pandas",
    "aiohttp",
    "pydantic",
    "httpx",
    "attrs",
]


def innocent() -> list[str]:
    return [*filter(None, WRITTEN.split("\n")), *_made(Random(7))]


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
