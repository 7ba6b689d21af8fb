package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
)

// server is the webhook of all cases.
type server struct {
	*httptest.Server
	// plain is the server without TLS.
	plain *httptest.Server
	ca    []byte
	// now is the current case.
	now webhookCase
	// request and body are from the last call.
	request string
	body    []byte
}

func newServer() *server {
	s := &server{plain: httptest.NewServer(http.NotFoundHandler())}
	s.Server = httptest.NewTLSServer(s)
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s
}

// Close ends both servers.
func (s *server) Close() {
	s.Server.Close()
	s.plain.Close()
}

// ServeHTTP responds to a review as the current case specifies.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.body, _ = io.ReadAll(r.Body)
	s.request = r.URL.String() + " " + fmt.Sprint(r.Header) + " " + r.Proto
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(s.body, &review); err != nil {
		panic(err)
	}
	switch c := s.now; {
	case c.Hang:
		<-r.Context().Done()
	case c.Abort:
		panic(http.ErrAbortHandler)
	case c.HTTP != nil:
		if c.HTTP.Type != "" {
			w.Header().Set("Content-Type", c.HTTP.Type)
		}
		w.WriteHeader(c.HTTP.Code)
		_, _ = io.WriteString(w, strings.ReplaceAll(c.HTTP.Body, "UID", string(review.Request.UID)))
	default:
		review.Response = &admissionv1.AdmissionResponse{Allowed: true}
		if c.Review != nil {
			review.Response = c.Review.DeepCopy()
		}
		review.Response.UID, review.Response.Patch, review.Request = review.Request.UID, []byte(c.Patch), nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // in some cases the client does not read it
	}
}
