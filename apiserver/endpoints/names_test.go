package endpoints_test

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// Kinds differ in the names that they allow, and one doesn't validate metadata at all.
func TestNamesOfKinds(t *testing.T) {
	const (
		set = `,"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
		pdb = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	)
	s := apiservertest.Start(t, nil)
	for _, test := range []struct {
		path, body string
		code       int
		message    string
	}{
		{"/apis/apps/v1/namespaces/default/statefulsets", `{"metadata":{"name":"a.b"}` + set, 422,
			`StatefulSet.apps "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots`},
		{"/apis/apps/v1/namespaces/default/statefulsets", `{"metadata":{"name":"1a"}` + set, 201, ""},
		{"/apis/apps/v1/namespaces/default/daemonsets", `{"metadata":{"name":"a.b"}` + set, 201, ""},
		{pdb, `{"metadata":{"name":"A_b","finalizers":["plain"]}}`, 201, ""},
		{pdb, `{"metadata":{"name":"a","labels":{"x":"a b"}},"spec":{"minAvailable":-1}}`, 422,
			`PodDisruptionBudget.policy "a" is invalid: spec.minAvailable: Invalid value: -1: must be greater than or equal to 0`},
		{pdb, `{"metadata":{"name":"a%"}}`, 422,
			`PodDisruptionBudget.policy "a%" is invalid: metadata.name: Invalid value: "a%": may not contain '%'`},
	} {
		a := s.Do("POST", test.path, test.body)
		if a.Code != test.code || test.message != "" && a.Status().Message != test.message {
			t.Errorf("POST %s %s: %d %s", test.path, test.body, a.Code, a.Body)
		}
	}
}
