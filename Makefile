# `make` lists what there is. Everything runs in .venv, which is made on the way.
# T=… narrows the tests, as in `make test T=tests/rules`; T='-n0 --pdb' runs them one after the other.

# The programs that `make test-clients` tries; what was seen of them holds for these versions.
CLIENTS = @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

night: ## Run a first night on this machine; asks before it reads anything
	@.ci/install runtime
	@.venv/bin/dreaming first-night

test: ## Install what the tests need and run them
	@.ci/install dev
	@.venv/bin/python -m pytest -n auto --dist loadgroup $(T)

test-clients: ## Run the tests that need the real claude and codex; npm puts them into .cache/clients
	@.ci/install dev
	@command -v npm >/dev/null || { echo "npm is needed to install claude and codex." >&2; exit 1; }
	@[ "$$(cat .cache/clients/installed 2>/dev/null)" = "$(CLIENTS)" ] || { \
		npm install --prefix .cache/clients --no-save --no-audit --no-fund --loglevel=error $(CLIENTS) && \
		echo "$(CLIENTS)" >.cache/clients/installed; }
	@DREAMING_CLIENTS=$(CURDIR)/.cache/clients/node_modules/.bin \
		.venv/bin/python -m pytest $(or $(T),tests/clients)

check: lint house ## Check format, lint, types, layers, generated docs and the house rules

lint: ## Check format, lint, types, layers and generated docs; no tests
	@.ci/install dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/cog --check -I docs docs/*.md

house: ## Run the tests of the house rules
	@.ci/install dev
	@.venv/bin/python -m pytest tests/house

fix: ## Format, and mend what ruff can mend
	@.ci/install dev
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

docs: ## Write the generated parts of docs/ anew
	@.ci/install dev
	.venv/bin/cog -r -I docs docs/*.md

dev: ## Install everything that working on it needs
	@.ci/install dev
	@echo "Ready. Next: source .venv/bin/activate"

.PHONY: help night test test-clients check lint house fix docs dev
