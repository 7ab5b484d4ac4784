# Everything runs from one virtual environment made here; `make help` lists the commands.
PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
# The tests' own tools: an environment that sees the packages of $(VENV), which does not see them.
# So scripts that a test runs find what they find under `make serve`.
TOOLS := $(VENV)/tests
# TORCH_INDEX=URL adds PyTorch's index of CPU builds, which are much smaller than the default ones.
PIP := -m pip --disable-pip-version-check install -c constraints.txt \
	$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
# One process more than cores, since tests wait for programs, and one a core where all is live
# (WORKERS=0: all in one process); tests that share something expensive stay together.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count() + 1)")
test-all record: WORKERS = auto
# Each program that a test starts would compile all of ours anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST = $(TOOLS)/bin/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder $(PYTEST_ARGS)

# What replays recorded runs, a live sample, and in turns what starts programs and pages.
QUICK = -m 'not docker and not live' --rotate
# The tier of all tests, in parts (PART=3/8); what has passed in this very tree is left out (AGAIN=1: not).
PART ?= 1/1
LIVE = --runs=live --part=$(PART) $(if $(AGAIN),,--go-on)

.PHONY: help serve editor vscode test test-all record check format docs compose-test clean
help:  ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

# SMALL=1 installs torch and NumPy only; a script's other packages are then stubs that do nothing.
SCRIPTS := sandbox$(if $(SMALL),,,packages)

$(VENV)/.serve: pyproject.toml constraints.txt
	@echo "Installing PyTorch and the rest: some gigabytes; with TORCH_INDEX=URL of CPU builds, far less"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) -e '.[server,$(SCRIPTS)]'
	@touch $@

$(TOOLS)/.installed: $(VENV)/.serve
	$(PYTHON) -m venv $(TOOLS)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$($(TOOLS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/serve.pth"
	$(TOOLS)/bin/python $(PIP) -e '.[server,$(SCRIPTS),postgres,container,telemetry,test,check]'
	@touch $@

# The form's editor, where npm is installed; without it the form is a plain text field.
EDITOR := app/static/editor.js
$(EDITOR): editor/editor.js editor/package.json editor/package-lock.json
	@cd editor && npm ci --silent --no-audit --no-fund && npm run --silent build \
	|| echo "npm could not build the editor: the form is a plain text field"

editor: $(EDITOR)  ## build the form's editor (needs npm)

vscode:  ## build the VS Code extension (needs npm)
	@cd editor/vscode && npm ci --silent --no-audit --no-fund && npm run --silent package

serve: $(VENV)/.serve editor  ## serve http://127.0.0.1:8000 with the embedded sandbox (PORT=9000 for another port)
	@GRADMEND_PREPARE_EXAMPLES=$${GRADMEND_PREPARE_EXAMPLES:-true} exec $(BIN)/gradmend serve --port $(PORT)

test: $(TOOLS)/.installed editor  ## run the tests, most of them on recorded runs (8 minutes)
	$(PYTEST) $(QUICK)

test-all: $(TOOLS)/.installed editor  ## run every test live; PART=3/8: an eighth; continues where it stopped (AGAIN=1: from the start)
	$(PYTEST) $(LIVE)

record: $(TOOLS)/.installed editor  ## renew recorded runs and findings, and print what changed
	$(PYTEST) --runs=record -m 'not docker and not live and not sample and not rotating' \
		$(if $(PYTEST_ARGS),,--prune)

compose-test: $(TOOLS)/.installed editor  ## build the images, attack containers, let Compose fix a script (needs root or Docker)
	$(TOOLS)/bin/python -m pytest -m docker --timeout=1500 $(PYTEST_ARGS)

check: $(TOOLS)/.installed editor  ## format, lint, types, import rules, tests
	$(TOOLS)/bin/ruff format --check .
	$(TOOLS)/bin/ruff check .
	$(TOOLS)/bin/mypy
	$(TOOLS)/bin/lint-imports
	$(PYTEST) $(QUICK)

format: $(TOOLS)/.installed  ## format and sort imports
	$(TOOLS)/bin/ruff check --fix -q . ; $(TOOLS)/bin/ruff format .

docs: $(TOOLS)/.installed docs/settings.md  ## renew the table of settings and the README's example
	$(TOOLS)/bin/python -m tests.readme

docs/settings.md: app/settings.py
	@{ printf '# Settings\n\nA process reads these environment variables when it starts.\n\n'; \
	   $(BIN)/python -m app.settings; } > $@

clean:  ## remove the environment and caches
	rm -rf $(VENV) $(EDITOR) editor/node_modules .pytest_cache .mypy_cache .ruff_cache *.egg-info
