# make test    lint, type check and the tests, in an environment of their own (.venv): of tests with many cases some
# make test-all  every one of them, in about twice the time
# make test-fast  lint, types and a share of all kinds of tests, in two minutes or so: while a change is made
# make corpus  all of tests/corpus on the CPU, the simulated CUDA device (under the sanitizers too) and interpreted Pallas
# make demo    the examples on every target that this machine can run
# make fuzz    generated programs on all targets against NumPy, for MINUTES=30, then the spellings, 90 % of which must meet
# make questions  what may be asked of each kind of value, in programs of three lines: QUESTIONS=6000
# make changes what others were made of, and changes behind them: lists, dicts, views: CHANGES=6000
# make layouts  arrays of every layout and type, in views of views and NumPy's functions: LAYOUTS=20000
# make spellings  functions of the corpus in other spellings, by rules: how many become the same program: PAIRS=1000
# make calls   generated calls of compiled functions, with arguments of all kinds, against Python's own: CALLS=100000
# make soak    threads and processes that compile, call, empty the cache and kill each other, for SOAK=10 minutes
# make evidence  what kernels for GPUs and TPUs are made of and ask of memory, without either; writes docs/evidence.md
# make gpu     on a machine with a CUDA device: the tests on it, compute-sanitizer, and times against CuPy, JAX and PyTorch
# make bench   against NumPy, Numba, numexpr, JAX and, where installed, torch.compile: examples, plain loops, array statements
#              and writes docs/performance.md
# make dist    the wheel and the source distribution, built twice and compared, with their bill of materials, into dist/
# make docs    the documents as a site of pages, into site/: open site/index.html

PYTHON ?= python3
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ $$n -gt 4 ] && n=4; [ $$n -lt 2 ] && n=2; echo $$n)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --no-input --disable-pip-version-check

MINUTES ?= 30
CALLS ?= 100000
QUESTIONS ?= 6000
CHANGES ?= 6000
LAYOUTS ?= 20000
PAIRS ?= 1000
SOAK ?= 10

.PHONY: test test-all test-fast corpus demo fuzz questions changes layouts spellings calls soak evidence gpu bench docs dist clean

# mypy checks beside the tests: one process, while the workers of pytest collect
CHECKED = $(BIN)/ruff check . && { $(BIN)/mypy & types=$$!; $(1); tests=$$?; wait $$types && exit $$tests; }
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q

test: $(VENV)/.dev
	@$(call CHECKED,TRANSKERN_DEVICES=half TRANSKERN_SHARE=most $(PYTEST))

test-all: $(VENV)/.dev
	@$(call CHECKED,$(PYTEST))

test-fast: $(VENV)/.dev
	@$(call CHECKED,TRANSKERN_DEVICES=half TRANSKERN_SHARE=fast $(PYTEST))

corpus: $(VENV)/.dev
	TRANSKERN_CORPUS=all $(BIN)/python -m pytest -n $(JOBS) -q tests/corpus tests/cuda/test_corpus.py tests/nests/test_device.py \
		tests/nests/test_threaded.py tests/nests/test_results.py

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.run --minutes $(MINUTES) $(OPTIONS)
	$(BIN)/python -m tests.fuzz.meeting --pairs $(PAIRS) --show 0 --atleast 0.9

questions: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.questions --programs $(QUESTIONS) $(OPTIONS)

changes: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.changes --programs $(CHANGES) $(OPTIONS)

layouts: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.layouts --programs $(LAYOUTS) $(OPTIONS)

spellings: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.meeting --pairs $(PAIRS) $(OPTIONS)

calls: $(VENV)/.dev
	$(BIN)/python -m tests.calls.run --calls $(CALLS) $(OPTIONS)

soak: $(VENV)/.dev
	$(BIN)/python -m tests.calls.soak --minutes $(SOAK)

evidence: $(VENV)/.dev
	$(BIN)/python -m benchmarks.evidence --jobs $(JOBS) $(OPTIONS)

gpu: $(VENV)/.dev
	$(BIN)/python benchmarks/gpu.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/bench_loops.py
	$(BIN)/python benchmarks/bench_workloads.py
	$(BIN)/python benchmarks/page.py

dist: $(VENV)/.dist
	$(BIN)/python -m tests.shipping.release --output dist

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# A stamp an extra: pip runs again only when pyproject.toml has changed. The environment with everything serves the demo.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[dev]'
	@touch $(VENV)/.dev $(VENV)/.demo

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[demo,pallas]'
	@touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[bench]'
	@touch $@

$(VENV)/.dist: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[dist]'
	@touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
