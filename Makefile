# Thin names for the commands that people use. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup setup-test run run-civic test torture bench-engine bench-processors bench-scale bench-amqp bench-reader bench-pipeline bench-states bench-civic bench-fields bench train-fields clean

# rustup puts cargo here, and only login shells know it.
export PATH := $(HOME)/.cargo/bin:$(PATH)

# How often `make torture` kills a worker.
KILLS ?= 300
# How often the harness outside kills workers of the real binary, and over how many pages.
OUTSIDE_KILLS ?= 60
OUTSIDE_PAGES ?= 2000
# How often it kills `bindery run`.
RUN_KILLS ?= 50
# How many random sequences of operations it runs on each store and on a model of it.
SEQUENCES ?= 3000
# How many inputs it runs in children that are killed, frozen and swollen.
INPUTS ?= 10000
# How many hostile files it reads.
MUTATIONS ?= 20000

# The tests of the engine and the pipeline run twice: on SQLite, and on a PostgreSQL server of their own.
# All of the workspace is named, because fewer packages would be built with other features, all over again.
ON_BOTH_STORES := --workspace --test it --test crash
WITH_POSTGRES := cargo run -q -p bindery-testkit --bin with-postgres --

# Programs that only tests need. The tests look for them here.
TEST_TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/bindery/test-tools

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Check for cargo, a C compiler and Tesseract; on Debian, install what is missing
	@scripts/setup

setup-test: setup # What only tests need: Python, PostgreSQL, RabbitMQ, an S3 server
	@scripts/setup-test $(TEST_TOOLS)

run: setup ## Process the sample papers in samples/inbox
	@cargo run --release -q -p bindery -- run samples/inbox

# Where `make run-civic` keeps what it has read. Without it, in a folder that is removed at the end; with it, a second run
# finds that nothing is new.
CIVIC_STORE ?=
run-civic: setup ## Follow the made-up town in samples/civic, and print what its citizens would read
	@cargo build --release -q -p bindery
	@scripts/run-civic target/release/bindery $(CIVIC_STORE)

# Where tests are run for others to rely on, one that cannot run is a failure.
test: export BINDERY_REQUIRE_PROGRAMS := $(CI)
# A build from clean has no use for what the next build could reuse, and it costs a fifth of the disk.
ifdef CI
test: export CARGO_INCREMENTAL := 0
endif
test: setup-test ## Format, lint and test everything
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@if command -v cargo-nextest >/dev/null; then \
	  set -ex; cargo nextest run --workspace $(if $(CI),--profile ci); \
	  $(WITH_POSTGRES) cargo nextest run --workspace $(if $(CI),--profile ci) \
	    -E 'binary(it) | binary(crash)'; \
	  cargo test --doc --workspace --quiet; \
	else \
	  set -ex; cargo test --workspace; \
	  $(WITH_POSTGRES) cargo test $(ON_BOTH_STORES); \
	fi

torture: setup-test ## Kill workers KILLS times (default 300), by kill -9 and by pages that kill them, and executors between any two events, run random sequences on both stores, crash the server, harm children of runs, read hostile files: nothing may be lost, counted twice or brought down
	PROPTEST_CASES=$(SEQUENCES) cargo test --release -p bindery-store --test property --test postgres_property
	BINDERY_TORTURE_KILLS=$(KILLS) cargo test --release -p bindery-engine --test crash -- --nocapture --test-threads=1
	BINDERY_TORTURE_KILLS=$(KILLS) $(WITH_POSTGRES) cargo test --release -p bindery-engine --test crash -- --nocapture --test-threads=1
	BINDERY_TORTURE_KILLS=$(KILLS) cargo test --release -p bindery-engine --test it machines::crash -- --nocapture
	BINDERY_TORTURE_KILLS=$(KILLS) $(WITH_POSTGRES) cargo test --release -p bindery-engine --test it machines::crash -- --nocapture
	BINDERY_TORTURE_KILLS=$(KILLS) cargo test --release -p bindery-pipeline --test it seed003::machine::s003_23 -- --nocapture
	BINDERY_TORTURE_KILLS=$(KILLS) $(WITH_POSTGRES) cargo test --release -p bindery-pipeline --test it seed003::machine::s003_23 -- --nocapture
	BINDERY_TORTURE_KILLS=$(KILLS) cargo test --release -p bindery-amqp --test torture -- --nocapture
	BINDERY_KILLS=$(RUN_KILLS) cargo test --release -p bindery --test cli killed_at_any_moment -- --nocapture
	cargo build --release -p bindery
	tests/outside/kills.py target/release/bindery --kills $(OUTSIDE_KILLS) --pages $(OUTSIDE_PAGES)
	tests/outside/kills.py target/release/bindery --kills $(OUTSIDE_KILLS) --pages $(OUTSIDE_PAGES) --guilty
	$(WITH_POSTGRES) sh -c 'tests/outside/kills.py target/release/bindery --kills $(OUTSIDE_KILLS) --pages $(OUTSIDE_PAGES) --store "$$BINDERY_TEST_POSTGRES"'
	$(WITH_POSTGRES) sh -c 'tests/outside/kills.py target/release/bindery --kills $(OUTSIDE_KILLS) --pages $(OUTSIDE_PAGES) --guilty --store "$$BINDERY_TEST_POSTGRES"'
	BINDERY_TORTURE_INPUTS=$(INPUTS) cargo test --release -p bindery-engine --test processes torture -- --nocapture
	BINDERY_TORTURE_MUTATIONS=$(MUTATIONS) cargo test --release -p bindery-reader --test hostile -- --nocapture

# Several measurements end in one line.
ONE_LINE = awk '/^BENCH / { sub(/^BENCH /, ""); all = all " " $$0; next } { print; fflush() } END { print "BENCH" all }'

bench-engine: setup ## Measure the engine, and what looking at a submission of a million pages costs
	@cargo build --release -q -p bindery; \
	{ cargo run --release -q -p bindery-engine --example bench_engine; \
	  python3 bench/looking/bench.py target/release/bindery; } | $(ONE_LINE)

bench-processors: setup ## Measure the runners of processors
	@cargo run --release -q -p bindery-engine --example bench_processors

bench-amqp: setup-test ## Measure the way over RabbitMQ
	@cargo run --release -q -p bindery-amqp --example bench_amqp

bench-scale: setup-test ## Measure the engine on a private PostgreSQL, beside graphile-worker, and over RabbitMQ
	@{ cargo run --release -q -p bindery-engine --example bench_scale; \
	  cargo run --release -q -p bindery-amqp --example bench_amqp; } | $(ONE_LINE)

bench-states: setup-test ## Measure state machines: durable ones, beside aws-local-stepfunctions, and JSONata beside jsonata-js
	@export BINDERY_PEERS=$(TEST_TOOLS)/states-peers; \
	{ cargo run --release -q -p bindery-engine --example bench_machines; \
	  cargo run --release -q -p bindery-states --example bench_states; } | $(ONE_LINE)

# The files and scorers come from outside; the peers live in an environment of their own.
SHARED := ../shared
PEERS := $(TEST_TOOLS)/reader-peers
# PARTS, such as receipts, measures only those.
bench-reader: setup-test ## Measure `bindery read` beside pdfium, markitdown, tesseract and rapidocr
	@if [ ! -d $(SHARED)/fixtures/documents ]; then echo "skipped: $(SHARED)/fixtures is not here"; exit 0; fi; \
	[ -x $(PEERS)/bin/python ] || python3 -m venv $(PEERS); \
	$(PEERS)/bin/pip install -q --disable-pip-version-check -r bench/reader/peers.txt && \
	cargo build --release -q -p bindery && cargo build --release -q -p bindery-reader --example pdf_tables --example ruled_grids && \
	BINDERY_OCR_MODELS=$(TEST_TOOLS)/ppocr-v6 \
	python3 bench/reader/bench.py target/release/bindery target/release/examples/pdf_tables $(SHARED) $(PEERS)/bin/python $(PARTS)

# What makes the generated papers lives in an environment of its own, too. PARTS, such as overhead, measures only those.
MAKER := $(TEST_TOOLS)/paper-makers
bench-pipeline: setup-test ## Measure `bindery run` beside `bindery read`, its waits for the disk, tiny files, its memory, what a kill and a changed file cost, fields and types
	@if [ ! -d $(SHARED)/fixtures/documents ]; then echo "skipped: $(SHARED)/fixtures is not here"; exit 0; fi; \
	[ -x $(MAKER)/bin/python ] || python3 -m venv $(MAKER); \
	$(MAKER)/bin/pip install -q --disable-pip-version-check -r bench/pipeline/piles/requirements.txt && \
	cargo build --release -q -p bindery && \
	cargo build --release -q -p bindery-fields --example score_fields --example score_pages && \
	python3 bench/pipeline/bench.py target/release/bindery target/release/examples/score_fields \
	  target/release/examples/score_pages $(SHARED) $(MAKER)/bin/python $(PARTS)

bench-civic: setup-test ## Measure following councils: parsing, a visit of 200 meetings, the filter, reading a city, the limiter of models
	@if [ ! -d $(SHARED)/fixtures/civic ]; then echo "skipped: $(SHARED)/fixtures is not here"; exit 0; fi; \
	{ cargo run --release -q -p bindery-civic --example bench_civic -- $(SHARED)/fixtures/civic; \
	  cargo run --release -q -p bindery-models --example bench_models; } | $(ONE_LINE)

bench-fields: setup ## Measure fields on receipts, ad buys, contracts and e-invoices from outside
	@if [ ! -d $(SHARED)/fixtures/documents ]; then echo "skipped: $(SHARED)/fixtures is not here"; exit 0; fi; \
	cargo build --release -q -p bindery-fields --bin bench-fields && \
	BINDERY_OCR_MODELS=$(TEST_TOOLS)/ppocr-v6 python3 bench/fields/bench.py target/release/bench-fields $(SHARED)

# PAPERS makes fewer of them, for a quick look.
PAPERS ?= 8000
LEARNED := crates/fields/src/extract/learned
train-fields: setup ## Make papers, train the models that read fields on them, and write the models and docs/fields-training.md
	@cargo run --release -q -p bindery-fields --bin train-fields -- $(LEARNED)/fields.model docs/fields-training.md --papers $(PAPERS)

bench: bench-engine bench-processors bench-scale bench-reader bench-pipeline bench-states bench-civic bench-fields ## Run every benchmark

clean: ## Remove what was built
	cargo clean
