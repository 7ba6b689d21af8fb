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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer is what a webhook does with a review.
type answer func(http.ResponseWriter, *http.Request, *admissionv1.AdmissionReview)

// server is the webhook of all cases.
type server struct {
	*httptest.Server
	// url is that of the webhook, plainURL that of a server without TLS, with the scheme https.
	url, plainURL string
	plain         *httptest.Server
	ca            []byte
	// answer is that of the current case.
	answer answer
	// request and body are those of the last call.
	request string
	body    []byte
}

func newServer() *server {
	s := &server{}
	s.Server = httptest.NewTLSServer(s)
	s.plain = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.url, s.plainURL = s.URL+"/hook", "https"+strings.TrimPrefix(s.plain.URL, "http")
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return s
}

func (s *server) Close() {
	s.Server.Close()
	s.plain.Close()
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.body, _ = io.ReadAll(r.Body)
	s.request = r.URL.String() + " " + fmt.Sprint(r.Header) + " " + r.Proto
	rv := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(s.body, rv); err != nil {
		panic(err)
	}
	s.answer(w, r, rv)
}

// respond sends a response, with the request's UID unless it has another.
func respond(w http.ResponseWriter, rv *admissionv1.AdmissionReview, response *admissionv1.AdmissionResponse) {
	if response.UID == "" {
		response.UID = rv.Request.UID
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{ // some cases do not read it
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: response,
	})
}

// ok allows the request.
func ok(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
	respond(w, rv, &admissionv1.AdmissionResponse{Allowed: true})
}

// raw sends a body, in which UID is replaced, with a code and a content type; there is none if it is empty.
func raw(code int, contentType, body string) answer {
	return func(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "UID", string(rv.Request.UID)))
	}
}

// patch allows the request with a patch.
func patch(p string, t *admissionv1.PatchType) answer {
	return func(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
		respond(w, rv, &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(p), PatchType: t})
	}
}

// deny denies the request, with warnings.
func deny(st *metav1.Status) answer {
	return func(w http.ResponseWriter, _ *http.Request, rv *admissionv1.AdmissionReview) {
		respond(w, rv, &admissionv1.AdmissionResponse{Result: st, Warnings: []string{"w1", "multi\nline", ""}})
	}
}
