package endpoints_test

import (
	"bytes"
	"context"
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

// ignore is the delete option for objects that can't be read.
const ignore = `{"ignoreStoreReadErrorWithClusterBreakingPotential":true`

func gated(c *apiserver.Config) { c.DeleteMalformed = true }

// TestDeleteMalformed: with the gate on, an object that can't be read is removed, whatever finalizers it has or had,
// and no other (AS registry/generic/registry/corrupt_obj_deleter.go).
func TestDeleteMalformed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: gated})
	fill(t, s, 2)
	s.Put(t, "/registry/configmaps/default/garbage", "garbage")
	s.Put(
		t, "/registry/configmaps/default/odd",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd","namespace":"default","finalizers":["a.b/c"]},"data":7}`,
	)
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	const custom = "/apis/example.com/v1/namespaces/default/crontabs"
	s.Put(
		t, "/registry/example.com/crontabs/default/odd",
		`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":7}}`,
	)
	for _, path := range []string{configmaps + "/garbage", configmaps + "/odd", custom + "/odd"} {
		must(t, s.Do("DELETE", path, nil), http.StatusInternalServerError) // without the option
		a := must(t, s.Do("DELETE", path, ignore+`}`), http.StatusOK)
		name := path[strings.LastIndex(path, "/")+1:]
		if st := a.Status(); st.Status != metav1.StatusSuccess || st.Code != http.StatusOK || st.Details == nil ||
			st.Details.Name != name || st.Details.Kind == "" || st.Details.UID != "" {
			t.Errorf("%s: %s", path, a.Body)
		}
		must(t, s.Do("GET", path, nil), http.StatusNotFound)
	}
	// An object that can be read isn't removed by the option, and a missing one is 404 as usual (V-054).
	for name, want := range map[string]struct {
		code    int
		message string
	}{
		"m00": {http.StatusConflict, `Operation cannot be fulfilled on configmaps "m00": StorageError: invalid object, ` +
			`Code: 4, Key: /registry/configmaps/default/m00, ResourceVersion: 0, AdditionalErrorMsg: ` +
			`unsafe deletion is not allowed because the object is decodable from storage`},
		"none": {http.StatusNotFound, `configmaps "none" not found`},
	} {
		a := must(
			t, s.Do("DELETE", configmaps+"/"+name+"?ignoreStoreReadErrorWithClusterBreakingPotential=true", nil), want.code,
		)
		if st := a.Status(); st.Message != want.message || st.Details.Kind != "configmaps" {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	must(t, s.Do("GET", configmaps+"/m00", nil), http.StatusOK)
	must(t, s.Do("DELETE", configmaps+"/m00", `{"ignoreStoreReadErrorWithClusterBreakingPotential":false}`), http.StatusOK)
}

// TestDeleteMalformedOptions: options that may not be combined, and a dry run, which may (V-052, V-054; AM
// validation.go: ValidateIgnoreStoreReadError).
func TestDeleteMalformedOptions(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: gated})
	s.Put(t, "/registry/configmaps/default/garbage", "garbage")
	for field, body := range map[string]string{
		"propagationPolicy": `"propagationPolicy":"Background"`, "orphanDependents": `"orphanDependents":true`,
		"gracePeriodSeconds": `"gracePeriodSeconds":0`, "preconditions": `"preconditions":{"uid":"a"}`,
	} {
		a := must(t, s.Do("DELETE", configmaps+"/garbage", ignore+","+body+"}"), http.StatusUnprocessableEntity)
		if st := a.Status(); !strings.Contains(
			st.Message,
			"ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with ."+field,
		) {
			t.Errorf("%s: %s", field, a.Body)
		}
	}
	a := must(t, s.Do("DELETE", configmaps, ignore+"}"), http.StatusUnprocessableEntity)
	if st := a.Status(); !strings.Contains(
		st.Message, "is not allowed with DELETECOLLECTION, try again after removing the option",
	) {
		t.Errorf("%s", a.Body)
	}
	must(t, s.Do("DELETE", configmaps+"/garbage", ignore+`,"dryRun":["All"]}`), http.StatusOK)
	must(t, s.Do("GET", configmaps+"/garbage", nil), http.StatusInternalServerError)
	fill(t, s, 1)
	must(t, s.Do("DELETE", configmaps+"/m00", ignore+`,"dryRun":["All"]}`), http.StatusConflict)
	must(t, s.Do("DELETE", configmaps+"/none", ignore+`,"dryRun":["All"]}`), http.StatusNotFound)
}

// TestDeleteMalformedOff: with the gate off the option is ignored as upstream ignores it.
func TestDeleteMalformedOff(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 2)
	s.Put(t, "/registry/configmaps/default/garbage", "garbage")
	must(t, s.Do("DELETE", configmaps+"/garbage", ignore+"}"), http.StatusInternalServerError)
	must(t, s.Do("DELETE", configmaps+"/m00", ignore+`,"gracePeriodSeconds":0}`), http.StatusOK)
	must(t, s.Do("DELETE", configmaps, ignore+"}"), http.StatusOK)
	if got := names(must(t, s.Do("GET", configmaps, nil), http.StatusOK).List()); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestListMalformed: with the gate on, the error of a list names the keys that can't be read (V-055; AS
// etcd3/corrupt_obj_deleter.go).
func TestListMalformed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: gated})
	fill(t, s, 3)
	s.Put(t, "/registry/configmaps/default/m01", "garbage")
	s.Put(
		t, "/registry/configmaps/default/odd", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd"},"data":7}`,
	)
	for _, accept := range []string{"application/json", asTable, asMetadatas} {
		a := must(t, s.Do("GET", configmaps, nil, "Accept", accept), http.StatusInternalServerError)
		st := a.Status()
		if st.Reason != metav1.StatusReasonStoreReadError ||
			!strings.HasPrefix(st.Message, "failed to read one or more configmaps from the storage: storage: corrupt value: ") ||
			!strings.HasSuffix(st.Message, " (and 1 more)") ||
			st.Details == nil || st.Details.Name != "list" || st.Details.Kind != "configmaps" || len(st.Details.Causes) != 2 {
			t.Fatalf("as %s: %s", accept, a.Body)
		}
		for i, key := range []string{"/registry/configmaps/default/m01", "/registry/configmaps/default/odd"} {
			if c := st.Details.Causes[i]; c.Field != key || c.Type != metav1.CauseTypeUnexpectedServerResponse ||
				c.Message == "" {
				t.Errorf("as %s: cause %d is %+v", accept, i, c)
			}
		}
	}
	must(t, s.Do("GET", configmaps+"?limit=1", nil), http.StatusOK) // the page ends before it
	must(t, s.Do("DELETE", configmaps, nil), http.StatusInternalServerError)
	for i := range 120 {
		s.Put(t, fmt.Sprintf("/registry/configmaps/default/x%03d", i), "garbage")
	}
	causes := must(t, s.Do("GET", configmaps, nil), http.StatusInternalServerError).Status().Details.Causes
	if len(causes) != 101 || causes[100].Type != metav1.CauseTypeTooMany || causes[100].Field != "" {
		t.Errorf("%d causes: %+v", len(causes), causes[len(causes)-1])
	}
	s.Put(t, "/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	s.Put(t, "/registry/example.com/crontabs/default/a", "garbage")
	s.Put(
		t, "/registry/example.com/crontabs/default/b",
		`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":7}}`,
	)
	// reads the last write
	must(t, s.Do("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil), http.StatusOK)
	st := must(t, s.Do("GET", "/apis/example.com/v1/crontabs", nil), http.StatusInternalServerError).Status()
	if st.Reason != metav1.StatusReasonStoreReadError ||
		!strings.HasPrefix(st.Message, "failed to read one or more crontabs.example.com from the storage: ") ||
		len(st.Details.Causes) != 2 {
		t.Errorf("custom resources: %+v", st)
	}
}

// TestFailedEncoding (V-058): a list of which the last object can't be encoded is answered by the error alone, in every
// format, compressed or not.
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

// TestDeleteMalformedAuthorization: it requires a verb of its own besides delete (V-053; AS
// handlers/delete.go: authorizeUnsafeDelete).
func TestDeleteMalformedAuthorization(t *testing.T) {
	s := apiservertest.StartSecured(t, gated)
	if _, err := s.Store.Commit(
		t.Context(), storage.Txn{Key: "/registry/configmaps/a/x", Value: []byte("garbage")},
	); err != nil {
		t.Fatal(err)
	}
	s.Grant("mallory", "", "deleter", `[{"verbs":["delete"],"apiGroups":[""],"resources":["configmaps"]}]`)
	a := must(t, s.As("mallory", "DELETE", "/api/v1/namespaces/a/configmaps/x", ignore+"}"), http.StatusForbidden)
	if want := `configmaps "x" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: `; !strings.HasPrefix(
		a.Status().Message, want,
	) {
		t.Errorf("%s", a.Body)
	}
	s.Grant(
		"mallory", "a", "breaker",
		`[{"verbs":["unsafe-delete-ignore-read-errors"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["x"]}]`,
	)
	must(t, s.As("mallory", "DELETE", "/api/v1/namespaces/a/configmaps/x", ignore+"}"), http.StatusOK)
}

// repaired is a store in which another client writes an object just before it would be removed.
type repaired struct {
	storage.Store
	key   string
	value []byte
}

func (r *repaired) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	if t.Key == r.key && t.Value == nil && r.value != nil {
		value := r.value
		r.value = nil
		if _, err := r.Store.Commit(ctx, storage.Txn{Key: t.Key, Expect: t.Expect, Value: value}); err != nil {
			return 0, err
		}
	}
	return r.Store.Commit(ctx, t)
}

// TestMalformedRepaired: an object that has become readable meanwhile stays.
func TestMalformedRepaired(t *testing.T) {
	const key = "/registry/configmaps/default/x"
	store := &repaired{
		Store: storagetest.Open(t), key: key,
		value: []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default","uid":"u"}}`),
	}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: gated})
	s.Put(t, key, "garbage")
	must(t, s.Do("DELETE", configmaps+"/x", ignore+"}"), http.StatusConflict)
	must(t, s.Do("GET", configmaps+"/x", nil), http.StatusOK)
}
