# Two commands: `make up` runs it, `make test` tests it. Packages come from wherever pip's own
# settings (PIP_INDEX_URL and the like) point. PYTHON chooses another interpreter.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,\
	$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check install --quiet

.PHONY: up venv test check format bench-quality bench-precision bench-years bench-kb bench-latency bench-latency-1m bench-api

up: $(VENV)/.installed
	@exec $(RUN) manage.py up

# Only the virtual environment, to bring a torch of one's own into it first.
venv: | $(RUN)

test: $(VENV)/.installed-test
	$(RUN) -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

check: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy .
	$(RUN) manage.py check
	$(RUN) manage.py makemigrations --check --dry-run
	$(VENV)/bin/djlint templates --check --lint --quiet

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/djlint templates --reformat --quiet

# Benches read sample data from $$REMEMBRANCER_DATA. Peers live in an environment of their own.
bench-quality bench-precision bench-years: $(VENV)/.installed
	@$(RUN) -m bench.$(@:bench-%=%)

# Makes all that it reads. A million facts take longer and are apart.
bench-latency: $(VENV)/.installed
	@$(RUN) -m bench.latency $(ARGUMENTS)

bench-latency-1m: $(VENV)/.installed
	@$(RUN) -m bench.latency --million $(ARGUMENTS)

# Fetches manuals with apt-get download, which needs no root.
bench-kb: $(VENV)/.installed
	@$(RUN) -m bench.kb $(ARGUMENTS)

# The server set-up needs a redis-server. ARGUMENTS="--minutes 10" is the mixed load.
bench-api: $(VENV)/.installed
	@$(RUN) -m bench.api $(ARGUMENTS)

$(RUN):
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		2>/dev/null || { echo "Remembrancer needs Python 3.11 or newer, and none was found." \
		"Install it, or name it: make up PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "Python can't make virtual" \
		"environments here; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

# Stamps: what is installed is looked at again only after pyproject.toml changed.
$(VENV)/.installed: pyproject.toml | $(RUN)
	@echo "Installing (once; this can take some minutes) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(RUN)
	@echo "Installing what the tests need ..."
	@$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml | $(RUN)
	@echo "Installing what the checks need ..."
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-test
