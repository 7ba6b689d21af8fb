package endpoints_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestQuantities: quantities that take too long to parse are rejected; where any string is allowed they are strings.
func TestQuantities(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const pods = "/api/v1/namespaces/default/pods"
	pod := func(name, cpu string) string {
		return fmt.Sprintf(
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"annotations":{"free":"1e-999999999"}},"spec":{"containers":[{"name":"c","image":"i","env":[{"name":"E","value":"1e-999999999"}],"resources":{"limits":{"cpu":%s}}}]}}`,
			name, cpu,
		)
	}
	must(t, s.Do("POST", pods, pod("fine", `"250m"`)), http.StatusCreated)
	for _, cpu := range []string{
		`"1e-999999999"`, `1e-999999999`, `"1E+999999999"`, `"1e999999999"`, `"1` + strings.Repeat("0", 100_000) + `E"`,
		`"0.` + strings.Repeat("1", 100_000) + `"`,
	} {
		for _, media := range []string{"application/json", "application/yaml"} {
			if media == "application/yaml" && cpu[0] != '"' {
				continue // YAML's own numbers are of 64 bits
			}
			a := must(t, s.Do("POST", pods, pod("a", cpu), "Content-Type", media), http.StatusBadRequest)
			if !strings.Contains(string(a.Body), "quantities must not have") {
				t.Errorf("%.40s: %s", cpu, a.Body)
			}
		}
		a := s.Do("PATCH", pods+"/fine",
			`{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":`+cpu+`}}}]}}`)
		if a.Code != http.StatusUnprocessableEntity {
			t.Errorf("%.40s: %d %.300s", cpu, a.Code, a.Body)
		}
		if cpu[0] != '"' {
			continue
		}
		must(t, s.Do(
			"PATCH", pods+"/fine",
			`{"kind":"ConfigMap","spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":`+cpu+`}}}]}}`,
			"Content-Type", "application/strategic-merge-patch+json",
		), http.StatusUnprocessableEntity)
		must(t, s.Do(
			"PATCH", pods+"/fine?fieldManager=f&force=true", pod("fine", cpu), "Content-Type", "application/apply-patch+yaml",
		), http.StatusBadRequest)
	}
	must(t, s.Do("POST", configmaps, configmap("free", map[string]string{"k": "1e-999999999"}, nil)), http.StatusCreated)
	// The body of another kind, and a string with escapes, which is decoded before it is a quantity.
	must(t, s.Do("POST", configmaps, pod("a", `"1e-999999999"`)), http.StatusBadRequest)
	must(t, s.Do("PATCH", pods+"/fine?fieldManager=f&force=true", pod("fine", `"1e-\u0039\u0039999999"`),
		"Content-Type", "application/apply-patch+yaml"), http.StatusBadRequest)
	// The check may come to another invalid quantity first.
	for range 8 {
		both := strings.Replace(pod("fine", `"1e-999999999"`), `"cpu":`, `"memory":"x","cpu":`, 1)
		must(t, s.Do("PATCH", pods+"/fine?fieldManager=f&force=true", both, "Content-Type", "application/apply-patch+yaml"),
			http.StatusBadRequest)
	}
	metrics := `[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"1e-\u0039\u0039999999"}}]`
	must(t, s.Do("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", `{"metadata":{"name":"h",
		"annotations":{"autoscaling.alpha.kubernetes.io/metrics":`+strconv.Quote(metrics)+`}},
		"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`),
		http.StatusCreated)
	// Members whose numbers are replaced by the same string must both be decoded.
	two := strings.Replace(pod("a", `"1"`), `"cpu":"1"`, `"1e10000":"1e-999999999","1e10001":"1"`, 1)
	must(t, s.Do("POST", pods, two, "Content-Type", "application/yaml"), http.StatusBadRequest)
	// Another error is reported as it is.
	a := must(t, s.Do("POST", pods, pod("a", `"100Kb"`)), http.StatusBadRequest)
	if !strings.Contains(string(a.Body), "quantities must match") {
		t.Errorf("%s", a.Body)
	}
}

// TestQuantitiesInProtobuf: the tag or the length of a quantity may have more bytes than it needs, and more than 64
// bits.
func TestQuantitiesInProtobuf(t *testing.T) {
	s := apiservertest.Start(t, nil)
	limits := corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"cpu": resource.MustParse("1111111111111111111111111")},
	}
	post := func(name, annotation, cpu string) apiservertest.Answer {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"free": annotation}},
			Spec: corev1.PodSpec{
				Containers:       []corev1.Container{{Name: "c", Image: "i", Resources: limits}},
				ImagePullSecrets: []corev1.LocalObjectReference{{Name: "1234e56789"}},
			},
		}
		body := bytes.Replace(wrap(t, "v1", "Pod", pod), []byte("\n\x191111111111111111111111111"), []byte(cpu), 1)
		return s.Do("POST", "/api/v1/namespaces/default/pods", string(body), "Content-Type", mediaProtobuf)
	}
	// number is written with n characters
	number := func(number string, n int) string { return strings.Repeat("0", n-len(number)) + number }
	must(t, post("fine", "1e-999999999", "\n\x19"+number("1", 25)), http.StatusCreated)
	must(t, post("1e123456", strings.Repeat("1", 1000), "\n\x19"+number("1", 25)), http.StatusCreated)
	const far = "1e-999999999"
	for _, cpu := range []string{
		"\n\x19" + number(far, 25), "\x8a\x00\x18" + number(far, 24),
		"\n\r" + number("1e-99999999", 13) + "\n\x0a1111111111", // its length is a character that JSON would trim
		"\n\x90\x80\x80\x80\x80\x80\x80\x80\x80\x02" + number(far, 16),
	} {
		a := must(t, post("a", "", cpu), http.StatusBadRequest)
		if !strings.Contains(string(a.Body), "quantities must not have") {
			t.Errorf("%q: %s", cpu, a.Body)
		}
	}
}

// TestManyErrors: the response to an invalid object is limited, however many errors it has.
func TestManyErrors(t *testing.T) {
	s := apiservertest.Start(t, nil)
	var owners, labels []string
	for i := range 3000 {
		owners = append(owners, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u%d","controller":true}`, i))
	}
	for i := range 20_000 {
		labels = append(labels, fmt.Sprintf(`"a %d":"b"`, i))
	}
	for _, meta := range []string{
		`"ownerReferences":[` + strings.Join(owners, ",") + `]`, `"labels":{` + strings.Join(labels, ",") + `}`,
	} {
		a := must(t, s.Do("POST", configmaps, `{"metadata":{"name":"a",`+meta+`}}`), http.StatusUnprocessableEntity)
		if st := a.Status(); len(a.Body) > 4<<20 || len(st.Details.Causes) == 0 || st.Reason != "Invalid" {
			t.Errorf("%d bytes, %d causes", len(a.Body), len(st.Details.Causes))
		}
	}
}
