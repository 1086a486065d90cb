# The commands of this repository. `make` alone lists them.
#
# A Rust toolchain, Python 3.10 or later and a C linker are all that is assumed; what else Python needs goes into
# .venv. CARGO_TARGET_DIR, PYTHON and VENV may be set from outside.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
VENV ?= .venv
CARGO ?= cargo
CONTAINER ?= podman
TARGET := $(or $(CARGO_TARGET_DIR),target)
BIN := $(VENV)/bin
STUDY := codel-drr-bandwidth-mtu
RESULTS := results/$(STUDY)
PAPER := results/paper
BOARD ?= results/board
# Not empty: the full form of the board, in place of the quick one.
FULL ?=
MINUTES ?= 60
KILLS ?= 100
# The crates of the simulation, which have to compile to WebAssembly as well, as does what checks a scenario.
SIMULATION := units sim queue cc transport traffic
WASM := $(SIMULATION) scenario

FUZZED := units scenario trace opportunities animation

# PyO3 looks for the interpreter here.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: develop ## Build the command, run the study of CoDel against DRR, write its report and figures
	$(BIN)/sojourn study $(STUDY) --out $(RESULTS)
	$(BIN)/sojourn report $(RESULTS) --images svg,png

.PHONY: board
board: develop ## Run all suites over all algorithms and write their board, the quick form; FULL=1 for the full one
	$(BIN)/sojourn board --out $(BOARD) $(if $(FULL),,--quick)

.PHONY: paper
paper: develop ## Run the study of docs/paper, write its tables, numbers and figure, and typeset it
	$(BIN)/sojourn study docs/paper/study.toml --out $(PAPER)/results > /dev/null
	$(BIN)/sojourn report $(PAPER)/results --latex --images pdf --width ieee > /dev/null
	cp docs/paper/paper.tex $(PAPER)
	@# References are known after the first pass.
	cd $(PAPER) && for pass in 1 2; do pdflatex -interaction=nonstopmode -halt-on-error paper.tex > /dev/null || { cat paper.log; exit 1; }; done
	@echo "Paper: $(PAPER)/paper.pdf"

.PHONY: test
test: dev-tools develop ## Run every test: Rust, oracles, Python
	@# Builds the command of SOJOURN_BIN, too.
	$(CARGO) test --no-fail-fast 2>&1 | $(BIN)/python .ci/durations.py
	$(CARGO) test --no-fail-fast --package sojourn-queue-c
	SOJOURN_BIN=$(abspath $(TARGET))/debug/sojourn $(BIN)/python -m pytest -n auto --durations 10 tests/oracles tests/python

.PHONY: page
page: web/node_modules/.package-lock.json ## Build the live page into target/page: needs Node and the target wasm32-unknown-unknown
	@[ -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ] \
		|| { echo "page: the target is missing; run: rustup target add wasm32-unknown-unknown" >&2; exit 1; }
	$(CARGO) build --package sojourn-web --target wasm32-unknown-unknown --profile wasm
	cd web && npm run --silent check
	cd web && node build.mjs $(abspath $(TARGET))/wasm32-unknown-unknown/wasm/sojourn_web.wasm $(abspath $(TARGET))/page

.PHONY: page-test
page-test: page ## Compare the page's module with the native build, and use the page in headless Chromium
	$(CARGO) build --quiet --package sojourn-cli --package sojourn-web --bins --examples
	$(TARGET)/debug/examples/identity > $(TARGET)/identity.jsonl
	cd web && node tests/identity.mjs $(abspath $(TARGET))/page/sojourn.wasm $(abspath $(TARGET))/identity.jsonl
	cd web && SOJOURN_BIN=$(abspath $(TARGET))/debug/sojourn SOJOURN_OUTCOME=$(abspath $(TARGET))/debug/examples/outcome npx playwright test

# Browsers are the system's: nothing is downloaded but what the lock file names.
web/node_modules/.package-lock.json: web/package-lock.json
	cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --silent
	touch $@

.PHONY: report-test
report-test: dev-tools site-test-tools develop ## Look at reports of several studies and at animations in a browser: needs Chromium
	SOJOURN_REPORTS=all SOJOURN_BIN=$(abspath $(BIN))/sojourn $(BIN)/python -m pytest -n auto --dist loadfile tests/python/test_report_page.py tests/python/test_nam.py

.PHONY: soak
soak: $(BIN)/python ## Draw new cases for every property test: make soak MINUTES=60
	$(BIN)/python .ci/soak.py --minutes $(MINUTES)

.PHONY: dask-soak
dask-soak: dev-tools develop ## Kill workers of a Dask cluster at random: make dask-soak KILLS=100
	$(BIN)/python .ci/dasksoak.py --kills $(KILLS)

.PHONY: fuzz-seeds
fuzz-seeds: ## Run every fuzz target once on each file of fuzz/seeds; needs a C++ compiler, no nightly
	@# Dependencies begin with the versions of this workspace.
	test -f fuzz/Cargo.lock || cp Cargo.lock fuzz/Cargo.lock
	cd fuzz && $(CARGO) build --bins --target-dir target
	cd fuzz && for target in $(FUZZED); do target/debug/$$target seeds/$$target/*; done

.PHONY: check
check: check-format check-rust check-python check-generated check-wasm check-history check-tidy ## Run every check that is not a test
	@echo "check: all passed"

.PHONY: check-format
check-format: dev-tools
	$(CARGO) fmt --all --check
	@# Modules that a macro declares are out of cargo fmt's sight.
	find crates examples fuzz benches tests -name '*.rs' -not -path '*/target/*' 2>/dev/null | sort \
		| xargs rustfmt --check --edition 2024 --config-path rustfmt.toml
	$(BIN)/ruff format --check

.PHONY: check-rust
check-rust: dev-tools
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	@# Its lock file follows the dependencies of the crates here.
	$(CARGO) metadata --locked --format-version 1 --manifest-path examples/own-algorithms/Cargo.toml > /dev/null
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

.PHONY: check-python
check-python: dev-tools develop
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --concise --mypy-config-file pyproject.toml sojourn

.PHONY: check-generated
check-generated: dev-tools develop
	$(BIN)/python .ci/generated.py --sojourn $(BIN)/sojourn --check
	$(BIN)/python .ci/studies.py --sojourn $(BIN)/sojourn --check
	$(BIN)/python .ci/gallery.py --check

.PHONY: check-wasm
check-wasm:
	@if [ -d "$$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ]; then \
		echo "$(CARGO) check --target wasm32-unknown-unknown: $(WASM)"; \
		$(CARGO) check --target wasm32-unknown-unknown $(addprefix -p sojourn-,$(WASM)) -p sojourn-web; \
	else \
		echo "check-wasm: skipped, the target wasm32-unknown-unknown is not installed"; \
	fi

.PHONY: check-history
check-history: develop
	$(BIN)/python benches/history.py --check

.PHONY: check-tidy
check-tidy: dev-tools
	$(BIN)/python .ci/tidy.py

.PHONY: own
own: ## Build, test and run examples/own-algorithms, the crate outside the workspace; minutes on a cold cache
	cd examples/own-algorithms && $(CARGO) test --locked && $(CARGO) run --quiet --locked -- show slope
	cd examples/own-algorithms && $(CARGO) run --quiet --locked -- dumbbell --queue slope --queue codel --flow gentle --duration 5s

.PHONY: api
api: ## Compare what the crate sojourn exports with crates/sojourn/tests/api.txt
	$(CARGO) test -p sojourn --test api

.PHONY: bench
bench: develop ## Measure the engine: ns per packet-hop, memory, ratio to the bare ring loop
	$(BIN)/sojourn bench

.PHONY: bench-peers
bench-peers: develop ## Compare the engine with ns-2 and ns-3 where they are installed
	$(BIN)/python benches/peers/run.py --sojourn $(BIN)/sojourn

.PHONY: bench-record
bench-record: develop ## Add this commit's instructions per packet-hop to benches/history.csv
	$(BIN)/python benches/history.py --record

.PHONY: fmt
fmt: dev-tools ## Format Rust and Python
	$(CARGO) fmt --all
	find crates examples fuzz benches tests -name '*.rs' -not -path '*/target/*' 2>/dev/null | sort \
		| xargs rustfmt --edition 2024 --config-path rustfmt.toml
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: generate
generate: develop ## Write the generated files again: JSON Schema, reference pages, output of examples, the header for C
	$(BIN)/python .ci/generated.py --sojourn $(BIN)/sojourn
	SOJOURN_WRITE_HEADER=1 $(CARGO) test --package sojourn-queue-c --test header

.PHONY: studies
studies: dev-tools develop ## Run every study and write its README's numbers; STUDY=name for one
	$(BIN)/python .ci/studies.py --sojourn $(BIN)/sojourn $(if $(filter command environment,$(word 1,$(origin STUDY))),--study $(STUDY))

.PHONY: notebooks
notebooks: dev-tools develop ## Run the notebooks and write their outputs
	$(BIN)/python .ci/notebooks.py

.PHONY: coverage
coverage: ## Measure how often the intervals hold the truth: minutes; writes docs/reference/coverage.md
	$(CARGO) test --package sojourn-run --test coverage -- --ignored

.PHONY: gallery
gallery: develop ## Run the studies of docs/gallery.toml and draw the pictures of docs/gallery.md
	$(BIN)/python .ci/gallery.py --sojourn $(BIN)/sojourn

.PHONY: site
site: docs-tools ## Build the documentation site into target/site; broken links are errors
	$(BIN)/python .ci/website.py --out $(TARGET)/site

.PHONY: site-test
site-test: site site-test-tools ## Open the site in headless Chromium: search, width, requests
	SOJOURN_SITE=$(abspath $(TARGET))/site $(BIN)/python -m pytest -q -rs tests/python/test_site.py

.PHONY: wheel
wheel: wheel-tools ## Build the Python wheel into dist/, with full optimisation
	SOJOURN_COMMIT=$$(git rev-parse HEAD 2>/dev/null || true) $(BIN)/maturin build --profile dist --out dist

.PHONY: wheel-test
wheel-test: wheel dev-tools ## Build the wheel, install it with pip in a clean environment and run it there
	SOJOURN_WHEEL=$(abspath dist) $(BIN)/python -m pytest -q -rs tests/python/test_wheel.py

.PHONY: container
container: ## Build the container image sojourn with CONTAINER (podman, buildah or docker)
	$(CONTAINER) build --tag sojourn --file Containerfile .

.PHONY: develop
develop: wheel-tools # The Python package, with the command in it.
	$(BIN)/maturin develop --release --quiet

.PHONY: clean
clean: ## Remove what these targets made: target, .venv, dist, results
	rm -rf $(TARGET) $(VENV) dist results python/sojourn/_core*.so

.PHONY: wheel-tools dev-tools docs-tools site-test-tools
wheel-tools: $(VENV)/wheel-tools
dev-tools: $(VENV)/dev-tools
docs-tools: $(VENV)/docs-tools
site-test-tools: $(VENV)/site-test-tools

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else "Python 3.10 or later is needed; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

# Versions are bounded in requirements files, so that a build of today can be made again.
$(VENV)/wheel-tools: $(BIN)/python .ci/wheel-tools.txt
	$(BIN)/python -m pip install --quiet -r .ci/wheel-tools.txt
	touch $@

$(VENV)/dev-tools: $(VENV)/wheel-tools .ci/dev-tools.txt
	$(BIN)/python -m pip install --quiet -r .ci/dev-tools.txt
	touch $@

# Groups of dependencies need a pip of 2025.
$(VENV)/docs-tools: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(VENV)/site-test-tools: $(VENV)/docs-tools
	$(BIN)/python -m pip install --quiet --group site-test
	touch $@
