package endpoints_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

func gated(c *apiserver.Config) { c.DeleteMalformed = true }

// TestListMalformedCauses: with the gate on, the error of a list names 100 of the keys that can't be read (V-055).
func TestListMalformedCauses(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: gated})
	for i := range 120 {
		s.Put(t, fmt.Sprintf("/registry/configmaps/default/x%03d", i), "garbage")
	}
	causes := must(t, s.Do("GET", configmaps, nil), http.StatusInternalServerError).Status().Details.Causes
	if len(causes) != 101 || causes[100].Type != metav1.CauseTypeTooMany || causes[100].Field != "" {
		t.Errorf("%d causes: %+v", len(causes), causes[len(causes)-1])
	}
}

// TestFailedEncoding: if the last object of a list can't be encoded, the response is only the error, in every format,
// compressed or not (V-058).
func TestFailedEncoding(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: gated, Handler: apiservertest.Remote})
	long := strings.Repeat("value of an object ", 1<<10)
	for i := range 16 {
		must(t, s.Do("POST", configmaps, fmt.Sprintf(`{"metadata":{"name":"m%02d"},"data":{"k":%q}}`, i, long)),
			http.StatusCreated)
	}
	formats := []string{"application/json", "application/yaml", mediaProtobuf, asTable, asMetadatas}
	list := func(accept, encoding string, code int) apiservertest.Answer {
		return must(t, s.Do("GET", configmaps, nil, "Accept", accept, "Accept-Encoding", encoding), code)
	}
	for _, accept := range formats {
		for range 2 {
			a := list(accept, "gzip", http.StatusOK)
			big := accept != asTable && accept != asMetadatas // has the values, too
			if encoding := a.Header.Get("Content-Encoding"); (encoding == "gzip") != big {
				t.Fatalf("as %s: content encoding %q of %d bytes", accept, encoding, len(a.Body))
			}
		}
	}
	s.Put(t, "/registry/configmaps/default/odd",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd"},"data":7}`)
	for _, accept := range formats {
		for _, encoding := range []string{"gzip", "identity"} {
			a := list(accept, encoding, http.StatusInternalServerError)
			if a.Header.Get("Content-Encoding") != "" || bytes.Contains(a.Body, []byte("m15")) ||
				bytes.Count(a.Body, []byte("failed to read one or more configmaps")) != 1 || len(a.Body) > 1<<10 {
				t.Errorf("as %s, %s: %v %q", accept, encoding, a.Header, a.Body)
			}
		}
	}
}
