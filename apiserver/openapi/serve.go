package openapi

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/munnerz/goautoneg"
)

const (
	rootV3 = "/openapi/v3"
	pathV2 = "/openapi/v2"
)

// Media types without "application/". The names with "@" are accepted but never sent, because a media type can't have
// the character (kube-openapi pkg/handler3).
const (
	subtypeJSON          = "json"
	subtypeV2            = "com.github.proto-openapi.spec.v2.v1.0+protobuf"
	subtypeV2Deprecated  = "com.github.proto-openapi.spec.v2@v1.0+protobuf"
	subtypeV3            = "com.github.proto-openapi.spec.v3.v1.0+protobuf"
	subtypeV3Deprecated  = "com.github.proto-openapi.spec.v3@v1.0+protobuf"
	applicationMediaType = "application/"
)

// V3 serves /openapi/v3, the index, and /openapi/v3/<path>, a document.
func (s *Service) V3() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := s.latest()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, rootV3), "/")
		if path == "" {
			// No Content-Type is set: upstream's aggregator lets net/http detect it. Like upstream, Last-Modified is
			// the time of the request (kube-aggregator pkg/controllers/openapiv3). If-Modified-Since is ignored,
			// because types may change twice in a second and a client must always get the newest index.
			r = r.Clone(r.Context())
			r.Header.Del("If-Modified-Since")
			index := n.index
			if s.Others.V3 != nil {
				if index, err = n.makeIndex(s.Others.V3()); err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
			}
			http.ServeContent(w, r, rootV3, s.now(), bytes.NewReader(index))
			return
		}
		d, ok := n.v3[path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.serveV3(w, r, path, d)
	})
}

// serveV3 responds as kube-openapi's pkg/handler3. The response to a current hash is immutable. A stale hash is
// redirected to the current one.
func (s *Service) serveV3(w http.ResponseWriter, r *http.Request, path string, d *document) {
	w.Header().Add("Vary", "Accept")
	subtype := negotiate(r, subtypeV3, subtypeV3Deprecated)
	if subtype == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", applicationMediaType+subtype)
	w.Header().Set("Etag", strconv.Quote(d.sum))
	if hash := r.URL.Query().Get("hash"); hash != "" {
		if hash != d.sum {
			http.Redirect(w, r, hashedURL(path, d.sum), http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", s.now().AddDate(1, 0, 0).Format(time.RFC1123))
	}
	serveDocument(w, r, d, subtype != subtypeJSON)
}

// V2 serves /openapi/v2.
func (s *Service) V2() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := s.latest()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Add("Vary", "Accept")
		subtype := negotiate(r, subtypeV2, subtypeV2Deprecated)
		if subtype == "" {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Type", applicationMediaType+subtype)
		d := s.withV2(n)
		w.Header().Set("Etag", strconv.Quote(d.sum))
		serveDocument(w, r, d, subtype != subtypeJSON)
	})
}

// negotiate returns the subtype of the response, or "" if the client accepts none.
func negotiate(r *http.Request, protobuf, deprecated string) string {
	accept := cmp.Or(r.Header.Get("Accept"), "*/*")
	for _, clause := range goautoneg.ParseAccept(accept) {
		if clause.Type != "application" && clause.Type != "*" {
			continue
		}
		switch clause.SubType {
		case subtypeJSON, "*":
			return subtypeJSON
		case protobuf, deprecated:
			return protobuf
		}
	}
	return ""
}

// serveDocument sends the compressed bytes if the client accepts them. It compares the client's ETag first, so that it
// does not build a document only for a response 304.
func serveDocument(w http.ResponseWriter, r *http.Request, d *document, asProtobuf bool) {
	w.Header().Add("Vary", "Accept-Encoding")
	if matches(r.Header.Get("If-None-Match"), d.sum) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, err := d.compressed(asProtobuf)
	if err == nil {
		if acceptsGzip(r) {
			w.Header().Set("Content-Encoding", "gzip")
		} else {
			body, err = decompress(body)
		}
	}
	if err != nil {
		w.Header().Del("Etag")
		w.Header().Del("Cache-Control")
		w.Header().Del("Expires")
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.ServeContent(w, r, "", d.since, bytes.NewReader(body))
}

func matches(ifNoneMatch, sum string) bool {
	for _, tag := range strings.Split(ifNoneMatch, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == strconv.Quote(sum) {
			return true
		}
	}
	return false
}

func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q := strings.TrimSpace(parameters)
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}

// hashedURL returns the URL of a document with the hash: "/openapi/v3/apis/apps/v1?hash=...".
func hashedURL(path, sum string) string {
	u := url.URL{Path: rootV3 + "/" + path, RawQuery: url.Values{"hash": {sum}}.Encode()}
	return u.String()
}
