package render

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// GzipFrom is the size in bytes from which responses are compressed (AS responsewriters: defaultGzipThresholdBytes,
// which itself is not compressed).
const GzipFrom = 128<<10 + 1

// Compresses reports whether large responses to a request are compressed: the client accepts gzip, and is on another
// machine. On this one, to compress and decompress takes longer than to send.
func Compresses(r *http.Request) bool { return acceptsGzip(r) && !local(r) }

// acceptsGzip searches for the bare word gzip; one with a q-value is ignored (AS responsewriters:
// negotiateContentEncoding).
func acceptsGzip(r *http.Request) bool {
	for token := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}

// local reports whether the client's address is one of the loopback interface, or the address that it connected to.
func local(r *http.Request) bool {
	client, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	server, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	address := client.Addr().Unmap()
	return address.IsLoopback() || ok && server.AddrPort().Addr().Unmap() == address
}
