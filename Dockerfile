# Builds a static taquin and ships nothing but it: no shell, no libc, no package manager.
# Works with `docker build .` (BuildKit) and `buildah bud .`, natively on amd64 and arm64.

FROM docker.io/library/rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .

# - Cache mounts keep downloaded crates and compiled dependencies between builds, and out of the
#   layers.
# - Cargo decides by mtime what is stale, and a checkout can be older than the cached build of
#   another one: touching the sources makes our own crate always rebuild, dependencies never.
# - crt-static links glibc in. Naming --target, even the host's own, keeps that flag away from
#   build scripts and procedural macros, which must stay dynamic.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,id=taquin-target,target=/target,sharing=locked \
    set -eu; \
    target=$(rustc -vV | sed -n 's/^host: //p'); \
    find . -type f -exec touch {} +; \
    CARGO_TARGET_DIR=/target RUSTFLAGS='-C target-feature=+crt-static' \
        cargo build --release --locked --bin taquin --target "$target"; \
    install -D "/target/$target/release/taquin" /out/taquin; \
    install -D -m 644 -t /out/licenses LICENSE-*

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="taquin" \
      org.opencontainers.image.description="An HTTP service that solves sliding-tile puzzles, optimally where that can be proven" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"

COPY --from=build /out/ /

# Numeric, because there is no /etc/passwd to look a name up in, and because Kubernetes'
# runAsNonRoot can only check a number.
USER 65532:65532

# Inside a container, loopback reaches nobody.
ENV TAQUIN_LISTEN=0.0.0.0:8080
EXPOSE 8080

# The binary probes itself: there is no curl here.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["/taquin", "healthcheck"]

# Exec form: taquin is PID 1 and gets SIGTERM itself.
ENTRYPOINT ["/taquin"]
