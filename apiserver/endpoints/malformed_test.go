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
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// ignore is the beginning of a body with the delete option for objects that can't be read.
const ignore = `{"ignoreStoreReadErrorWithClusterBreakingPotential":true`

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

// TestMalformedRepaired: an object that has become readable in the meantime stays.
func TestMalformedRepaired(t *testing.T) {
	const key = "/registry/configmaps/default/x"
	store := &intercepted{Store: storagetest.Open(t)}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: gated})
	s.Put(t, key, "garbage")
	store.before = func(txn storage.Txn) { // another client writes the object just before it would be removed
		if txn.Key != key || txn.Value != nil {
			return
		}
		store.before = nil
		value := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default","uid":"u"}}`)
		if _, err := store.Commit(t.Context(), storage.Txn{Key: key, Expect: txn.Expect, Value: value}); err != nil {
			t.Error(err)
		}
	}
	must(t, s.Do("DELETE", configmaps+"/x", ignore+"}"), http.StatusConflict)
	must(t, s.Do("GET", configmaps+"/x", nil), http.StatusOK)
}
