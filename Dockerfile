FROM golang:1.26 AS build
ARG VERSION=0.1.0-dev
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o bin/kubecascade ./cmd/kubecascade
# The data directory must belong to the user that the server runs as; scratch has no mkdir.
RUN mkdir -p /empty/data /empty/tmp && chmod 1777 /empty/tmp

FROM scratch
COPY --from=build /src/bin/kubecascade /kubecascade
COPY --from=build --chown=65532:65532 /empty/ /
USER 65532:65532
VOLUME /data
EXPOSE 6443
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s \
	CMD ["/kubecascade", "health", "--server=https://127.0.0.1:6443", "--kubeconfig=/data/admin.kubeconfig"]
ENTRYPOINT ["/kubecascade"]
CMD ["serve", "--data-dir=/data", "--bind-address=0.0.0.0"]
