package discovery

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// FuzzAccept: for each Accept header, the client gets a document or the list of media types.
func FuzzAccept(f *testing.F) {
	for _, v := range []string{
		"", "*/*", acceptAggregated, "application/json;q=2,text/html", ";;;,=", "application/*;as=Table",
	} {
		f.Add("/apis", v)
	}
	s := New(resources.NewTable(resources.Builtin()...), address)
	f.Fuzz(func(t *testing.T, path, v string) {
		h := s.Handler(path)
		if h == nil {
			h = s.Handler("/apis")
		}
		w := &answer{header: http.Header{}}
		h.ServeHTTP(w, &http.Request{URL: &url.URL{}, Header: http.Header{"Accept": {v}}})
		switch {
		case w.code == http.StatusOK && w.size > 0:
		case w.code == http.StatusNotAcceptable && v != "":
		default:
			t.Errorf("Accept %q: %d with %d bytes", v, w.code, w.size)
		}
	})
}

// answer counts the bytes of a response.
type answer struct {
	header     http.Header
	code, size int
}

func (a *answer) Header() http.Header  { return a.header }
func (a *answer) WriteHeader(code int) { a.code = code }
func (a *answer) Write(p []byte) (int, error) {
	a.size += len(p)
	return len(p), nil
}
