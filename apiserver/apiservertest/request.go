package apiservertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Answer is the response to a request.
type Answer struct {
	Code   int
	Header http.Header
	Body   []byte
}

// Do sends a request. body is nil, a string or bytes, which are sent unchanged, or any other value, which is sent as
// JSON. header has names and values alternately. Without a Content-Type, the type is JSON. For a PATCH it is a JSON
// patch if the body is a list, otherwise a merge patch. The test fails if there is no response.
func (s *Server) Do(method, path string, body any, header ...string) Answer {
	s.t.Helper()
	a, err := s.Try(method, path, body, header...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// Try is Do, but returns an error if there is no response. Goroutines must use it instead of Do.
func (s *Server) Try(method, path string, body any, header ...string) (Answer, error) {
	return Send(s.Client, method, s.URL+path, body, header...)
}

// Send is Try for any URL.
func Send(c *http.Client, method, url string, body any, header ...string) (Answer, error) {
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	case []byte:
		data = b
	default:
		var err error
		if data, err = json.Marshal(b); err != nil {
			return Answer{}, err
		}
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(data))
	if err != nil {
		return Answer{}, err
	}
	switch {
	case len(data) == 0:
	case method != http.MethodPatch:
		req.Header.Set("Content-Type", "application/json")
	case bytes.HasPrefix(data, []byte("[")):
		req.Header.Set("Content-Type", "application/json-patch+json")
	default:
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		switch {
		case header[i] != "Content-Type":
			req.Header.Add(header[i], header[i+1])
		case header[i+1] != "":
			req.Header.Set(header[i], header[i+1])
		}
	}
	resp, err := c.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	return Answer{Code: resp.StatusCode, Header: resp.Header, Body: data}, err
}

// Object returns the body as an object. It is empty if the body is not an object.
func (a Answer) Object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if utiljson.Unmarshal(a.Body, &u.Object) != nil {
		u.Object = map[string]any{}
	}
	return u
}

// Status returns the body as a Status. Its Code is 0 if the body is not a Status.
func (a Answer) Status() metav1.Status {
	var st metav1.Status
	if json.Unmarshal(a.Body, &st) != nil || st.Kind != "Status" {
		return metav1.Status{}
	}
	return st
}

// List returns the body as a list. It is empty if the body is not a list.
func (a Answer) List() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{Object: a.Object().Object}
	items, _ := l.Object["items"].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			l.Items = append(l.Items, unstructured.Unstructured{Object: m})
		}
	}
	return l
}
