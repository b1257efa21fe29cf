# The gateway as an image: docker build -t toolmend .
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
# SQLite and zstd are compiled from C.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cargo build --profile dist --locked --package toolmend-cli --features full

FROM debian:bookworm-slim
COPY --from=build /src/target/dist/toolmend /usr/local/bin/toolmend
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/toolmend/
RUN useradd --system --uid 65532 --create-home --home-dir /var/lib/toolmend toolmend
USER 65532
ENV XDG_STATE_HOME=/var/lib/toolmend \
    TOOLMEND_LISTEN=0.0.0.0:4242
VOLUME /var/lib/toolmend
EXPOSE 4242
ENTRYPOINT ["toolmend"]
# Beyond loopback the gateway asks for keys: set TOOLMEND_API_KEY, or add --insecure inside a private network.
CMD ["serve"]
