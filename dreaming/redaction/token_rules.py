"""Tokens that a vendor made recognisable: a fixed beginning and a body of known shape.

One row a family: name, beginnings, body in the notation of ``shapes``. A row says more only where
the family is special.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dreaming.redaction import proofs
from dreaming.redaction.proofs import Proof, mixed, random_looking
from dreaming.redaction.rules import HIGH, MEDIUM, Rule, Severity
from dreaming.redaction.shapes import opening, pattern, pieces

_RARE: Final = 5
"""A beginning of this many characters is rare enough to be an anchor with four more."""
_SURE: Final = 16
"""A beginning of this many characters is an anchor by itself, so the rest may be broken off."""


def token(
    name: str,
    beginnings: str,
    body: str,
    proof: Proof | None = None,
    *,
    severity: Severity = HIGH,
    source: str = "the vendor's documentation of its keys",
    seal: Callable[[str], str] | None = None,
    after: int = 500,
    whole_anchor: bool = False,
    counterexample: str = "",
) -> Rule:
    """Make the rule of one family of tokens.

    ``whole_anchor`` is for beginnings that ordinary text is full of: the anchor then covers as much
    of the body as has a fixed place.
    """
    prefixes = tuple(beginnings.split())
    anchors = []
    for prefix in prefixes:
        near = 0 if len(prefix) >= _SURE else 4 if len(prefix) >= _RARE else 12
        anchors.append(opening(prefix + body, len(prefix) + (200 if whole_anchor else near)))
    lead = "|".join(pattern(prefix) for prefix in prefixes)
    return Rule(
        name=name,
        severity=severity,
        anchors=tuple(dict.fromkeys(anchors)),
        shape=f"(?P<value>(?:{lead}){pattern(body)})",
        proof=proof or random_looking(3.0, min(map(len, prefixes))),
        is_not="a placeholder, a token whose checksum fails, part of a longer word or of base64",
        example=f"export KEY='{prefixes[0]}{body}' && make",
        counterexample=counterexample or f"use {prefixes[0]}{_crosses(body)} here",
        source=source,
        what=f"{' or '.join(prefixes)}, then {body}",
        seal=seal,
        prefixes=() if whole_anchor else tuple(prefix.encode() for prefix in prefixes),
        after=after,
    )


def _crosses(body: str) -> str:
    """Return a placeholder of the body's shape, as documentation writes it."""
    out = []
    for piece in pieces(body):
        filler = "x" if "a-z" in piece.characters else ("0" if "0-9" in piece.characters else "A")
        out.append(piece.literal or filler * piece.least)
    return "".join(out)


_CODE: Final = "code hosting, its token formats"

TOKENS: Final = (
    # code hosting and registries
    token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        "{A36+}",
        proofs.github_checksum,
        seal=proofs.seal_github,
        source=_CODE,
    ),
    token(
        "github-token-held",
        "ghp_ gho_ ghu_ ghs_ ghr_ npm_",
        "{A36}",
        proofs.given_without_checksum,
        severity=MEDIUM,
        source=_CODE,
        counterexample="the token ghp_{A36} stands in prose",
    ),
    token("github-fine-grained", "github_pat_", "{W82}"),
    token("github-app-url", "x-access-token:", "{D30+}"),
    token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glimt- glagent- gloas- glffct-",
        "{U20+}",
    ),
    token("npm-token", "npm_", "{A36}", proofs.github_checksum, seal=proofs.seal_github),
    token("pypi-token", "pypi-AgE", "{U50+}"),
    token("rubygems-key", "rubygems_", "{h48}"),
    token("nuget-key", "oy2", "{l43}", mixed(3.3), whole_anchor=True),
    token("clojars-token", "CLOJARS_", "{l60}"),
    token("crates-token", "cio", "{A32}", mixed(3.8), whole_anchor=True),
    token(
        "packagist-token", "packagist_uut_ packagist_out_ packagist_ort_ packagist_acs_", "{h60+}"
    ),
    token("docker-token", "dckr_pat_ dckr_oat_", "{U27+}"),
    token("jfrog-key", "AKCp", "{A68,70}", mixed(3.8, 4), whole_anchor=True),
    token("jfrog-reference-token", "cmVmd", "{A59}", mixed(3.8), whole_anchor=True),
    token("sourcegraph-token", "sgp_ sgp_local_", "{H40}", whole_anchor=True),
    token("segment-token", "sgp_", "{A64}", whole_anchor=True),
    token("sourcegraph-instance-token", "sgp_", "{H16}_{H40}"),
    token("buildkite-token", "bkua_ bkat_", "{l40,53}"),
    token("buildkite-service-token", "bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_", "{U40+}"),
    token("circleci-token", "CCIPAT_ CCIPRJ_", "{A10+}_{l40}"),
    token("sonar-token", "sqp_ squ_ sqa_", "{h40}"),
    token("snyk-token", "snyk_uat. snyk_sat.", "{D40+}"),
    token("bitbucket-token", "ATBB", "{A32}", mixed(3.5)),
    token("atlassian-token", "ATATT3 ATCTT3", "{D100+}"),
    # language model vendors
    token("openai-key", "sk-proj- sk-svcacct- sk-admin-", "{U60+}", random_looking(3.5, 8)),
    token(
        "anthropic-key",
        "sk-ant-api sk-ant-admin sk-ant-oat sk-ant-ort sk-ant-sid",
        "{d2}-{U60+}",
        random_looking(3.5, 14),
    ),
    token("openrouter-key", "sk-or-v1-", "{h64}"),
    token("langfuse-key", "sk-lf-", "{h8}-{h4}-{h4}-{h4}-{h12}"),
    token("helicone-key", "sk-helicone-", "{l7}-{l7}-{l7}-{l7}"),
    token("model-vendor-key", "sk-", "{l32,64}", mixed(3.3, 3), whole_anchor=True),
    token("groq-key", "gsk_", "{A52}"),
    token("xai-key", "xai-", "{U70,120}"),
    token("huggingface-token", "hf_ api_org_", "{L34}", random_looking(3.5, 3)),
    token("replicate-token", "r8_", "{A37}", random_looking(3.5, 3)),
    token("perplexity-key", "pplx-", "{A40+}"),
    token("cerebras-key", "csk-", "{l40+}", mixed(3.3, 4)),
    token("nvidia-key", "nvapi-", "{U50+}"),
    token("together-key", "tgp_v1_", "{U40+}"),
    token("pinecone-key", "pcsk_", "{W40+}"),
    token("langsmith-key", "lsv2_pt_ lsv2_sk_", "{H32}_{H10}"),
    token("tavily-key", "tvly-", "{U28+}", mixed(3.3, 5)),
    token("jina-key", "jina_", "{A40+}"),
    token("fireworks-key", "fw_", "{A22,24}", mixed(3.6, 3), whole_anchor=True),
    token("firecrawl-key", "fc-", "{h32}", mixed(3.0, 3), whole_anchor=True),
    token("e2b-key", "e2b_", "{h40}"),
    token("elevenlabs-key", "sk_", "{h48}", mixed(3.0, 3), whole_anchor=True),
    token("voyage-key", "pa-", "{U43}", mixed(4.2, 3), whole_anchor=True),
    token("wandb-key", "wandb_v1_", "{W40+}"),
    token("anyscale-key", "esecret_", "{A28+}", mixed(3.3, 8)),
    token("runpod-key", "rpa_", "{K36,46}", mixed(3.5, 4)),
    token("fal-key", "key_fal_", "{U30+}"),
    token("exa-labs-key", "gho-exa-", "{h32}"),
    token("cursor-key", "crsr_ key_", "{h64}", whole_anchor=True),
    # clouds and platforms
    token("google-api-key", "AIza", "{U35}", random_looking(3.5, 4)),
    token("google-client-secret", "GOCSPX-", "{U28}"),
    token("google-access-token", "ya29.", "{U40+}", random_looking(3.5, 5)),
    token("google-refresh-token", "1//0", "{U60,110}", random_looking(4.0, 4), whole_anchor=True),
    token("azure-storage-key", "AccountKey=", "{B86}==", random_looking(4.0, 11)),
    token("azure-shared-access-key", "SharedAccessKey=", "{B32+}", random_looking(3.5, 16)),
    token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "{h64}"),
    token("databricks-token", "dapi", "{h32}", mixed(3.0, 4)),
    token("vault-token", "hvs. hvb. hvr.", "{U24+}", mixed(3.3, 4)),
    token(
        "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "{D40+}", mixed(3.3, 6)
    ),
    token("pulumi-token", "pul-", "{h40}"),
    token("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "{E30+}"),
    token("heroku-key", "HRKU-", "{U36+}"),
    token("fly-token", "fm2_lJPE fo1_", "{U43+}", random_looking(3.8, 4)),
    token("fly-access-token", "FlyV1", " {S12+}", random_looking(2.5, 6)),
    token("netlify-token", "nfp_", "{A36+}"),
    token("render-key", "rnd_", "{A28+}", mixed(3.3, 4)),
    token("vercel-token", "vcp_ vck_ vci_ vca_ vcr_", "{U40+}", mixed(3.3, 4)),
    token("neon-key", "napi_", "{A60+}"),
    token("supabase-token", "sbp_ sbp_v0_", "{U40}", mixed(3.0, 4)),
    token("supabase-secret", "sb_secret_", "{U20+}", random_looking(2.8, 10)),
    token("cloudflare-token", "cfut_ cfat_ cfk_", "{A36+}"),
    token("cloudflare-ca-key", "v1.0-", "{h24}-{h146}"),
    token("alibaba-key", "LTAI", "{A17,21}", mixed(3.3, 4)),
    token("tencent-key", "AKID", "{A32}", mixed(3.8, 4)),
    token("yandex-key", "AQVN", "{U35,38}", random_looking(3.8, 4)),
    token("openshift-token", "sha256~", "{U43}"),
    token("scalingo-token", "tk-us-", "{U48}"),
    token(
        "tailscale-key",
        "tskey-auth- tskey-api- tskey-client- tskey-webhook- tskey-scim-",
        "{U20+}",
    ),
    token("onepassword-token", "ops_eyJ", "{B80+}"),
    token(
        "launchdarkly-key",
        "sdk-",
        "{h8}-{h4}-{h4}-{h4}-{h12}",
        random_looking(2.8, 4),
        whole_anchor=True,
        counterexample="sdk-00000000-0000-0000-0000-000000000000",
    ),
    token("infracost-key", "ico-", "{A32}", mixed(3.5, 4)),
    token("prefect-key", "pnu_ pnb_", "{A36}"),
    # money and shops
    token("stripe-live", "sk_live_ rk_live_ sk_prod_ rk_prod_", "{A10+}", random_looking(2.4, 8)),
    token("stripe-webhook", "whsec_", "{B24+}", random_looking(3.3, 6)),
    token("stripe-test", "sk_test_ rk_test_", "{A16+}", mixed(3.0, 8), severity=MEDIUM),
    token("square-token", "sq0atp- sq0csp-", "{U22+}"),
    token("square-access-token", "EAAA", "{U56,64}", mixed(4.2, 4), whole_anchor=True),
    token("braintree-token", "access_token$production$", "{l16}${h32}"),
    token("plaid-token", "access-production- access-development-", "{h8}-{h4}-{h4}-{h4}-{h12}"),
    token("flutterwave-key", "FLWSECK-", "{l32}-X"),
    token("shopify-token", "shpat_ shpca_ shppa_ shpss_", "{H32}"),
    token("shippo-token", "shippo_live_", "{H40}"),
    token("shippo-test", "shippo_test_", "{H40}", severity=MEDIUM),
    token("easypost-key", "EZAK EZTK", "{A54}"),
    token("duffel-token", "duffel_live_", "{E40+}"),
    token("duffel-test", "duffel_test_", "{E40+}", severity=MEDIUM),
    # messages and mail
    token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxs- xoxr- xoxo- xoxc-",
        "{d8,14}-{U18+}",
        mixed(3.3, 5),
    ),
    token("slack-legacy-token", "xoxs- xoxo-", "{d1,14}-{d1,14}-{d1,14}-{H8+}", mixed(2.4, 5)),
    token("slack-workspace-token", "xoxa- xoxr-", "{d1}-{A8+}", random_looking(2.6, 7)),
    token("slack-refresh-token", "xoxe-", "{d1,10}-{A140+}", random_looking(3.8, 5)),
    token("slack-configuration-token", "xoxe-", "{d10,13}-{d10,13}-{d10,13}-{U28+}", mixed(3.3, 5)),
    token("slack-session-token", "xoxe. xoxe-1-", "{U40+}", mixed(3.5, 5)),
    token("slack-cookie", "xoxd-", "{P40+}", mixed(3.5, 5)),
    token("slack-app-token", "xapp-", "{d1,2}-{K6,16}-{d6,16}-{l12,80}"),
    token(
        "slack-webhook",
        "hooks.slack.com/services/",
        "{A8,14}/{A8,14}/{A20+}",
        random_looking(3.3, 25),
    ),
    token(
        "slack-workflow",
        "hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        "{A8,14}/{A8,20}/{A8,30}/{A20+}",
        random_looking(3.3, 26),
    ),
    token(
        "discord-webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        "{d17,20}/{U60+}",
    ),
    token(
        "teams-webhook",
        "webhook.office.com/webhookb2/",
        "{l8}-{l4}-{l4}-{l4}-{l12}@{l8}-{l4}-{l4}-{l4}-{l12}/IncomingWebhook/{l32}",
    ),
    token("sendgrid-key", "SG.", "{U22}.{U43}", random_looking(3.8, 3)),
    token("mailgun-key", "key-", "{h32}", mixed(3.0, 4)),
    token("brevo-key", "xkeysib- xsmtpsib-", "{H64}-{A16}"),
    token("mailersend-key", "mlsn.", "{A30,100}"),
    token("resend-key", "re_", "{A8}_{A24}", mixed(3.6, 3)),
    token("twilio-key", "SK", "{H32}", mixed(3.0, 2), whole_anchor=True),
    token("typeform-token", "tfp_", "{D40+}"),
    token("hubspot-token", "pat-na1- pat-na2- pat-eu1-", "{H8}-{H4}-{H4}-{H4}-{H12}"),
    token("facebook-token", "EAAC EAAG EAAB EAAD EAAM", "{A90+}", mixed(4.4, 4), whole_anchor=True),
    token("twitch-stream-key", "live_", "{d6,12}_{A30}"),
    # tools for teams
    token("linear-key", "lin_api_ lin_oauth_", "{A40+}"),
    token("notion-token", "ntn_", "{d11}{A35}"),
    token("notion-legacy-token", "secret_", "{A43}", mixed(3.8, 7), whole_anchor=True),
    token("figma-token", "figd_ figu_ figo_", "{U38+}"),
    token("postman-key", "PMAK-", "{H24}-{H34}"),
    token("postman-collection-key", "PMAT-", "{A26}"),
    token("airtable-token", "pat", "{A14}.{h64}", whole_anchor=True),
    token("asana-token", "2/ 1/", "{d12,20}/{d12,20}:{h32}", whole_anchor=True),
    token("clickup-token", "pk_", "{d5,10}_{K32}", mixed(3.5, 3), whole_anchor=True),
    token("salesforce-token", "00D", "{A12,15}!{D80+}", random_looking(4.0, 3)),
    token("contentful-token", "CFPAT-", "{U40+}"),
    token("readme-key", "rdme_", "{l70}"),
    token("apify-token", "apify_api_", "{A30+}"),
    token("mapbox-secret", "sk.eyJ", "{U40+}.{U20+}"),
    # watching over machines
    token(
        "grafana-token", "glsa_", "{A32}_{H8}", proofs.grafana_checksum, seal=proofs.seal_grafana
    ),
    token(
        "grafana-token-held",
        "glsa_",
        "{A32}_{H8}",
        proofs.given_without_checksum,
        severity=MEDIUM,
        counterexample="the token glsa_{A32}_{H8} stands in prose",
    ),
    token("grafana-cloud-token", "glc_", "{B40+}", mixed(3.8, 4)),
    token("grafana-classic-key", "eyJrIjoi", "{B40+}", random_looking(3.8)),
    token("newrelic-key", "NRAK- NRAA-", "{A27}"),
    token("newrelic-insert-key", "NRII-", "{U32}", mixed(3.3, 5)),
    token("sentry-token", "sntrys_eyJ sntryu_", "{S60+}"),
    token("dynatrace-token", "dt0c01. dt0s01. dt0s16.", "{A24}.{A64}"),
    token("posthog-key", "phx_", "{U40+}", mixed(3.8, 4)),
    token("honeycomb-key", "hcaik_ hcxik_ hcaic_ hcbik_", "{l50+}"),
    token("axiom-token", "xaat- xapt-", "{h8}-{h4}-{h4}-{h4}-{h12}"),
    token("adafruit-key", "aio_", "{L4}{d2}{A22}"),
    token("frameio-token", "fio-u-", "{E60+}"),
    token("age-key", "AGE-SECRET-KEY-1", "{X58}", random_looking(3.5, 16)),
)
