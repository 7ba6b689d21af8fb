package endpoints_test

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// Only one class can be the default, whichever request makes it the default (K plugin/pkg/admission/priority:
// validatePriorityClass).
func TestOneDefaultPriorityClass(t *testing.T) {
	const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
	const message = "PriorityClass a is already marked as default. Only one default can exist"
	s := apiservertest.Start(t, nil)
	for _, test := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "", `{"metadata":{"name":"a"},"value":7,"globalDefault":true}`, 201},
		{"POST", "", `{"metadata":{"name":"b"},"value":8}`, 201},
		{"POST", "", `{"metadata":{"name":"c"},"value":8,"globalDefault":true}`, 403},
		{"PATCH", "/b", `{"globalDefault":true}`, 403},
		{"PATCH", "/a", `{"description":"the default"}`, 200},
		{"PATCH", "/a", `{"globalDefault":false}`, 200},
		{"PATCH", "/b", `{"globalDefault":true}`, 200},
	} {
		kind := "application/json"
		if test.method == "PATCH" {
			kind = "application/merge-patch+json"
		}
		a := s.Do(test.method, classes+test.path, test.body, "Content-Type", kind)
		if a.Code != test.code {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, a.Code, a.Body)
		}
		name := "c"
		if test.path != "" {
			name = test.path[1:]
		}
		want := `priorityclasses.scheduling.k8s.io "` + name + `" is forbidden: ` + message
		if a.Code == 403 && a.Status().Message != want {
			t.Errorf("%s %s: %q, want %q", test.method, test.path, a.Status().Message, want)
		}
	}
}
