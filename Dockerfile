# Builds a static binary and an image with nothing else: no shell, no libc, no package manager.
# Works with `docker build .` (BuildKit) and `buildah bud .`, natively on amd64 and arm64.

# Comma-separated Cargo features: cluster, for jobs on many machines; parquet, for files of `taquin batch`; otel, for
# traces.
ARG FEATURES=cluster,parquet

FROM docker.io/library/rust:1.95-slim-bookworm@sha256:d7482085ff5b415f84dba5647ae71606650bdef00db7aeb69f4b3d170c3e4082 AS rust
WORKDIR /src

# The software bill of materials, in a separate stage, so that its tool cannot affect the binary. The
# tool lists crates; the other statically linked libraries are added here. The caches are separate
# because buildah 1.28 releases only the last lock of a step.
FROM rust AS sbom
ARG FEATURES
COPY . .
RUN --mount=type=cache,id=taquin-tools-registry,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=taquin-tools,target=/tools,sharing=locked \
    set -eu; \
    CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
        cargo install --quiet --locked --root /tools cargo-cyclonedx@0.5.9; \
    SOURCE_DATE_EPOCH=0 PATH="/tools/bin:$PATH" \
        cargo cyclonedx --quiet --format json --spec-version 1.5 --describe binaries \
            ${FEATURES:+--features "$FEATURES"}; \
    rust=$(rustc -V | cut -d ' ' -f 2); \
    libc=$(dpkg-query -W -f '${Version}' libc6-dev); \
    purl=$(echo "$libc" | sed 's/+/%2B/g'); \
    sed -i "0,/^  \"components\": \[/s||&\n\
    { \"type\": \"library\", \"bom-ref\": \"rust-std\", \"name\": \"rust-std\", \"version\": \"$rust\" },\n\
    { \"type\": \"library\", \"bom-ref\": \"glibc\", \"name\": \"glibc\", \"version\": \"$libc\",\n\
      \"purl\": \"pkg:deb/debian/glibc@$purl\" },|" taquin_bin.cdx.json; \
    install -D -m 644 taquin_bin.cdx.json /out/taquin.cdx.json

FROM rust AS build
ARG FEATURES
COPY . .

# - Cache mounts keep downloaded crates and compiled dependencies between builds, and out of the
#   layers.
# - Cargo detects changes by mtime, and a checkout can be older than the cached build of another one.
#   Touching the sources rebuilds our own crate every time and dependencies never.
# - The certificates are for a store of jobs, which is reached by HTTPS.
# - crt-static links glibc statically. --target, even for the host, keeps that flag away from build
#   scripts and procedural macros, which must stay dynamic.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=taquin-target,target=/target,sharing=locked \
    set -eu; \
    target=$(rustc -vV | sed -n 's/^host: //p'); \
    find . -type f -exec touch {} +; \
    CARGO_TARGET_DIR=/target RUSTFLAGS='-C target-feature=+crt-static' \
        cargo build --release --locked --bin taquin --target "$target" \
            ${FEATURES:+--features "$FEATURES"}; \
    install -D "/target/$target/release/taquin" /out/taquin; \
    install -D -m 644 -t /out/licenses LICENSE-*; \
    install -D -m 644 -t /out/etc/ssl/certs /etc/ssl/certs/ca-certificates.crt; \
    mkdir /volume

FROM scratch
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="taquin" \
      org.opencontainers.image.description="An HTTP service that solves sliding-tile puzzles, optimally where that can be proven" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

COPY --from=build /out/ /
COPY --from=sbom /out/ /sbom/
# An empty directory, so that the user below owns a new volume that is mounted there.
COPY --from=build --chown=65532:65532 /volume/ /var/lib/taquin/

# Numeric, because the image has no /etc/passwd and Kubernetes' runAsNonRoot needs a number.
USER 65532:65532

# The port on all addresses, since loopback is not reachable from outside the container. `TAQUIN_LISTEN` takes precedence.
ENV PORT=8080
EXPOSE 8080

# The binary has its own health check, because the image has no curl.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["/taquin", "healthcheck"]

# Exec form: taquin is PID 1 and receives SIGTERM.
ENTRYPOINT ["/taquin"]
