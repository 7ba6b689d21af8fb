package render

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// TestResponsesOver128KiBAreCompressed: a response is written at once or in pieces.
func TestResponsesOver128KiBAreCompressed(t *testing.T) {
	ways := map[string]func(w http.ResponseWriter, r *http.Request, data []byte){
		"whole": func(w http.ResponseWriter, r *http.Request, data []byte) { Body(w, r, http.StatusOK, data) },
		"pieces": func(w http.ResponseWriter, r *http.Request, data []byte) {
			out, finish := Stream(w, r, len(data))
			for piece := range bytes.SplitAfterSeq(data, []byte("7")) {
				_, _ = out.Write(piece) // a recorder returns no error
			}
			if err := finish(); err != nil {
				t.Error(err)
			}
		},
	}
	for name, send := range ways {
		for _, c := range []struct {
			size           int
			accept         string
			length, coding string
		}{
			{0, "gzip", "0", ""},
			{131072, "gzip", "131072", ""},
			{131073, "gzip", "", "gzip"},
			{131073, "identity", "131073", ""},
		} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Accept-Encoding", c.accept)
			send(w, r, bytes.Repeat([]byte("1234567890"), c.size/10+1)[:c.size])
			h := w.Result().Header
			if h.Get("Content-Length") != c.length || h.Get("Content-Encoding") != c.coding ||
				(h.Get("Vary") != "") != (c.coding != "") {
				t.Errorf("%s: %d bytes for who accepts %s: %v", name, c.size, c.accept, h)
			}
			if c.length != "" && strconv.Itoa(w.Body.Len()) != c.length {
				t.Errorf("%s: %d bytes came for %s", name, w.Body.Len(), c.length)
			}
		}
	}
}
