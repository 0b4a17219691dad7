# Thin names for the commands that people use. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup setup-test run test torture bench-engine bench-processors bench-scale bench clean

# rustup puts cargo here, and only login shells know it.
export PATH := $(HOME)/.cargo/bin:$(PATH)

# How often `make torture` kills a worker.
KILLS ?= 300
# How many inputs it runs in children that are killed, frozen and swollen.
INPUTS ?= 10000

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Check for cargo and a C compiler; on Debian, install what is missing
	@if ! command -v cargo >/dev/null; then \
	  echo "cargo is missing: install Rust from https://rustup.rs and try again" >&2; exit 1; \
	fi
	@if command -v cc >/dev/null && echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then \
	  echo "a C compiler is missing (SQLite is built from source): install gcc and the C headers and try again" >&2; exit 1; \
	fi; \
	as_root=; \
	if [ "$$(id -u)" -ne 0 ]; then \
	  if ! command -v sudo >/dev/null; then \
	    echo "a C compiler is missing: as root, run apt-get install gcc libc6-dev make" >&2; exit 1; \
	  fi; \
	  as_root=sudo; \
	fi; \
	echo "installing gcc libc6-dev make" >&2; \
	$$as_root apt-get update -qq; \
	DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends gcc libc6-dev make >/dev/null

setup-test: setup # Python, for the examples of processors that are programs; PostgreSQL, for the tests of its backend
	@if command -v python3 >/dev/null || ! command -v apt-get >/dev/null; then exit 0; fi; \
	as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	echo "installing python3" >&2; \
	$$as_root apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends python3 >/dev/null || \
	  echo "python3 cannot be installed; tests that need it are skipped" >&2
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  ! command -v apt-get >/dev/null; then exit 0; fi; \
	as_root=; if [ "$$(id -u)" -ne 0 ]; then as_root=sudo; fi; \
	echo "installing postgresql" >&2; \
	$$as_root apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive $$as_root apt-get install -y -qq --no-install-recommends postgresql >/dev/null || \
	  echo "postgresql cannot be installed; tests that need it are skipped" >&2

run: setup ## Process the sample documents
	@cargo run --release -q -p bindery -- run samples

test: setup-test ## Format, lint and test everything
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@if command -v cargo-nextest >/dev/null; then \
	  set -x; cargo nextest run --workspace $(if $(CI),--profile ci); \
	else \
	  set -x; cargo test --workspace; \
	fi
	cargo test --doc --workspace --quiet

torture: setup ## Kill workers KILLS times (default 300), harm children of runs; nothing may be lost or counted twice
	BINDERY_TORTURE_KILLS=$(KILLS) cargo test --release -p bindery-engine --test crash -- --nocapture --test-threads=1
	BINDERY_TORTURE_INPUTS=$(INPUTS) cargo test --release -p bindery-engine --test processes torture -- --nocapture

bench-engine: setup ## Measure the engine
	@cargo run --release -q -p bindery-engine --example bench_engine

bench-processors: setup ## Measure the runners of processors
	@cargo run --release -q -p bindery-engine --example bench_processors

bench-scale: setup-test ## Measure the engine on a private PostgreSQL, beside graphile-worker
	@cargo run --release -q -p bindery-engine --example bench_scale

bench: bench-engine bench-processors bench-scale ## Run every benchmark

clean: ## Remove what was built
	cargo clean
