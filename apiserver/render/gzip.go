package render

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// GzipFrom is the minimum size in bytes of a compressed response (AS responsewriters: defaultGzipThresholdBytes, which
// is one byte less).
const GzipFrom = 128<<10 + 1

// Compresses reports whether a large response to the request is compressed: it is if the client accepts gzip and runs
// on another machine. On the same machine, compressing and decompressing takes longer than sending.
func Compresses(r *http.Request) bool { return acceptsGzip(r) && !local(r) }

// acceptsGzip reports whether the header has the word gzip without a q-value (AS responsewriters:
// negotiateContentEncoding).
func acceptsGzip(r *http.Request) bool {
	for token := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}

// local reports whether the client's address is a loopback address, or the address to which it connected.
func local(r *http.Request) bool {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	server, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	address := client.Addr().Unmap()
	return address.IsLoopback() || ok && server.AddrPort().Addr().Unmap() == address
}
