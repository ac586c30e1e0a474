"""Credentials that only what stands around them gives away: these hold a transcript."""

from __future__ import annotations

from typing import Final

from dreaming.redaction import proofs, values
from dreaming.redaction.rules import MEDIUM, Rule

_KINDS: Final = (
    "api|access|auth|private|secret|encryption|signing|license|account|stream|subscription|preshared|master|"
    "session|app|application|consumer|service|deploy|admin|client|storage|webhook|hmac|jwt|cookie"
)
_NAMES: Final = (
    f"pass(?:word|wd|phrase|code)|pwd|secret|token|credential|apikey|(?:{_KINDS})[_-]?key|[_-]pass"
)
_ESCAPED_QUOTES: Final = "[\"'`\\\\\\] ]{0,18}"
_VALUE: Final = r"[^\s\"'`,;&<>(){}\[\]]"
_RAW_VALUE: Final = r"[^\s\"'`\\,;&<>(){}\[\]]"

CONTEXTS: Final = (
    Rule(
        name="assigned-secret",
        severity=MEDIUM,
        anchors=(
            f"(?i)(?:{_NAMES})[A-Za-z0-9_]{{0,16}}{_ESCAPED_QUOTES}(?:[:=]|=>)"
            f"[\"'`\\\\ >]{{0,18}}{_RAW_VALUE}{{8}}",
        ),
        shape=f"(?P<name>(?i:{_NAMES})[A-Za-z0-9_]{{0,16}})[\"'`\\]]{{0,2}}\\s{{0,4}}(?::=|=>|[:=])"
        f"\\s{{0,4}}[\"'`]?(?P<value>{_VALUE}{{8,200}})",
        proof=values.assigned,
        is_not="code, a reference, a path, a word, a number, a uuid, a placeholder",
        example='DB_PASSWORD="{A8}7{A8}4{A3}"',
        counterexample="password = form.password_field",
        source="observed in transcripts",
        before=110,
        after=220,
        bounded=False,
    ),
    Rule(
        name="basic-credentials",
        severity=MEDIUM,
        anchors=(r"(?i)basic [A-Za-z0-9+/]{8}",),
        shape=r"(?i:basic)\s(?P<value>[A-Za-z0-9+/]{10,}={0,2})",
        proof=proofs.basic_credentials,
        is_not="base64 that does not decode to user and password",
        example="Authorization: Basic ZGVwbG95Ok" + "1YcVJ0OHZL",
        counterexample="Authorization: Basic {A20}",
        source="RFC 7617",
    ),
    Rule(
        name="docker-credentials",
        severity=MEDIUM,
        anchors=(r"\"auth\\{0,16}\" ?: ?\\{0,16}\"[A-Za-z0-9+/]{8}",),
        shape=r"\"auth\"\s?:\s?\"(?P<value>[A-Za-z0-9+/]{10,}={0,2})\"",
        proof=proofs.basic_credentials,
        is_not="base64 that does not decode to user and password",
        example='{"auths":{"registry":{"auth":"ZGVwbG95Ok' + '1YcVJ0OHZL"}}}',
        counterexample='{"auth":"{A20}"}',
        source="Docker configuration file",
    ),
    Rule(
        name="bearer-token",
        severity=MEDIUM,
        anchors=(r"(?i)bearer [A-Za-z0-9._~+/-]{8}",),
        shape=r"(?i:bearer)\s(?P<value>[A-Za-z0-9._~+/-]{20,300}={0,2})",
        proof=values.bearer,
        is_not="a variable, a placeholder, a word",
        example="Authorization: Bearer {A17}3{A17}8{A4}",
        counterexample="Authorization: Bearer authentication_token_value",
        source="RFC 6750",
    ),
    Rule(
        name="curl-user",
        severity=MEDIUM,
        anchors=(
            r"(?:-u|--user|--proxy-user)[ =][\"'\\]{0,4}[A-Za-z0-9][^\s:\"'\\$/]{0,60}:"
            r"[^\s\"'\\$/]{4}",
        ),
        shape=r"\b(?:curl|wget|https?|xh)\b[^\n]{0,150}?\s(?:-u|--user|--proxy-user)[ =][\"']?"
        r"[A-Za-z0-9][^\s:\"'$/]{0,60}:(?P<value>[^\s\"'$]{4,80})",
        proof=values.password_given,
        is_not="a date format, a variable, a placeholder",
        example="curl -s -u deploy:{A8}5{A5} https://db.acme.io/",
        counterexample="curl -u user:password https://db.acme.io/",
        source="curl manual",
        before=260,
    ),
    Rule(
        name="password-option",
        severity=MEDIUM,
        anchors=(
            r"--?(?:password|passwd|pass|token|secret|api-key)[ =][\"'\\]{0,4}[^\s\"'\\$<-]{6}",
        ),
        shape=r"(?:^|[\s\"'=])--?(?P<name>password|passwd|pass|token|secret|api-key)[ =][\"']?"
        r"(?P<value>[^\s\"'$<\-`][^\s\"'$<`,]{5,100})",
        proof=values.spoken_password,
        is_not="a variable, a placeholder, a word",
        example="az login --username app --password {A8}5{A5}",
        counterexample="az login --username app --password $PASSWORD",
        source="observed in transcripts",
        bounded=False,
    ),
    Rule(
        name="mysql-password",
        severity=MEDIUM,
        anchors=(r"(?:mysql|mariadb)[a-z]{0,8}[^\n\"\\]{0,120} -p[^\s\"'\\$]{5}",),
        shape=r"(?:mysql|mariadb)[a-z]{0,8}[^\n\"]{0,120} -p[\"']?(?P<value>[^\s\"'$]{5,80})",
        proof=values.password_given,
        is_not="a variable, everybody's default",
        example="mysql -h db.acme.io -u app -p{A8}5{A5} -e 'select 1'",
        counterexample="mysql -h db.acme.io -u root -ppassword",
        source="MySQL manual",
    ),
    Rule(
        name="password-variable",
        severity=MEDIUM,
        anchors=(r"(?:PGPASSWORD|MYSQL_PWD|SSHPASS|REDISCLI_AUTH)=[\"'\\]{0,4}[^\s\"'\\$]{5}",),
        shape=r"(?:PGPASSWORD|MYSQL_PWD|SSHPASS|REDISCLI_AUTH)=[\"']?(?P<value>[^\s\"'$;]{5,100})",
        proof=values.password_given,
        is_not="a variable, everybody's default",
        example="PGPASSWORD={A8}5{A5} psql -h db.acme.io",
        counterexample="PGPASSWORD=postgres psql -h db.acme.io",
        source="the tools' manuals",
        bounded=False,
    ),
    Rule(
        name="sshpass",
        severity=MEDIUM,
        anchors=(r"sshpass -p ?[\"'\\]{0,4}[^\s\"'\\$]{4}",),
        shape=r"sshpass -p ?[\"']?(?P<value>[^\s\"'$]{4,100})",
        proof=values.password_given,
        is_not="a variable, a placeholder",
        example="sshpass -p '{A8}5{A5}' ssh root@db.acme.io",
        counterexample="sshpass -p 'password' ssh root@db.acme.io",
        source="sshpass manual",
    ),
    Rule(
        name="netrc",
        severity=MEDIUM,
        anchors=(r"(?i)login [^\s\\]{1,80}(?:\s|\\{1,8}[nt]){1,8}password [^\s\\\"]{4}",),
        shape=r"(?i:login)\s+\S{1,80}\s+(?i:password)\s+(?P<value>[^\s\"]{4,100})",
        proof=values.password_given,
        is_not="prose",
        example="machine db.acme.io login app password {A8}5{A5}",
        counterexample="login form password field",
        source="netrc manual",
        many_lines=True,
        bounded=False,
    ),
    Rule(
        name="pgpass-line",
        severity=MEDIUM,
        anchors=(
            r":(?:5432|5433|5434|6432|6543|25060|\*):[A-Za-z0-9_*]{1,40}:[A-Za-z0-9_-]{1,40}:[^\s\"\\:]{6}",
        ),
        shape=r"(?:[A-Za-z0-9-]{1,60}\.[A-Za-z0-9.-]{2,80}|localhost|\*):(?:[0-9]{4,5}|\*):[A-Za-z0-9_*]{1,40}:"
        r"[A-Za-z0-9_-]{1,40}:(?P<value>[^\s\"\\:]{6,100})",
        proof=values.password_given,
        is_not="ids joined by colons",
        example="db.acme.io:5432:app:svc:{A8}5{A5}",
        counterexample="localhost:5432:app:svc:password",
        source="PostgreSQL manual",
        bounded=False,
    ),
    Rule(
        name="kubernetes-secret",
        severity=MEDIUM,
        anchors=(r"(?i)kind[\"\\]{0,8}: ?[\"\\]{0,8}secret[\"\\ \n,]",),
        shape=r"(?i:kind\"?:\s?\"?secret\b)[\s\S]{0,400}?\bdata\"?:\s{0,8}\{?\s{0,12}\"?[\w.-]{1,60}\"?:\s?\"?"
        r"(?P<value>[A-Za-z0-9+/]{8,}={0,2})",
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
    Rule(
        name="spoken-password",
        severity=MEDIUM,
        anchors=(r"(?i)pass(?:word|phrase|code) (?:is|was|to) [\"'`\\]{0,4}[^\s\"'`\\]{8}",),
        shape=r"(?i:pass(?:word|phrase|code))\s(?i:is|was|to)\s[\"'`]?(?P<value>[^\s\"'`,;]{8,60})",
        proof=values.spoken_password,
        is_not="a word",
        example="the admin password is {A8}5{A5} , use it",
        counterexample="the password is required in production",
        source="observed in transcripts",
        bounded=False,
    ),
    Rule(
        name="wireguard-key",
        severity=MEDIUM,
        anchors=(r"(?:PrivateKey|PresharedKey) ?= ?[A-Za-z0-9+/]{8}",),
        shape=r"(?:PrivateKey|PresharedKey)\s?=\s?(?P<value>[A-Za-z0-9+/]{43}=)",
        proof=proofs.random_looking(3.8),
        is_not="a placeholder",
        example="[Interface]\nPrivateKey = {B43}=\n",
        counterexample="PrivateKey = <your key>",
        source="WireGuard quick start",
        bounded=False,
    ),
    Rule(
        name="session-cookie",
        severity=MEDIUM,
        anchors=(
            r"(?i)cookie[\"\\]{0,8}:[\"\\ ]{1,6}[^\n\"]{0,200}"
            r"(?:session|sess|sid|auth|token)[A-Za-z_.-]{0,12}=[A-Za-z0-9%._-]{12}",
        ),
        shape=r"(?i)cookie\"?:\s?[^\n]{0,200}?(?:session|sess|sid|auth|token)[A-Za-z_.\-]{0,12}="
        r"(?P<value>[A-Za-z0-9%._-]{24,})",
        proof=proofs.mixed(3.5),
        is_not="a placeholder",
        example="Cookie: session={U40}4; theme=dark",
        counterexample="Cookie: session=",
        source="RFC 6265",
        before=400,
        bounded=False,
    ),
    Rule(
        name="azure-signature",
        severity=MEDIUM,
        anchors=(r"[?&]s[vep]=[^\s\"]{2,300}&sig=[A-Za-z0-9%]{20}",),
        shape=r"[?&]s[vep]=[^\s\"]{2,300}&sig=(?P<value>[A-Za-z0-9%/+]{43,60}(?:%3[dD]|=))",
        proof=proofs.random_looking(3.8),
        is_not="a placeholder",
        example="https://a.blob.core.windows.net/c?sv=2024-11-04&se=2027-01-01&sig={A43}%3D",
        counterexample="https://a.blob.core.windows.net/c?sv=2024-11-04&se=2027-01-01&sig=",
        source="Azure shared access signatures",
        before=400,
        bounded=False,
    ),
)
