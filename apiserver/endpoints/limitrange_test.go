package endpoints_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const inDefault = "/api/v1/namespaces/default/"

// made sends a create and fails the test if it is rejected.
func made(t *testing.T, s *apiservertest.Server, resource, body string) apiservertest.Answer {
	t.Helper()
	a := s.Do("POST", inDefault+resource, body)
	if a.Code != 201 {
		t.Fatalf("creating %s: %d %s", resource, a.Code, a.Body)
	}
	return a
}

// forbidden sends a request whose response must be 403 with the message.
func forbidden(t *testing.T, s *apiservertest.Server, method, path, body, message string, header ...string) {
	t.Helper()
	if a := s.Do(method, inDefault+path, body, header...); a.Code != 403 || a.Status().Message != message {
		t.Errorf("%s %s %s: %d %q, want %q", method, path, body, a.Code, a.Status().Message, message)
	}
}

func TestLimitRangeDefaults(t *testing.T) {
	s := apiservertest.Start(t, nil)
	made(t, s, "limitranges", `{"metadata":{"name":"a"},"spec":{"limits":[
		{"type":"Container","default":{"cpu":"500m","memory":"1Gi"},"defaultRequest":{"memory":"1Mi"}},
		{"type":"Pod","max":{"cpu":"2"}}]}}`)
	a := made(t, s, "pods", `{"metadata":{"name":"p"},"spec":{
		"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}},{"name":"d","image":"i"}],
		"initContainers":[{"name":"e","image":"i","resources":{"requests":{"memory":"2Mi"}}}]}}`)
	var pod corev1.Pod
	if err := json.Unmarshal(a.Body, &pod); err != nil {
		t.Fatal(err)
	}
	const note = "LimitRanger plugin set: memory request for container c; memory limit for container c; " +
		"cpu, memory request for container d; cpu, memory limit for container d; " +
		"cpu request for init container e; cpu, memory limit for init container e"
	if got := pod.Annotations["kubernetes.io/limit-ranger"]; got != note {
		t.Errorf("annotation:\n%s\nwant\n%s", got, note)
	}
	for i, want := range []string{"1 1 1Mi 1Gi", "500m 500m 1Mi 1Gi", "500m 500m 2Mi 1Gi"} {
		r := append(pod.Spec.Containers, pod.Spec.InitContainers...)[i].Resources
		if got := fmt.Sprint(
			r.Requests.Cpu(), " ", r.Limits.Cpu(), " ", r.Requests.Memory(), " ", r.Limits.Memory(),
		); got != want {
			t.Errorf("container %d has %s, want %s", i, got, want)
		}
	}
}

func TestLimitRangeRefuses(t *testing.T) {
	s := apiservertest.Start(t, nil)
	made(t, s, "limitranges", `{"metadata":{"name":"a"},"spec":{"limits":[
		{"type":"Container","min":{"cpu":"100m"},"max":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"3"},"default":{"cpu":"1"},"defaultRequest":{"cpu":"1"}},
		{"type":"Pod","max":{"memory":"1Gi"}},
		{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}]}}`)
	for _, c := range []struct{ containers, message string }{
		{
			`{"requests":{"cpu":"50m"},"limits":{"memory":"1Gi"}}`,
			`[minimum cpu usage per Container is 100m, but request is 50m, cpu max limit to request ratio per Container is 3, but provided ratio is 20.000000]`,
		},
		{
			`{"requests":{"cpu":"1"},"limits":{"cpu":"2100m","memory":"1Gi"}}`,
			`maximum cpu usage per Container is 2, but limit is 2100m`,
		},
		{`{}`, `maximum memory usage per Pod is 1Gi.  No limit is specified`},
		{
			`{"limits":{"memory":"600Mi"}} {"limits":{"memory":"600Mi"}}`,
			`maximum memory usage per Pod is 1Gi, but limit is 1200Mi`,
		},
	} {
		var list []string
		for i, r := range strings.Fields(c.containers) {
			list = append(list, fmt.Sprintf(`{"name":"c%d","image":"i","resources":%s}`, i, r))
		}
		forbidden(t, s, "POST", "pods", fmt.Sprintf(
			`{"metadata":{"name":"p"},"spec":{"containers":[%s]}}`, strings.Join(list, ","),
		),
			`pods "p" is forbidden: `+c.message)
	}
	claim := func(size string) string {
		return `{"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"` +
			size + `"}}}}`
	}
	forbidden(
		t, s, "POST", "persistentvolumeclaims", claim("1"),
		`persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1`,
	)
	forbidden(
		t, s, "POST", "persistentvolumeclaims", claim("3Gi"),
		`persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
	)

	// 0.3 is three times 0.1, and an existing limit range may be changed.
	made(
		t, s, "pods",
		`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"300m","memory":"1Gi"}}}]}}`,
	)
	if a := s.Do(
		"PUT", inDefault+"limitranges/a",
		`{"metadata":{"name":"a"},"spec":{"limits":[{"type":"Container","min":{"cpu":"1"}}]}}`,
	); a.Code != 200 {
		t.Fatalf("changing the limit range: %s", a.Body)
	}
	const merge = "application/merge-patch+json"
	if a := s.Do("PATCH", inDefault+"pods/p", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type", merge); a.Code != 200 {
		t.Errorf("labelling a pod that the limits no longer allow: %d %s", a.Code, a.Body)
	}
	forbidden(t, s, "PATCH", "pods/p/resize",
		`{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"200m"}}}]}}`,
		`pods "p" is forbidden: minimum cpu usage per Container is 1, but request is 200m`, "Content-Type",
		"application/strategic-merge-patch+json")
}
