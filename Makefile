# The two commands for everyone: `make quickstart` and `make test`. `make help` lists the others.
#
# Nothing but Python (3.10 or later, with venv) and make need be there; everything else goes into
# a virtual environment inside this directory. Another Python: make test PYTHON=python3.12

SHELL := /bin/sh
PYTHON ?= python3
# Each Python has an environment of its own, so that changing PYTHON changes nothing else.
VENV ?= $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
DIST ?= dist
PYTEST_ARGS ?=

PY = "$(VENV)/bin/python"
CLEAN_ENV = env -u PYTHONPATH -u PYTHONHOME -u ANKERL_PY_PURE PYTHONNOUSERSITE=1 \
	PIP_DISABLE_PIP_VERSION_CHECK=1
# Settings for a user's own benchmarks have no business in the tests.
TEST_ENV = env -u NANOBENCH_CONFIG -u NANOBENCH_ENDLESS -u NANOBENCH_SUPPRESS_WARNINGS $(CLEAN_ENV)

# What an installation depends on. The package itself is installed as a link to this directory.
SOURCES := pyproject.toml setup.py ankerl_py/native/build.py \
	$(filter-out %/_native.c,$(wildcard $(addprefix ankerl_py/native/,*.c *.cdef *.h)))
# Three stages: the package alone, with what its tests need, with the tools of its developers.
STAGE = $(VENV)/.installed-

# An environment that was moved or copied with its directory links to the old one: make it anew.
_ := $(shell for stamp in "$(VENV)"/.installed-*; do \
	[ ! -e "$$stamp" ] || [ "$$(cat "$$stamp")" = "$$(pwd -P)" ] || rm -f "$$stamp"; done)

# In words where the native module is missing; nothing where it is there.
MISSING = $(CLEAN_ENV) $(PY) -c \
	"from ankerl_py.backends.compiled import missing_reason; print(missing_reason())"

.PHONY: help quickstart test bench lint dist clean
.DELETE_ON_ERROR:

help:
	@echo "make quickstart   set up, then run examples/quickstart.py"
	@echo "make test         set up, then run all tests, with the native module and without"
	@echo "make bench        measure the speed and accuracy of the library itself (minutes)"
	@echo "make lint         ruff and mypy"
	@echo "make dist         build sdist and wheel into $(DIST)/"
	@echo "make clean        remove everything that was made, the environment included"
	@echo
	@echo "PYTHON=$(PYTHON)  the Python to use, 3.10 or later"
	@echo "PYTEST_ARGS=...   more arguments for pytest"

quickstart: $(STAGE)run
	@env -u PYTHONPATH PYTHONNOUSERSITE=1 $(PY) examples/quickstart.py

# Both ways if there is a native module; if there is none, say so rather than pass quietly.
test: $(STAGE)test
	@reason=$$($(MISSING)) || exit 1; \
	if [ -z "$$reason" ]; then \
		echo "== tests with the native module"; \
		$(TEST_ENV) $(PY) -m pytest $(PYTEST_ARGS) || exit 1; \
	else \
		echo "== no tests with the native module: $$reason"; \
	fi; \
	echo "== tests in pure Python"; \
	$(TEST_ENV) ANKERL_PY_PURE=1 $(PY) -m pytest $(PYTEST_ARGS)

bench: $(STAGE)test
	@for benchmark in benchmarks/bench_*.py; do \
		$(TEST_ENV) $(PY) "$$benchmark" || exit 1; \
	done

lint: $(STAGE)dev
	@$(CLEAN_ENV) $(PY) -m ruff check .
	@$(CLEAN_ENV) $(PY) -m ruff format --check .
	@$(CLEAN_ENV) $(PY) -m mypy

# The wheel is built from the sdist, so that the sdist is known to hold all that it takes.
dist: $(STAGE)dev
	@$(CLEAN_ENV) $(PY) -m build --outdir "$(DIST)" .

$(STAGE)run: EXTRA =
$(STAGE)test: EXTRA = [test]
$(STAGE)dev: EXTRA = [dev]
$(STAGE)run $(STAGE)test $(STAGE)dev: $(SOURCES)
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "$(PYTHON) is not there - install Python 3.10 or later, or name one:" \
			"make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c "import sys; sys.exit(sys.version_info < (3, 10))" || { \
		echo "$(PYTHON) is no working Python 3.10 or later - name one:" \
			"make PYTHON=python3.12" >&2; exit 1; }
	@echo "== setting up $(VENV)"
	@$(CLEAN_ENV) "$(PYTHON)" -m venv "$(VENV)" || { \
		echo "$(PYTHON) cannot make virtual environments - on Debian and Ubuntu:" \
			"apt install python3-venv" >&2; exit 1; }
	@$(CLEAN_ENV) $(PY) -m pip install --quiet --editable ".$(EXTRA)"
	@reason=$$($(MISSING)) || exit 1; [ -z "$$reason" ] || { \
		echo "== $$reason"; \
		echo "   Everything works without it; callables are timed by a loop in Python then."; \
		echo "   To have it: install a C compiler (on Debian and Ubuntu:" \
			"apt install gcc python3-dev), then make clean."; }
	@pwd -P >"$@"

clean:
	rm -rf .venv .venv-* build dist *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f ankerl_py/native/_native.c ankerl_py/native/_native*.so ankerl_py/native/_native*.pyd
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
