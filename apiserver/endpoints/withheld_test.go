package endpoints_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestEvictionWithheld: V-068. A budget whose status is not plausible allows no eviction, and the cause says why.
func TestEvictionWithheld(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const pods, budgets = "/api/v1/namespaces/default/pods", "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	must(t, s.Do("POST", pods, `{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n",`+
		`"containers":[{"name":"c","image":"i"}]}}`), http.StatusCreated)
	must(t, s.Do("PATCH", pods+"/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready",`+
		`"status":"True"}]}}`), http.StatusOK)
	must(t, s.Do("POST", budgets, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":`+
		`{"a":"b"}}}}`), http.StatusCreated)
	r, err := s.Store.Get(t.Context(), "/registry/poddisruptionbudgets/default/b")
	if err != nil {
		t.Fatal(err)
	}
	stored := string(r.Value)
	var disrupted []string
	for i := range 2001 {
		disrupted = append(disrupted, fmt.Sprintf(`"p%d":"2026-01-02T03:04:05Z"`, i))
	}
	for _, c := range []struct{ status, message, cause string }{
		{`"disruptionsAllowed":-1`, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative"},
		{`"disruptionsAllowed":1,"disruptedPods":{` + strings.Join(disrupted, ",") + `}`,
			"DisruptedPods map too big - too many evictions not confirmed by PDB controller",
			"too many pending evictions not confirmed by PDB controller"},
	} {
		value := strings.Replace(stored, `"disruptionsAllowed":0`, `"observedGeneration":1,`+c.status, 1)
		s.Put(t, "/registry/poddisruptionbudgets/default/b", value)
		a := must(t, s.Do("POST", pods+"/p/eviction", `{"metadata":{"name":"p"}}`), http.StatusForbidden)
		st := a.Status()
		want := fmt.Sprintf(`poddisruptionbudget.policy "b" is forbidden: %s`, c.message)
		cause := "The disruption budget b does not allow evicting pods currently: " + c.cause
		if st.Message != want || st.Details == nil || len(st.Details.Causes) != 1 ||
			st.Details.Causes[0].Type != "DisruptionBudget" || st.Details.Causes[0].Message != cause {
			data, _ := json.Marshal(st)
			t.Errorf("%s", data)
		}
	}
}
