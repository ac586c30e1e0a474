# `make` lists what there is. Everything runs in .venv, which is made on the way.
# T=… narrows the tests, as in `make test T=tests/rules`; T='-n0 --pdb' runs them one after the other.

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

night: ## Run a first night on this machine; asks before it reads anything
	@.ci/install runtime
	@.venv/bin/dreaming first-night

test: ## Install what the tests need and run them
	@.ci/install dev
	@.venv/bin/python -m pytest -n auto --dist loadfile $(T)

test-clients: ## Install the real claude and codex and a small model, and run the tests that need them
	@.ci/install dev
	@.ci/clients
	@DREAMING_CLIENTS=$(CURDIR)/.cache/clients/node_modules/.bin \
		.venv/bin/python -m pytest -n auto --dist loadfile $(or $(T),tests/clients)

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
