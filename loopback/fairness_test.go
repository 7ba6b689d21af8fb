package loopback_test

import (
	"net/http"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const flowControl = "/apis/flowcontrol.apiserver.k8s.io/v1/"

// TestFlowSchemaConditions: the condition Dangling follows the priority levels that are stored, and is the
// consumer's by server-side apply.
func TestFlowSchemaConditions(t *testing.T) {
	s := apiservertest.Start(t, nil)
	w := s.Watch(flowControl + "flowschemas?watch=1")
	do(t, s, "POST", flowControl+"flowschemas",
		`{"metadata":{"name":"own"},"spec":{"matchingPrecedence":900,"priorityLevelConfiguration":{"name":"mine"}}}`)
	starts(t, s, "priority-and-fairness-controller")
	o := shows(t, w, "own", `"reason":"NotFound","status":"True","type":"Dangling"`)
	if e := o.GetManagedFields()[0]; e.Manager != "api-priority-and-fairness-config-consumer-v1" ||
		e.Operation != "Apply" ||
		e.Subresource != "status" {
		t.Errorf("managed fields %v", e)
	}
	level := `{"metadata":{"name":"mine"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":3,"limitResponse":{"type":"Reject"}}}}`
	do(t, s, "POST", flowControl+"prioritylevelconfigurations", level)
	shows(t, w, "own", `"reason":"Found","status":"False","type":"Dangling"`)
	do(t, s, "DELETE", flowControl+"prioritylevelconfigurations/mine", "")
	shows(t, w, "own", `"reason":"NotFound","status":"True","type":"Dangling"`)
}

// TestFlowControlObjects: what every cluster has is created where it is missing and set back where it is to be, and
// nothing is written a second time.
func TestFlowControlObjects(t *testing.T) {
	s := apiservertest.Start(t, nil)
	schemas := s.Watch(flowControl + "flowschemas?watch=1")
	levels := s.Watch(flowControl + "prioritylevelconfigurations?watch=1")
	stop := starts(t, s, "priority-and-fairness-controller")
	count := func(w *apiservertest.Watch, n int) {
		t.Helper()
		for range n {
			eventually(t, w, "an object", func(e apiservertest.Event) bool { return e.Type == "ADDED" })
		}
	}
	const found = `"reason":"Found","status":"False"`
	count(schemas, len(bootstrap.MandatoryFlowSchemas)+len(bootstrap.SuggestedFlowSchemas))
	count(levels, len(bootstrap.MandatoryPriorityLevelConfigurations)+len(bootstrap.SuggestedPriorityLevelConfigurations))
	for _, o := range s.Do("GET", flowControl+"flowschemas", nil).List().Items {
		for !strings.Contains(string(s.Do("GET", flowControl+"flowschemas/"+o.GetName(), nil).Body), `"type":"Dangling"`) {
			if _, err := schemas.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()

	merge := func(plural, doc string) {
		t.Helper()
		do(t, s, "PATCH", flowControl+plural, doc)
	}
	do(t, s, "DELETE", flowControl+"flowschemas/global-default", "")
	merge("prioritylevelconfigurations/system", `{"spec":{"limited":{"nominalConcurrencyShares":50}}}`)
	merge("prioritylevelconfigurations/exempt", `{"spec":{"exempt":{"nominalConcurrencyShares":7}}}`)
	merge("prioritylevelconfigurations/workload-low", `{"metadata":{"annotations":{"`+
		flowcontrolv1.AutoUpdateAnnotationKey+`":"false"}},"spec":{"limited":{"nominalConcurrencyShares":9}}}`)
	do(t, s, "POST", flowControl+"prioritylevelconfigurations", `{"metadata":{"name":"once","annotations":{"`+
		flowcontrolv1.AutoUpdateAnnotationKey+`":"true"}},
		"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`)
	schemas = s.Watch(flowControl + "flowschemas?watch=1&resourceVersion=0")
	before := s.Do("GET", flowControl+"prioritylevelconfigurations", nil).List().GetResourceVersion()
	stop = starts(t, s, "priority-and-fairness-controller")
	shows(t, schemas, "global-default", found)
	stop()
	var changed []string
	for _, o := range s.Do("GET", flowControl+"flowschemas", nil).List().Items {
		if newer(o.GetResourceVersion(), before) {
			changed = append(changed, o.GetName())
		}
	}
	for _, o := range s.Do("GET", flowControl+"prioritylevelconfigurations", nil).List().Items {
		if newer(o.GetResourceVersion(), before) {
			changed = append(changed, o.GetName())
		}
		if o.GetName() == "once" {
			t.Error("the level once is still there")
		}
	}
	if got := strings.Join(changed, " "); got != "global-default system" {
		t.Errorf("written: %s", got)
	}
	for name, want := range map[string]string{
		"system": `"nominalConcurrencyShares":30`, "exempt": `"nominalConcurrencyShares":7`,
		"workload-low": `"nominalConcurrencyShares":9`,
	} {
		expect(t, s.Do("GET", flowControl+"prioritylevelconfigurations/"+name, nil), http.StatusOK, want)
	}
}

// newer reports whether a resourceVersion is after another.
func newer(rv, than string) bool {
	return len(rv) > len(than) || len(rv) == len(than) && rv > than
}
