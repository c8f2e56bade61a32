# `just` lists these.
_default:
    @just --list

# The service, on embedded defaults
run *flags:
    cargo run --release -- {{flags}}

# All tests
test *args:
    cargo test {{args}}

# Format the sources
fmt:
    cargo fmt

# Clippy, every warning an error
lint:
    cargo clippy --all-targets -- --deny warnings

# Everything CI checks
check:
    bash .ci/run

# Benchmarks
bench *args:
    cargo bench --bench solve -- {{args}}

# A fuzz target, for ever
fuzz target *args:
    cargo +nightly fuzz run {{target}} {{args}}

# The container image
image tag='taquin':
    docker build --tag {{tag}} .
