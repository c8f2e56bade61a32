# Lists the recipes
_default:
    @{{just_executable()}} --list

# Run the service
run *flags:
    cargo run --release -- {{flags}}

# Run the tests
test *args:
    cargo test {{args}}

# Format the sources
fmt:
    cargo fmt

# Run clippy; warnings are errors
lint:
    cargo clippy --all-targets --locked -- -D warnings

# Check formatting, lints, tests and API documentation: minutes, needs only Rust
check:
    bash .ci/run format clippy test doc

# Run every check of CI, or the given steps: needs root on Debian for missing packages
ci *steps:
    bash .ci/run {{steps}}

# Run benchmarks
bench *args:
    cargo bench --bench solve -- {{args}}

# Run a fuzz target until it finds a failure
fuzz target *args:
    cargo +nightly fuzz run {{target}} {{args}}

# Build the container image
image tag='taquin':
    docker build --tag {{tag}} .
