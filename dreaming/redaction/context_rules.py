"""Credentials that only what stands around them gives away: these hold a transcript."""

from __future__ import annotations

from typing import Final

from dreaming.redaction import proofs, values
from dreaming.redaction.proofs import Proof
from dreaming.redaction.rules import MEDIUM, Rule

_RAW_QUOTE: Final = r"[\\\"'`]{0,18}"
"""A quote as it stands in a transcript: with the backslashes of every string it lies in."""
_RAW_SPACE: Final = r"(?:\s|\\{1,8}[nrt]){1,8}"
_PASSWORD: Final = r"[^\s\"'`$\\<>]"


def after(
    name: str,
    lead: str,
    least: int,
    proof: Proof,
    *,
    example: str,
    counterexample: str,
    source: str,
    only: str = "",
    value: str = _PASSWORD,
    end: str = "",
    is_not: str = "a variable, a placeholder, everybody's default",
    before: int = 200,
    many_lines: bool = False,
) -> Rule:
    """Make the rule of a value that follows its ``lead``.

    In a lead ``{q}`` stands for a quote or none, ``{qq}`` for one or two, ``{s}`` for space,
    ``{n}`` for a secret's name. ``only`` is what must stand further left; it takes no part in the
    anchor. The value has at least ``least`` characters.
    """
    raw = lead.replace(r"\b", "")  # in raw bytes the letter of an escape may stand before a word
    raw = raw.replace("{q}", _RAW_QUOTE).replace("{s}", _RAW_SPACE).replace("{n}", _NAMES)
    raw = raw.replace("{qq}", _RAW_QUOTE.replace("{0,", "{1,"))
    plain = lead.replace("{q}", "[\"'`]{0,2}").replace("{s}", r"\s+").replace("{n}", _NAME_ENDS)
    plain = plain.replace("{qq}", "[\"'`]{1,2}")
    return Rule(
        name=name,
        severity=MEDIUM,
        anchors=(f"(?i){raw}{value}{{{min(least, 8)}}}",),
        shape=f"(?i:{only}{plain})(?P<value>{value}{{{least},200}}{end})",
        proof=proof,
        is_not=is_not,
        example=example,
        counterexample=counterexample,
        source=source,
        before=before,
        many_lines=many_lines,
        bounded=False,
    )


_KEYS: Final = (
    "access|account|admin|api|app|application|auth|client|consumer|cookie|deploy|encryption|hmac|jwt|"
    "license|master|preshared|private|secret|service|session|signing|storage|stream|subscription|webhook"
)
_NAMES: Final = (
    f"(?:{_KEYS})[_-]?key|apikey|credential|creds|_pass|-pass|passcode|passphrase|passwd|password|pwd|"
    "secret|token"
)
_NAME_ENDS: Final = (
    rf"key(?=[a-z0-9_]{{0,16}}[\"'`\] ]{{0,7}}(?:[:=,]|value=))(?<=(?:{_KEYS})[_-]?key)|"
    "credential|creds|pass(?:code|phrase|wd|word)|(?<=[_-])pass|pwd|secret|token"
)
"""The same names, known by their last word: three times faster to look for."""
_BASE64: Final = "[A-Za-z0-9+/]"

CONTEXTS: Final = (
    after(
        "assigned-secret",
        "(?P<name>(?:{n})[a-z0-9_]{0,16}){q}\\]?{q} {0,4}(?::=|=>|[:=]) {0,4}{q}",
        8,
        values.assigned,
        value=r"[^\s\"'`\\,;&<>(){}\[\]]",
        is_not="code, a reference, a path, a word, a number, a uuid, a placeholder",
        example='DB_PASSWORD="{A8}7{A8}4{A3}"',
        counterexample="password = form.password_field",
        source="observed in transcripts",
    ),
    after(
        "paired-secret",
        "(?P<name>(?:{n})[a-z0-9_]{0,16}){qq}(?:,| {1,2}value=) {0,4}{qq}",
        8,
        values.assigned,
        value=r"[^\s\"'`\\,;&<>(){}\[\]]",
        is_not="code, a reference, a path, a word, a number, a uuid, a placeholder",
        example='settings.set("db_password", "{A8}7{A8}4{A3}")',
        counterexample='settings.set("db_password", "password")',
        source="observed in transcripts",
    ),
    after(
        "named-key",
        r"(?P<name>[a-z0-9][_.-]?key|auth){q}\]?{q} {0,4}(?::=|=>|[:=,]) {0,4}{q}{q}",
        20,
        values.named_key,
        value=r"[A-Za-z0-9+/_.=-]",
        is_not="a hash, an id, a path, a key of a table or of a cache",
        example='CMS_KEY="{A8}7{A8}4{A3}7{A3}"',
        counterexample='cache_key="{A8}7{A8}4{A3}7{A3}"',
        source="observed in transcripts",
    ),
    after(
        "basic-credentials",
        r"\bbasic\s",
        10,
        proofs.basic_credentials,
        value=_BASE64,
        end="={0,2}",
        is_not="base64 that does not decode to user and password",
        example="Authorization: Basic ZGVwbG95Ok" + "1YcVJ0OHZL",
        counterexample="Authorization: Basic {A20}",
        source="RFC 7617",
    ),
    after(
        "docker-credentials",
        r"\bauth{q}\s?:\s?{q}",
        10,
        proofs.basic_credentials,
        value=_BASE64,
        end="={0,2}",
        is_not="base64 that does not decode to user and password",
        example='{"auths":{"registry":{"auth":"ZGVwbG95Ok' + '1YcVJ0OHZL"}}}',
        counterexample='{"auth":"{A20}"}',
        source="Docker configuration file",
    ),
    after(
        "bearer-token",
        r"\bbearer\s",
        20,
        values.bearer,
        value="[A-Za-z0-9._~+/-]",
        end="={0,2}",
        is_not="a variable, a placeholder, a word",
        example="Authorization: Bearer {A17}3{A17}8{A4}",
        counterexample="Authorization: Bearer authentication_token_value",
        source="RFC 6750",
    ),
    after(
        "authorization-token",
        r"authorization{q}\s?[:=,]\s?{q}[a-z][a-z-]{2,15}\s(?:token=)?{q}",
        16,
        values.authorization,
        value="[A-Za-z0-9._~+/-]",
        end="={0,2}",
        is_not="a variable, a placeholder, a word, a scheme with rules of its own",
        example="Authorization: GenieKey {h8}-{h4}-{h4}-{h4}-{h12}",
        counterexample="Authorization: Token authentication_token_value",
        source="RFC 9110",
    ),
    after(
        "element-secret",
        r"<[\w.:-]{0,24}?(?P<name>{n})>",
        8,
        values.assigned,
        is_not="a word, a reference, a number, a uuid, a placeholder",
        example="<server><password>{A8}7{A8}4{A3}</password></server>",
        counterexample="<server><password>${{env.PASSWORD}}</password></server>",
        source="Maven settings",
    ),
    after(
        "secure-string",
        r"ConvertTo-SecureString\s(?:-String\s)?{qq}",
        8,
        values.password_given,
        example='ConvertTo-SecureString "{A8}7{A8}4" -AsPlainText',
        counterexample='ConvertTo-SecureString "$password" -AsPlainText',
        source="PowerShell manual",
    ),
    after(
        "google-key-id",
        r"private_key_id{qq}\s?:\s?{qq}",
        40,
        proofs.random_looking(3.0),
        value="[a-f0-9]",
        is_not="a placeholder",
        example='{"type":"service_account","private_key_id":"{h40}",',
        counterexample='{"type":"service_account","private_key_id":"",',
        source="Google service account keys: the part before the key",
    ),
    after(
        "curl-user",
        r"\s(?:-[a-z]{0,6}u|--user|--proxy-user)[= ]{q}\w[\w.@+-]{0,60}:",
        4,
        values.password_given,
        only=r"\b(?:curl|wget|https?|xh)\b(?:[^\n]|\\\n){0,150}?",
        example="curl -s -u deploy:{A8}5{A5} https://db.acme.io/",
        counterexample="curl -u user:password https://db.acme.io/",
        source="curl manual",
        before=260,
        many_lines=True,
    ),
    after(
        "password-option",
        r"[\s\"',=]--?(?P<name>api-?key|pass|passwd|password|secret|token)(?:=|{s}){q}",
        6,
        values.spoken_password,
        is_not="a variable, a placeholder, a word",
        example="az login --username app --password {A8}5{A5}",
        counterexample="az login --username app --password $PASSWORD",
        source="observed in transcripts",
    ),
    after(
        "mysql-password",
        r"\b(?:mariadb|mysql)[a-z]{0,8}\s(?:[^\n\"\\]{0,120}\s)?-p{q}",
        5,
        values.password_given,
        example="mysql -h db.acme.io -u app -p{A8}5{A5} -e 'select 1'",
        counterexample="mysql -h db.acme.io -u root -ppassword",
        source="MySQL manual",
    ),
    after(
        "password-variable",
        r"\b(?:MYSQL_PWD|PGPASSWORD|REDISCLI_AUTH|SSHPASS)={q}",
        5,
        values.password_given,
        example="PGPASSWORD={A8}5{A5} psql -h db.acme.io",
        counterexample="PGPASSWORD=postgres psql -h db.acme.io",
        source="the tools' manuals",
    ),
    after(
        "sshpass",
        r"\bsshpass\s{1,3}-p\s?{q}",
        4,
        values.password_given,
        example="sshpass -p '{A8}5{A5}' ssh root@db.acme.io",
        counterexample="sshpass -p 'password' ssh root@db.acme.io",
        source="sshpass manual",
    ),
    after(
        "netrc",
        r"login{s}(?P<name>[^\s\\]{1,80}){s}password{s}",
        4,
        values.login_password,
        is_not="prose",
        example="machine db.acme.io login app password {A8}5{A5}",
        counterexample="login form password field",
        source="netrc manual",
        many_lines=True,
    ),
    after(
        "pgpass-line",
        r"(?:\.[a-z]{2,20}|localhost|\*):(?:543\d|6432|6543|25060|\*):[\w*]{1,40}:[\w-]{1,40}:",
        6,
        values.password_given,
        is_not="ids joined by colons",
        example="db.acme.io:5432:app:svc:{A8}5{A5}",
        counterexample="localhost:5432:app:svc:password",
        source="PostgreSQL manual",
    ),
    after(
        "spoken-password",
        r"\bpass(?:code|phrase|word)\s(?:be|is|to|was)\s{q}",
        8,
        values.spoken_password,
        is_not="a word",
        example="the admin password is {A8}5{A5} , use it",
        counterexample="the password is required in production",
        source="observed in transcripts",
    ),
    after(
        "wireguard-key",
        r"\b(?:Preshared|Private)Key\s?=\s?",
        43,
        proofs.random_looking(3.8),
        value=_BASE64,
        end="=",
        is_not="a placeholder",
        example="[Interface]\nPrivateKey = {B43}=\n",
        counterexample="PrivateKey = <your key>",
        source="WireGuard quick start",
    ),
    after(
        "session-cookie",
        r"cookie{q}:\s?{q}[^\n\"]{0,200}?(?:auth|sess|session|sid|token)[\w.-]{0,12}=",
        24,
        proofs.mixed(3.5),
        value="[A-Za-z0-9%._-]",
        is_not="a placeholder",
        example="Cookie: session={U40}4; theme=dark",
        counterexample="Cookie: session=",
        source="RFC 6265",
        before=400,
    ),
    after(
        "azure-signature",
        r"[?&]s[epv]=[^\s\"]{2,300}&sig=",
        43,
        proofs.random_looking(3.8),
        value="[A-Za-z0-9%/+]",
        is_not="a placeholder",
        example="https://a.blob.core.windows.net/c?sv=2024-11-04&se=2027-01-01&sig={A43}%3D",
        counterexample="https://a.blob.core.windows.net/c?sv=2024-11-04&se=2027-01-01&sig=",
        source="Azure shared access signatures",
        before=400,
    ),
    Rule(
        name="kubernetes-secret",
        severity=MEDIUM,
        anchors=(rf"(?i)kind{_RAW_QUOTE}:\s?{_RAW_QUOTE}secret[\"\\\s,]",),
        shape=r"(?i:kind\"?:\s?\"?secret\b)(?:(?!kind)[\s\S]){0,400}?\bdata\"?:\s{0,8}\{?"
        r"[\s+|>\d:-]{0,20}\"?[\w.-]{1,60}\"?:\s?\"?(?P<value>[A-Za-z0-9+/]{8,}={0,2})",
        proof=values.encoded_value,
        is_not="a manifest without data",
        example="kind: Secret\nmetadata:\n  name: db\ndata:\n  password: {A15}7{A15}9\n",
        counterexample="kind: Secret\nmetadata:\n  name: db\n",
        source="Kubernetes API",
        before=60,
        after=900,
        many_lines=True,
        bounded=False,
    ),
)
