package apiservertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Event is one event of a watch.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
	Type   string
	Object *unstructured.Unstructured
}

// Watch is an open watch. Only one goroutine may use it.
type Watch struct {
	// Code and Header are those of the response.
	Code   int
	Header http.Header

	body   io.ReadCloser
	json   *json.Decoder
	cancel context.CancelFunc
}

// Watch opens a watch. The end of the test closes it. path includes the query.
func (s *Server) Watch(path string, header ...string) *Watch {
	s.t.Helper()
	w, err := s.TryWatch(path, header...)
	if err != nil {
		s.t.Fatalf("watching %s: %v", path, err)
	}
	s.t.Cleanup(w.Close)
	return w
}

// TryWatch is Watch for goroutines. The caller must close the watch.
func (s *Server) TryWatch(path string, header ...string) (*Watch, error) {
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		cancel()
		return nil, err
	}
	return &Watch{
		Code: resp.StatusCode, Header: resp.Header, body: resp.Body, json: json.NewDecoder(resp.Body), cancel: cancel,
	}, nil
}

// Next returns the next event of a watch in JSON, or io.EOF when the server has ended the watch.
func (w *Watch) Next() (Event, error) {
	var e struct {
		Type   string         `json:"type"`
		Object map[string]any `json:"object"`
	}
	if err := w.json.Decode(&e); err != nil {
		return Event{}, err
	}
	return Event{Type: e.Type, Object: &unstructured.Unstructured{Object: e.Object}}, nil
}

// Body returns the stream, for other formats than JSON.
func (w *Watch) Body() io.Reader { return w.body }

// Close closes the watch. It may be called more than once.
func (w *Watch) Close() {
	w.cancel()
	_ = w.body.Close() // the rest of the stream is not needed
}
