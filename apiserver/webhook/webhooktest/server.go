package webhooktest

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/client-go/util/cert"
)

// Server is a webhook whose responses a test sets.
type Server struct {
	URL string
	// CA is the PEM certificate that clients must trust.
	CA []byte

	mu     sync.Mutex
	answer Answer
	// paths has the responses that ScriptPath has set.
	paths map[string]Answer
	seen  []Seen
}

// Answer responds to a review.
type Answer func(w http.ResponseWriter, review *admissionv1.AdmissionReview)

// Seen is a received request.
type Seen struct {
	Path, Query string
	// Peer is the address of the client's connection.
	Peer   string
	Header http.Header
	Body   []byte
	Review admissionv1.AdmissionReview
}

// Start starts a server that allows everything. It ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, nil)
}

// StartFor is Start for a server whose certificate has the host names.
func StartFor(t testing.TB, names ...string) *Server {
	t.Helper()
	return start(t, Certificate(t, names...))
}

func start(t testing.TB, config *tls.Config) *Server {
	s := &Server{answer: Allow, paths: map[string]Answer{}}
	h := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.TLS = config
	h.StartTLS()
	t.Cleanup(h.Close)
	s.URL = h.URL
	s.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return s
}

// Certificate returns a configuration with a certificate for the host names.
func Certificate(t testing.TB, names ...string) *tls.Config {
	crt, key, err := cert.GenerateSelfSignedCertKey(names[0], nil, names)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(crt, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}}
}

// Script sets the response to all later requests.
func (s *Server) Script(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = a
}

// ScriptPath sets the response to later requests for one path.
func (s *Server) ScriptPath(path string, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths[path] = a
}

// Seen returns the requests since the last call, in order.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.seen
	s.seen = nil
	return all
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	seen := Seen{Path: r.URL.Path, Query: r.URL.RawQuery, Peer: r.RemoteAddr, Header: r.Header, Body: body}
	_ = json.Unmarshal(body, &seen.Review) // other bodies have an empty Review
	s.mu.Lock()
	s.seen = append(s.seen, seen)
	answer := s.answer
	if a := s.paths[r.URL.Path]; a != nil {
		answer = a
	}
	s.mu.Unlock()
	answer(w, &seen.Review)
}

// Allow allows the request.
func Allow(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
	Respond(&admissionv1.AdmissionResponse{Allowed: true})(w, review)
}

// Respond returns an Answer that sends the response with the review's uid.
func Respond(r *admissionv1.AdmissionResponse) Answer {
	return func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		out := *r
		out.UID = review.Request.UID
		answer := admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: &out}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&answer) // if that fails, the client is gone
	}
}
