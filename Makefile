# Everything runs in a virtual environment that is made on first use. It needs Python 3.11 or later
# and pip, nothing else. To use another Python: make test PYTHON=python3.13

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_BENCH := $(VENV)/.installed-bench
INSTALLED_DOCS := $(VENV)/.installed-docs

MINUTES ?= 5
LOWEST ?= .venv-lowest

# Versions are those of a lock file if one is named: make test LOCK=lock.txt
LOCK ?=
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(LOCK),--constraint $(LOCK))

.PHONY: help demo test fuzz lint format bench docs lock lowest licences sdist wheel clean

help:
	@echo "make demo    see what komb finds that others miss"
	@echo "make test    run all tests and the examples in the documentation"
	@echo "make fuzz    look for crashes, hangs and wrong answers (MINUTES=5)"
	@echo "make lint    check style, types and spelling, and look for dead code"
	@echo "make format  put the code into shape"
	@echo "make bench   measure speed against other libraries"
	@echo "make docs    build the documentation: docs/_build/html/index.html"
	@echo "make lock    write down the versions of all packages: lock.txt"
	@echo "make lowest  test with the lowest versions that are allowed"
	@echo "make sdist   build, and test what was built from a clean environment"
	@echo "make wheel   build the wheel, and run what the README shows from it in a clean environment"
	@echo "make licences  list the licences of everything that komb pulls in"
	@echo "make clean   remove the virtual environment and all caches"

demo: $(INSTALLED)
	@$(BIN)/komb warmup
	@$(BIN)/komb demo

test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile

fuzz: $(INSTALLED_DEV)
	POLARS_MAX_THREADS=1 $(BIN)/python -X dev -W error -m tests.fuzz --minutes $(MINUTES)

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/vulture
	$(BIN)/vulture src tests tools conftest.py

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED_BENCH)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/ci_tests.py
	$(BIN)/python benchmarks/search.py

docs: $(INSTALLED_DOCS)
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html"

lock: $(BIN)/python
	$(BIN)/python tools/lock.py > lock.txt.new && mv lock.txt.new lock.txt

lowest: $(BIN)/python
	@$(PYTHON) -m venv $(LOWEST)
	$(BIN)/python tools/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(LOWEST)/lowest.txt --editable . pytest pytest-xdist hypothesis
	$(LOWEST)/bin/python -m pytest -m "not slow" tests

wheel: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf dist && $(BIN)/python -m build --wheel --outdir dist .
	mkdir dist/tree && cp -r README.md conftest.py pyproject.toml docs examples tests dist/tree
	$(PYTHON) -m venv dist/clean
	dist/clean/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl pytest hypothesis
	cd dist/tree && ../clean/bin/python -m pytest -p no:cacheprovider tests/test_readme.py

licences: $(INSTALLED)
	@$(BIN)/python tools/licences.py

sdist: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	rm -rf dist && $(BIN)/python -m build --outdir dist .
	rm -rf dist/check && mkdir dist/check && tar -xzf dist/*.tar.gz -C dist/check --strip-components 1
	$(MAKE) -C dist/check test

clean:
	rm -rf $(VENV) $(LOWEST) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/_generated
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "komb needs Python 3.11 or later: make PYTHON=python3.11 ..."; exit 1; }
	@echo "Installing into $(VENV), once; this takes a minute or two ..."
	@$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml | $(BIN)/python
	@$(PIP_INSTALL) --editable .
	@touch $@

$(INSTALLED_DEV): pyproject.toml | $(BIN)/python
	@$(PIP_INSTALL) --editable ".[dev]"
	@touch $@ $(INSTALLED)

$(INSTALLED_BENCH): pyproject.toml | $(BIN)/python
	@$(PIP_INSTALL) --editable ".[dev,bench]"
	@touch $@ $(INSTALLED) $(INSTALLED_DEV)

$(INSTALLED_DOCS): pyproject.toml | $(BIN)/python
	@$(PIP_INSTALL) --editable ".[docs]"
	@touch $@ $(INSTALLED)
