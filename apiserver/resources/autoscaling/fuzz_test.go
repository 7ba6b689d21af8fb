package autoscaling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzAutoscalerAnnotations: clients may write any values into the annotations. A second conversion changes nothing.
func FuzzAutoscalerAnnotations(f *testing.F) {
	f.Add(`[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"1"}}]`, `[{"type":"External"}]`,
		`{"ScaleUp":{"Policies":[]}}`, `[{}]`)
	f.Add("", "null", "[]", "{")
	f.Fuzz(func(t *testing.T, metrics, current, behavior, conditions string) {
		first := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			hpaMetrics: metrics, hpaCurrentMetrics: current, hpaBehavior: behavior, hpaConditions: conditions}}}
		v2, err := hpaToV2(first)
		if err != nil {
			t.Fatal(err)
		}
		once, err := hpaFromV2(v2)
		if err != nil {
			t.Skip("metrics that can't be written") // quantities that JSON can't represent
		}
		again, err := hpaToV2(once)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := hpaFromV2(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once, twice); d != "" {
			t.Errorf("-once +twice:\n%s", d)
		}
	})
}
