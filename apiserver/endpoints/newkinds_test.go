package endpoints_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// The collections of kinds that are new in v1.37.
const (
	bundles     = "/apis/certificates.k8s.io/v1/clustertrustbundles"
	podRequests = "/apis/certificates.k8s.io/v1/namespaces/a/podcertificaterequests"
	taintRules  = "/apis/resource.k8s.io/v1/devicetaintrules"
)

// specOf returns the spec of a valid object of a kind, as JSON.
func specOf(t *testing.T, resource string) map[string]any {
	t.Helper()
	return minimal(t)[resource]["spec"].(map[string]any)
}

// TestCertificateNeedsPermissionForSigner: a user who may write the status of a request may issue its certificate only
// with the permission to sign for the signer (V-003). A denial needs no further permission (V-080). A write of the
// request itself can't own the status (V-094).
func TestCertificateNeedsPermissionForSigner(t *testing.T) {
	s := apiservertest.StartSecured(t, nil)
	s.Grant("alice", "a", "requests",
		`[{"verbs":["*"],"apiGroups":["certificates.k8s.io"],
		"resources":["podcertificaterequests","podcertificaterequests/status"]}]`)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	stub, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	spec := specOf(t, "podcertificaterequests.certificates.k8s.io")
	spec["stubPKCS10Request"] = stub
	for _, name := range []string{"issued", "denied"} {
		made := must(t, s.As("alice", "POST", podRequests, map[string]any{
			"metadata": map[string]any{"name": name}, "spec": spec,
			"status": map[string]any{"certificateChain": "x"},
		}), http.StatusCreated).Object()
		seconds, _, _ := unstructured.NestedInt64(made.Object, "spec", "maxExpirationSeconds")
		status, _, _ := unstructured.NestedMap(made.Object, "status")
		if seconds != 86400 || len(status) > 0 {
			t.Errorf("created: %v", made)
		}
	}
	status := func(name, body string) apiservertest.Answer {
		return s.As("alice", "PATCH", podRequests+"/"+name+"/status", `{"status":`+body+`}`)
	}
	const condition = `"conditions":[{"type":%q,"status":"True","reason":"r","message":""}]`
	must(t, status("denied", "{"+fmt.Sprintf(condition, "Denied")+"}"), http.StatusOK)
	if a := status("denied", `{"conditions":null}`); a.Code != http.StatusUnprocessableEntity ||
		!strings.HasSuffix(a.Status().Message,
			"is invalid: status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed") {
		t.Errorf("a denial is taken back: %d %s", a.Code, a.Body)
	}

	// The chain must be for the key of the request. Validation precedes the check of the permission.
	a := status("issued", `{"certificateChain":"x",`+fmt.Sprintf(condition, "Issued")+`}`)
	if want := `PodCertificateRequest.certificates.k8s.io "issued" is invalid: status.certificateChain: ` +
		`Invalid value: "x": issued certificate chain must contain at least one certificate`; a.Status().Message != want {
		t.Errorf("%q, want %q", a.Status().Message, want)
	}

	// Alice may not sign, and then she may.
	issuing := issuedStatus(t, key)
	a = status("issued", issuing)
	if want := `PodCertificateRequest.certificates.k8s.io "issued" is invalid: spec.signerName: Forbidden: ` +
		`User "alice" is not permitted to "sign" for signer "example.com/s"`; a.Status().Message != want {
		t.Errorf("%q, want %q", a.Status().Message, want)
	}
	s.Grant("alice", "", "sign",
		`[{"verbs":["sign"],"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":["example.com/s"]}]`)
	must(t, status("issued", issuing), http.StatusOK)

	applied := must(t, s.As("alice", "PATCH", podRequests+"/denied?fieldManager=m&force=true",
		`{"apiVersion":"certificates.k8s.io/v1","kind":"PodCertificateRequest",
		"metadata":{"name":"denied","labels":{"a":"b"}},"status":{"certificateChain":"y"}}`, "Content-Type", applyPatch,
	), http.StatusOK).Object()
	for _, m := range applied.GetManagedFields() {
		if m.Manager == "m" && strings.Contains(m.FieldsV1.GetRawString(), "f:status") {
			t.Errorf("m owns %s", m.FieldsV1.GetRawString())
		}
	}
}

// issuedStatus is the status of a request whose certificate was just issued to the key, as JSON.
func issuedStatus(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Second)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now, NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, leaf, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	out, err := json.Marshal(map[string]any{
		"certificateChain": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"notBefore":        at(0), "beginRefreshAt": at(30 * time.Minute), "notAfter": at(time.Hour),
		"conditions": []any{map[string]any{"type": "Issued", "status": "True", "reason": "r", "message": ""}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestTaintRuleGetsTimeAndGeneration: the server sets the time of a taint, and sets it again when the effect changes.
// Changes of the spec increment the generation (V-005). Writers of the status own neither metadata nor spec (V-094).
func TestTaintRuleGetsTimeAndGeneration(t *testing.T) {
	s := apiservertest.Start(t, nil)
	began := time.Now().Truncate(time.Second)
	made := must(t, s.Do("POST", taintRules, `{"metadata":{"name":"x"},"spec":{"taint":{"key":"k","effect":"None"}}}`),
		http.StatusCreated).Object()
	text, _, _ := unstructured.NestedString(made.Object, "spec", "taint", "timeAdded")
	if at, err := time.Parse(time.RFC3339, text); err != nil || at.Before(began) || made.GetGeneration() != 1 {
		t.Errorf("created: %v, %v", made, err)
	}
	next := must(t, s.Do("PATCH", taintRules+"/x", `{"spec":{"taint":{"value":"v"}}}`), http.StatusOK).Object()
	kept, _, _ := unstructured.NestedString(next.Object, "spec", "taint", "timeAdded")
	if next.GetGeneration() != 2 || kept != text {
		t.Errorf("changed: %v", next)
	}
	status := must(t, s.Do("PATCH", taintRules+"/x/status?fieldManager=m",
		`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"x","labels":{"a":"b"}},
		"status":{"conditions":[{"type":"EvictionInProgress","status":"False","reason":"r","message":"",
		"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, "Content-Type", applyPatch), http.StatusOK).Object()
	if status.GetGeneration() != 2 || len(status.GetLabels()) > 0 {
		t.Errorf("status: %v", status)
	}
	for _, m := range status.GetManagedFields() {
		if owned := m.FieldsV1.GetRawString(); m.Manager == "m" && strings.Contains(owned, "f:metadata") {
			t.Errorf("m owns %s", owned)
		}
	}
	// v1 answers a removal with a Status, as most kinds (K pkg/registry/resource/devicetaintrule/storage: NewRESTv1).
	if a := s.Do("DELETE", taintRules+"/x", nil); a.Code != http.StatusOK || a.Status().Status != "Success" {
		t.Errorf("deleted: %d %s", a.Code, a.Body)
	}
}
