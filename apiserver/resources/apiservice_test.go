package resources

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// now is the time of every row.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPrintedAPIServiceNamesItsService(t *testing.T) {
	a := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1.x", CreationTimestamp: metav1.NewTime(now.Add(-time.Minute))},
		Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "n", Name: "s"},
		},
	}
	cells := apiServiceTable().Cells
	if diff := cmp.Diff([]any{"v1.x", "n/s", "Unknown", "60s"}, cells(a, now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a.Spec.Service = nil
	if got := cells(a, now)[1]; got != "Local" {
		t.Errorf("without a service: %v", got)
	}
}
