package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

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
		a := s.Do(
			"PATCH", pods+"/fine", `{"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":`+cpu+`}}}]}}`,
			"Content-Type", mergePatch,
		)
		if a.Code != http.StatusUnprocessableEntity {
			t.Errorf("%.40s: %d %.300s", cpu, a.Code, a.Body)
		}
		if cpu[0] != '"' {
			continue
		}
		must(t, s.Do(
			"PATCH", pods+"/fine?fieldManager=f&force=true", pod("fine", cpu), "Content-Type", "application/apply-patch+yaml",
		), http.StatusBadRequest)
	}
	must(t, s.Do("POST", configmaps, configmap("free", map[string]string{"k": "1e-999999999"}, nil)), http.StatusCreated)
}

// TestManyErrors: the response to an invalid object is bounded, however many errors it has.
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
