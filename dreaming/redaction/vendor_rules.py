"""The long tail: one line a vendor.

``_PREFIXED`` holds tokens with a beginning of their own, as in ``token_rules``. ``_NAMED`` holds
keys that look like any hash or word: they count only as the value of a name with the vendor in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from dreaming.redaction import values
from dreaming.redaction.proofs import mixed, random_looking
from dreaming.redaction.rules import HIGH, MEDIUM, Rule, Severity
from dreaming.redaction.shapes import pattern, pieces
from dreaming.redaction.token_rules import token

_SOURCE: Final = "the vendor's documentation of its keys"
_VALUE: Final = "[A-Za-z0-9+/_.:=%-]"
_TOGETHER: Final = 15
"""Vendors to one anchor: many more are too large a pattern, fewer cost more."""

_PREFIXED: Final = """
1password-secret-key    A3-                         {K6}-{K11}-{K5}-{K5}-{K5}
1password-account-key   A3-                         {K6}-{K6}-{K5}-{K5}-{K5}-{K5}
adobe-client-secret     p8e-                        {l32}
amazon-mws-token        amzn.mws.                   {h8}-{h4}-{h4}-{h4}-{h12}
aikido-token            AIK_CI_ AIK_SECRET_ AIK_CLIENT_ {A20+}
alibaba-temporary-key   STS.                        {A16,64}
asana-personal-token    1/                          {d16}:{h32}
asaas-key               $aact_prod_ $aact_hmlg_     {U20+}
astra-token             AstraCS:                    {A20+}
bedrock-key             bedrock-api-key-            {B20+}
bitbucket-server-token  BBDC-                       {S32+}
canva-secret            cnvca                       {U51}
cartesia-key            sk_car_                     {W20+}
checkout-key            sk_                         {h8}-{h4}-{h4}-{h4}-{h12}
clickhouse-key          4b1d                        {A38}
cloudsmith-key          csa_                        {h30}{A6}
cockroach-key           CCDB1_                      {A22}_{A40}
configcat-key           configcat-sdk-1/            {U22}/{U22}
databento-key           db-                         {A29}
defined-network-key     dnkey-                      {E26}-{E52}
deno-token              ddp_ ddo_                   {A36}
devcycle-key            dvc_server_ dvc_mobile_ dvc_client_ {A8,32}
devin-key               apk_ apk_user_              {B80+}
devin-service-token     cog_                        {l52}
ebay-secret             PRD-                        {h8,12}-{h4}-{h4}-{h4}-{h4,12}
elastic-key             essu_                       {U60+}
endorlabs-key           endr+                       {D16}
exoscale-key            EXO                         {A24,30}
flutterwave-key-2       FLWSECK-                    {l24,48}
canada-notify-key       gcntfy-                     {D70+}
gemini-key              AQ.Ab8RN6                   {U44}
gitlab-runner-token     GR1348941                   {U20+}
harness-token           pat. sat.                   {U22}.{A24}.{A20}
honeycomb-ingest-key    hcaik_ hcbik_               {A40+}
intra42-secret          s-s4t2ud- s-s4t2af-         {h64}
ionic-token             ion_                        {A42}
lichess-token           lip_                        {W16,60}
llamacloud-key          llx-                        {A44,52}
mem0-key                m0-                         {A24,44}
mercury-token           mercury_production_         {l3,6}_{A40,50}_yrucrem
mergify-key             mergify_application_key_    {U40+}
midtrans-key            Mid-server-                 {W10,24}
minimax-key             sk-api-                     {U100+}
miro-token              eyJtaXJv                    {U40+}
mongodb-atlas-secret    mdb_sa_sk_                  {U40}
nylas-key               nyk_                        {A67}
octopus-key             API-                        {K26}
onesignal-key           os_v2_app_ os_v2_org_       {l103}
onfido-token            api_live. api_live_ca. api_live_us. {U20+}
paddle-key              pdl_live_apikey_            {l26}_{A22}_{A3}
persona-key             persona_production_         {U20+}
pinterest-token         pina_                       {U20+}
polar-token             polar_at_ polar_oat_ polar_pat_ {U20+}
proof-key               prf_ prf_cli_               {U20,80}
rainforest-key          apikey_                     {h64}
ramp-secret             ramp_sec_                   {A48}
redirect-pizza-token    rpa_                        {A30}
rootly-key              rootly_                     {h64}
samsara-token           samsara_api_                {A26,32}
settlemint-token        sm_aat_ sm_pat_ sm_sat_     {A16}
swarm-join-token        SWMTKN-1-                   {l50,60}-{l24,30}
swarm-unlock-key        SWMKEY-1-                   {B40+}
telnyx-key              KEY                         {U55}
thunderstore-token      tss_                        {U20,80}
unkey-key               unkey_                      {A20,32}
upcloud-token           ucat_                       {A24,32}
valtown-token           vtwn_                       {U20+}
wakatime-key            waka_                       {U36,64}
workato-token           wrka-eyJ wrkaus-eyJ wrkaeu-eyJ wrkajp-eyJ {U8+}.{U16+}.{U64+}
xendit-key              xnd_production_             {A56,72}
zoho-token              1000.                       {h32}.{h32}
zoho-zapi-key           1001.                       {h32}.{h32}
zuplo-key               zpka_                       {l32}_{h8}
"""
"""Name, beginnings, body: a token of this shape excludes."""

_PREFIXED_HELD: Final = """
brave-search-key        BSA                         {U24,40}
flutterwave-test        FLWSECK_TEST-               {l12}
flutterwave-test-key    FLWSECK_TEST-               {l32}-X
atlassian-token-held    ATAT ATCT                   {S100+}
flutterwave-public-key  FLWPUBK- FLWPUBK_TEST-      {l32}-X
langfuse-public-key     pk-lf-                      {h8}-{h4}-{h4}-{h4}-{h12}
midtrans-client-key     Mid-client-                 {W10,24}
mongodb-atlas-id        mdb_sa_id_                  {h24}
posthog-project-key     phc_                        {U40,50}
ramp-id                 ramp_id_                    {A40}
slack-workspace-held    xoxa- xoxr-                 {A8,48}
gitlab-session          _gitlab_session=            {l32}
plaid-sandbox-token     access-sandbox-             {h8}-{h4}-{h4}-{h4}-{h12}
"""
"""As above, for what is short-lived, public, for tests or looks like a part of something: holds."""

_NAMED: Final = """
abuseipdb                {h80}
adafruit                 {U32}
adobe                    !{h32} ?{h32}
airtable                 !key{A14} !{l17}
algolia                  {l32}
alibaba|aliyun           {A30} {S60+}
amplitude                !{h32}
artifactory|jfrog        !{A64,73}
apollo                   !{U22}
asana                    !{l32} ?{d16}
assembly_?ai             {l32}
auth0                    !{U64,128} ?{U30,36}
azure|storage[_.-]?(?:account[_.-]?)?(?:access[_.-]?)?key {B86}==
azure_?devops|(?:ado|azdo)_pat !{l52}
beamer                   b_{E44}
bitbucket                !{l32} !{E64} ?{A32}
bitly                    !{h40}
bitrise                  !{U60,120}
bittrex                  !{l32}
box_(?:api|access|dev|client|key|secret|token) !{l32}
browser_?stack           !{A15,20}
circleci                 !{h40}
civo                     {A50}
clerk                    sk_test_{A32} sk_live_{A32}
(?:cloudflare|cf)_[a-z_]{0,12}(?:key|token)|cloudflare[.-]?(?:api|auth|key|token) !{U40} !{h37}
cloudinary               !{A27,32}
codecov                  !{U36}
cohere|co_api            !{A40}
coinbase                 {U64}
configcat                {U22}/{U22}
confluent                !{l16} {l64}
contentful               !{E43}
contribsys__com          {h8}:{h8}
couchbase|capella        {B60+}
coveralls                !{U37}
data\\.gov               !{A40}
databricks               dapi{h32}
datadog|dd_ap[ip]        !{l32} !{A40}
deepgram                 !{h40}
deepl                    !{h8}-{h4}-{h4}-{h4}-{h12}
deepseek                 sk-{h32}
discord[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token|id) !{h64} !{E32} ?{d17,19}
disqus                   {A64}
drone_?ci                !{l32}
dropbox                  !{l15} {l11}AAAAAAAAAA{E43} sl.{E130+}
elevenlabs               sk_{h48} !{h32}
etsy                     !{l24}
exoscale                 {U40,60}
facebook|fb_(?:app|secret) !{h32}
fal[_.-]?(?:ai|api|key)  {h8}-{h4}-{h4}-{h4}-{h12}:{h32}
fastly                   !{E32}
figma {H4}-{H8}-{H4}-{H4}-{H4}-{H12}
finicity                 !{h32} !{l20}
finnhub                  !{l20}
flickr                   !{l32}
freshbooks               {A64}
fullstory                na1.{A20+} eu1.{A20+}
gitea                    !{h40}
github[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token) !{h40}
gitlab                   !{U20} !{h64}
gitter                   {U40}
gocardless               live_{E40}
greptile                 {B48}
gumroad                  !{h64} !{U43}
heroku                   !{H8}-{H4}-{H4}-{H4}-{H12}
honeycomb                !{h32} !{A22}
hubspot                  !{H8}-{H4}-{H4}-{H4}-{H12}
hunter                   !{h40}
ibm(?:_?cloud)?[_.-]?(?:api|iam|key|token)|bluemix {U42,44}
influx                   {S86+}
infomaniak               {U60,100}
instantly                {B66}==
intercom                 {E60}
jenkins                  !{h32,34}
jumpcloud                !{l40}
kagi                     {U11}.{U43}
klaviyo                  pk_{l34}
kraken                   {S80,90}
kucoin                   !{h24} !{h8}-{h4}-{h4}-{h4}-{h12}
lark|feishu              !{A32} ?cli_{A16}
launch_?darkly           !{E40}
lighton|paradigm         {U40,80}
linear[_.-]?(?:api|client|key|secret|token|webhook) !{h32}
linked[_-]?in            !{A16} ?{l14}
lob_(?:api|key|live|secret|test) live_{h35} test_{h35}
looker                   !{l24} ?{l20}
mailchimp                {h32}-us{d1,2}
mailgun                  {h32}-{h8}-{h8} !{l32}-{l8}-{l8} !{h32}
mapbox                   pk.{l60}.{l22}
mattermost               !{l26}
meraki                   !{h40}
message[_-]?bird         !{A25} ?{H8}-{H4}-{H4}-{H4}-{H12}
miro                     !{A27,32}
mistral                  !{A32}
moonshot|kimi            sk-{U48}
mux_?(?:access|secret|token) !{B75} ?{H8}-{H4}-{H4}-{H4}-{H12}
netlify                  !{E40,46}
new[_.-]?relic           !{l64} !{l40} ?{l64}
ngrok                    {A26,28}_{A20,22}
nytimes|new_?york_?times !{E32}
okta                     00{E40}
ollama                   {h32}.{U24}
openai[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token) !{A32}
openweather|pyowm        !{l32}
ops_?genie               !{h8}-{h4}-{h4}-{h4}-{h12}
ovh_|(?:application|consumer)[_.-](?:key|secret) !{A16} !{A32}
pager_?duty              u+{S18} !{S20}
paypal                   {U78,120}
pinecone                 !{H8}-{H4}-{H4}-{H4}-{H12}
plaid                    {l30} {l24}
plivo                    !{U40} ?MA{K18} ?SA{K18}
polymarket|poly[_.-]{1,3}(?:api|key|pass|private|secret) 0x{H64} !{h8}-{h4}-{h4}-{h4}-{h12} !{S40+}
postmark                 !{h8}-{h4}-{h4}-{h4}-{h12}
private_?ai              !{l32}
rapid_?api               {U50}
razorpay                 !{A24} ?rzp_live_{A14}
retell                   key_{h28}
rollbar                  !{h32}
scaleway|scw_ !{h8}-{h4}-{h4}-{h4}-{h12}
segment[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token) !{A32}
sendbird                 !{h40} ?{H8}-{H4}-{H4}-{H4}-{H12}
sentry[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token) !{h64}
shodan                   !{A32}
snowflake                {U100+}
snyk                     !{h8}-{h4}-{h4}-{h4}-{h12}
sonar[_.-]login          {h40}
sonar                    !{E40}
spotify                  !{h32} ?{h32}
square_?space            !{h8}-{h4}-{h4}-{h4}-{h12}
ssl_?mate                {A36}
stability                sk-{A48}
sumo_?logic|sumo_ {A64} ?su{A12}
tableau                  {B22}==:{A32}
telegram|telegr          {d5,16}:A{U34}
thingsboard              !{A20}
travis                   !{A22}
trello                   !{h32} !{h64}
twilio                   !{h32}
twitch                   !{l30} ?{l30}
twitter                  {A45} {A50} !{A25} {d15,25}-{A20,45} AAAAAAAAAAAAAAAAAAAA{P60+}
upstage                  {A40,50}
upstash                  {A32,48} {S40+}
vault                    s.{A24}
vercel[_.-]?[a-z_.-]{0,12}(?:auth|key|pat|secret|token) !{A24}
virus_?total             !{h64}
vultr                    !{K36} !{h36}
waka_?time               !{H8}-{H4}-{H4}-{H4}-{H12}
wandb|weightsandbiases   !{h40}
weather_?stack           !{l32}
wiz_(?:api|client) {A53,56} {A64}
woocommerce|woo_(?:api|consumer|key|secret) cs_{h40}
yandex                   t1.{U20+}.{U86} YC{U38} AQVN{U35,38}
zai_api|z_ai_|zhipu|glm_api {h32}.{A16}
zendesk                  !{A40}
zoho                     !{h42} 1003.{h32,64}
"""
"""Words of the name, then the shapes of its value.
After ``!`` the name must also say that it is a key, a secret, a token or a password; after ``?``
that it is the id of a client."""

_WORDS_OR_HEX: Final = frozenset(
    """alibaba-temporary-key clickhouse-key exoscale-key octopus-key telnyx-key""".split()
)
"""Tokens whose beginning and body could be a word or hex: they must look random in every way."""


def _prefixed(line: str, severity: Severity = HIGH) -> Rule:
    """Make the rule of a line of ``_PREFIXED``."""
    name, *beginnings, body = line.split()
    shortest = min(map(len, beginnings))
    least = sum(len(piece.literal) or piece.least for piece in pieces(body))
    bits = 2.4 if least < 14 else 2.8 if least < 20 else 3.0
    common = shortest < 5
    if name in _WORDS_OR_HEX:
        proof = mixed(3.4, shortest)
    else:
        proof = (mixed if common or severity is MEDIUM else random_looking)(bits, shortest)
    return token(name, " ".join(beginnings), body, proof, severity=severity, whole_anchor=common)


def _lines(table: str) -> list[str]:
    return table.strip().splitlines()


class Named(NamedTuple):
    """A vendor whose keys look like anything: known by the name they are given to."""

    words: str
    """Regular expression of what stands in the name."""
    free: str
    """Regular expression of values that count for themselves; empty where there are none."""
    bound: str
    """Regular expression of values that count where the name also says that they are secret."""
    ids: str
    """Regular expression of values that count where the name says that they are a client's id."""
    template: str
    """A value."""


def _named(line: str) -> Named:
    words, *shapes = line.split()
    free = [pattern(shape) for shape in shapes if shape[0] not in "!?"]
    bound, ids = ([pattern(s[1:]) for s in shapes if s[0] == mark] for mark in "!?")
    return Named(words, "|".join(free), "|".join(bound), "|".join(ids), shapes[0].lstrip("!?"))


NAMED: Final = tuple(map(_named, _lines(_NAMED)))


def _anchor(rows: Sequence[Named]) -> str:
    words = "|".join(row.words for row in rows)
    return rf"(?i)(?:{words})[\w.-]{{0,16}}[\s\\\"'`\])=>:,(|]{{1,24}}[A-Za-z0-9+_.:=-]{{14}}"


VENDOR_KEY: Final = Rule(
    name="vendor-key",
    severity=MEDIUM,
    anchors=tuple(_anchor(NAMED[at : at + _TOGETHER]) for at in range(0, len(NAMED), _TOGETHER)),
    shape=rf"(?<=[\s\"'`=:,(>|])(?![A-Za-z_.-]+\d?[A-Za-z_.-]*=[A-Za-z0-9])(?P<value>{_VALUE}{{14,300}})",
    proof=values.vendor_value([row[:4] for row in NAMED]),
    is_not="an id, a hash or a word beside the vendor's name, a placeholder",
    example='DATADOG_API_KEY="{l10}7{l10}3{l10}"',
    counterexample='datadog_agent_sha256 = "{l32}"',
    source=_SOURCE,
    bounded=False,
)
"""All of ``_NAMED`` in one rule, because each anchor costs time for every byte."""

VENDORS: Final = (
    *map(_prefixed, _lines(_PREFIXED)),
    *(_prefixed(line, MEDIUM) for line in _lines(_PREFIXED_HELD)),
    VENDOR_KEY,
)
