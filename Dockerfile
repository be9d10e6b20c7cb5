# The program alone: docker build --build-arg REVISION="$(git rev-parse HEAD)" -t weir .
# For another machine, or several: docker buildx build --platform linux/amd64,linux/arm64 ...
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG REVISION=unknown
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X github.com/weirmq/weir/internal/cli.revision=$REVISION" -o /weir ./cmd/weir

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Weir" \
    org.opencontainers.image.description="Message queues in PostgreSQL" \
    org.opencontainers.image.source="https://github.com/weirmq/weir" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.revision="$REVISION"
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /weir /weir
USER 65532:65532
EXPOSE 9347
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["/weir", "ready"]
ENTRYPOINT ["/weir"]
CMD ["serve", "--auth", "--listen", ":9347", "--log-format", "json", "--drain-delay", "5s"]
