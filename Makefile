# `make test` sets up and runs every test. The rest is for daily work.

CARGO ?= cargo

.PHONY: help test test-checked explore explorer test-explorer test-flower test-pfl test-opacus lint both-sides calibrate-check fuzz fuzz-wire chaos postgres chaos-postgres bench bench-accounting bench-training bench-services experiments-training reproduce docs book demo dist dist-check wheels wheels-check

help:
	@echo "make test    format check, clippy and every test, Rust and Python, in release mode"
	@echo "make lint    format, house style, links, dependencies, spelling, clippy, documentation without warnings"
	@echo "make explorer          the page of 'shuffledp explore', and a program that carries it, in target/release"
	@echo "make test-explorer     the page in a headless Chromium, against the command line"
	@echo "make test-checked      every Rust test with debug assertions and overflow checks; PACKAGES=\"-p NAME\" chooses"
	@echo "make explore           property tests with ROUNDS random seeds; failing seeds are kept"
	@echo "make test-flower       shuffledp.flower, its example app and a histogram on Ray, in a venv of their own; part of make test"
	@echo "make test-pfl          shuffledp.pfl, likewise"
	@echo "make test-opacus       shuffledp.opacus, with PyTorch: 5.5 GB"
	@echo "make both-sides        lower bounds against upper bounds, ten thousand random questions"
	@echo "make calibrate-check   a thousand random targets, fed back, and how long they took"
	@echo "make fuzz-wire         ten million mutated frames against the parsers, a hundred thousand reports through HPKE"
	@echo "make fuzz              that, and broken CSV, IDX, NPZ, weights, configurations and ledgers"
	@echo "make chaos             shuffler and server killed at random behind a bad network, ten minutes; bench/chaos/README.md"
	@echo "make postgres   the tests of several replicas, on a PostgreSQL that is installed if need be"
	@echo "make chaos-postgres   three shufflers and their PostgreSQL killed at random, ten minutes; bench/chaos/README.md"
	@echo "make bench   benchmarks"
	@echo "make bench-accounting   the same questions to us and to our peers from PyPI; bench/accounting/README.md"
	@echo "make bench-training     per-example gradients, ours and PyTorch's; bench/training/README.md"
	@echo "make bench-services     durable reports a second, a batch of a million, reports opened a second; bench/services/README.md"
	@echo "make experiments-training   the papers' training runs on MNIST, hours; experiments/training/README.md"
	@echo "make reproduce   every figure and table of the papers, with verdicts; renews docs/gallery"
	@echo "make docs    API documentation, and a list of the written ones"
	@echo "make book    the documentation as one searchable book, in target/book/html"
	@echo "make demo    clients, shuffler and server on this machine, about a minute; writes report.html"
	@echo "make dist    the archives of a release, with checksums, in target/archives; docs/releasing.md"
	@echo "make wheels  wheels of the Python package for manylinux2014 and musllinux, and its sources, in target/wheels"
	@echo "make dist-check   the same archives once more: sums, unpacked, asked a question"

test:
	@CARGO="$(CARGO)" bash tools/test.sh

# The program is built after the page, which it carries. Cargo does not watch a file that was missing: hence touch.
explorer:
	@CARGO="$(CARGO)" python3 tools/explorer.py
	@touch crates/cli/build.rs
	$(CARGO) build --release

test-explorer:
	@CARGO="$(CARGO)" bash tools/need.sh wasm chromium
	@$(MAKE) explorer
	python3 tools/test_explorer.py

test-flower test-pfl test-opacus: test-%:
	@CARGO="$(CARGO)" bash tools/python.sh setup
	@CARGO="$(CARGO)" bash tools/python.sh framework $*

# The first half takes seconds, and `make test` does it too. cargo-deny is built once, in some minutes, and typos comes
# as a wheel; both stay below target/tools.
lint: target/tools/bin/cargo-deny target/tools/python/bin/typos
	@CARGO="$(CARGO)" bash tools/need.sh rustfmt clippy python
	$(CARGO) fmt --all -- --check
	python3 tools/prose.py
	python3 tools/links.py
	CARGO="$(CARGO)" python3 tools/dependencies.py
	target/tools/python/bin/typos
	target/tools/bin/cargo-deny --all-features check bans licenses sources
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps --document-private-items

CARGO_DENY_VERSION = 0.20.2

target/tools/bin/cargo-deny:
	$(CARGO) install --locked --root target/tools cargo-deny@$(CARGO_DENY_VERSION)

target/tools/python/bin/typos: tools/requirements-lint.txt
	python3 -m venv target/tools/python
	target/tools/python/bin/pip install --quiet --requirement $<
	@touch $@

# ROUNDS random seeds for every property test; those that fail are kept in tools/failing-seeds.txt.
explore:
	CARGO="$(CARGO)" python3 tools/explore.py $(or $(ROUNDS),10)

# The same tests as in `make test`, with debug assertions and overflow checks in every crate; builds everything anew.
test-checked:
	PROPTEST_RNG_SEED=1 $(CARGO) test --profile checked $(or $(PACKAGES),--workspace) --no-fail-fast

both-sides:
	BOTH_SIDES_QUESTIONS=10000 $(CARGO) test --release -p shuffledp-accounting --test both_sides

calibrate-check:
	CALIBRATE_TARGETS=1000 $(CARGO) test --release -p shuffledp-accounting --test calibrate random_targets -- --nocapture

# Frames, reports, seed.
fuzz-wire:
	$(CARGO) run --release -p shuffledp-wire --example mutate -- 10000000 100000 $(or $(SEED),1)

# FUZZ_CASES of each kind of file, from FUZZ_SEED on; a failure prints its seed.
fuzz: fuzz-wire
	FUZZ_CASES=$(or $(FUZZ_CASES),300000) FUZZ_SEED=$(or $(FUZZ_SEED),1000000) \
		$(CARGO) test --release -p shuffledp-learning --test wrong_files

# CHAOS_MINUTES or CHAOS_ROUNDS, CHAOS_SEED, CHAOS_AT_ONCE; CHAOS_RESULTS=FILE (absolute) keeps the figures, CHAOS_TELL=1 tells everything.
chaos:
	CHAOS_MINUTES=$(or $(CHAOS_MINUTES),10) $(CARGO) test --release -p shuffledp --test chaos -- --nocapture

# Installs PostgreSQL where root can, or names the one line to type; then everything that needs it.
postgres:
	@bash tools/postgres.sh install
	CI=true $(CARGO) test --release -p shuffledp-postgres --test database
	CI=true $(CARGO) test --release -p shuffledp-shuffler --test postgres
	CI=true $(CARGO) test --release -p shuffledp-server --lib replicas

# CHAOS_MINUTES, CHAOS_SEED; CHAOS_RESULTS=FILE (absolute) keeps the figures.
chaos-postgres:
	CI=true CHAOS_MINUTES=$(or $(CHAOS_MINUTES),10) $(CARGO) test --release -p shuffledp-shuffler --test chaos_postgres

bench:
	$(CARGO) bench --workspace --bench '*'

# Asks only what bench/accounting/results.json lacks; ARGS=--fresh asks everything again, ARGS=--ours only us.
bench-accounting:
	$(CARGO) build --release
	$(CARGO) bench -p shuffledp-accounting --bench questions
	python3 bench/accounting/run.py $(ARGS)

# Needs about 6 GB for PyTorch, unless TORCH_PYTHON names a Python that has it.
bench-training:
	$(CARGO) build --release -p shuffledp-learning --example gradient_speed --example linear_speed
	python3 bench/training/run.py $(ARGS)
	python3 bench/training/linear.py $(ARGS)

# A few minutes and 5 GB of disk. ARGS="--folder DIR" measures another disk.
bench-services:
	$(CARGO) build --release -p shuffledp-wire --example report_speed
	$(CARGO) build --release -p shuffledp-server --example batch_speed
	$(CARGO) build --release -p shuffledp-shuffler --example load
	python3 bench/services/run.py $(ARGS)

# Stop it at any moment; it goes on where it was. PRESETS="…" and SEEDS="…" choose.
experiments-training:
	bash experiments/training/run.sh $(PRESETS)

# The whole gallery, with a page to look at, goes to target/gallery; its text and pictures are committed.
reproduce:
	$(CARGO) run --release -- reproduce --all --quick -o target/gallery
	@mkdir -p docs/gallery && rm -f docs/gallery/*.svg
	@cp target/gallery/README.md docs/gallery/
	@for name in $$(sed -n 's/^!\[.*](\(.*\.svg\))$$/\1/p' target/gallery/README.md); do cp target/gallery/$$name docs/gallery/; done
	@echo "Look at target/gallery/index.html"

docs:
	$(CARGO) doc --workspace --no-deps
	@echo
	@echo "API: $$($(CARGO) metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/doc/shuffledp_accounting/index.html"
	@echo "Written:"
	@find README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs -name '*.md' | sed 's/^/  /' | sort

# mdBook is built once, in a few minutes. MDBOOK=PATH uses one that is there.
MDBOOK_VERSION = 0.5.4
MDBOOK ?= target/tools/bin/mdbook

target/tools/bin/mdbook:
	$(CARGO) install --locked --no-default-features --features search --root target/tools mdbook@$(MDBOOK_VERSION)

book: $(MDBOOK)
	@python3 tools/book.py $(MDBOOK)

demo:
	$(CARGO) run --release -- demo

# TARGETS="…" builds for others than the static one; each takes about ten minutes.
dist:
	@CARGO="$(CARGO)" bash tools/need.sh
	@CARGO="$(CARGO)" python3 tools/dist.py $(TARGETS)

# LIBC=manylinux or LIBC=musllinux builds one of them. Each takes about five minutes of processor time.
wheels:
	@CARGO="$(CARGO)" bash tools/need.sh python
	@python3 tools/wheels.py $(LIBC)

wheels-check:
	@python3 tools/wheels.py --check

dist-check:
	@CARGO="$(CARGO)" python3 tools/dist.py --check
