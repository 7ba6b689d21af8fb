package resources

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// roundTrip converts an object to the stored version and back.
func roundTrip(t *testing.T, r *Resource, obj runtime.Object) (stored, back runtime.Object) {
	t.Helper()
	before := obj.DeepCopyObject()
	stored, err := r.ToStored(obj)
	if err != nil {
		t.Fatal(err)
	}
	if got := stored.GetObjectKind().GroupVersionKind(); got != r.Stored {
		t.Errorf("%v converts to %v", pathOf(r), got)
	}
	kept := stored.DeepCopyObject()
	if back, err = r.FromStored(stored); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, obj); d != "" {
		t.Errorf("ToStored changed its argument:\n%s", d)
	}
	if d := cmp.Diff(kept, stored); d != "" {
		t.Errorf("FromStored changed its argument:\n%s", d)
	}
	return stored, back
}

// filler returns a filler that fills objects with random values. Times have only the precision of JSON.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.3).NumElements(1, 3).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse([]string{"1", "250m", "3Gi"}[c.Intn(3)])
		},
		func(tm *metav1.Time, c randfill.Continue) { *tm = metav1.Unix(c.Int63n(1e9), 0) },
		func(tm *metav1.MicroTime, c randfill.Continue) {
			*tm = metav1.NewMicroTime(time.UnixMicro(c.Int63n(1e15)))
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.Raw = []byte(`{"f:a":{}}`) },
		func(raw *runtime.RawExtension, c randfill.Continue) { raw.Raw = []byte(`{"a":1}`) },
		func(s *string, c randfill.Continue) { *s = string(rune('a' + c.Intn(26))) },
	)
}

// TestConversionsAreTotal: no conversion loses a value. All fields of every version have random values.
func TestConversionsAreTotal(t *testing.T) {
	seed := seed.Of(t)
	for _, r := range Builtin() {
		if r.ToStored == nil || r.Plural == "horizontalpodautoscalers" {
			continue // other tests: v1 has fewer fields, and some are annotations
		}
		f := filler(int64(seed))
		for range 50 {
			obj := r.New()
			gvk := obj.GetObjectKind().GroupVersionKind()
			f.Fill(obj)
			obj.GetObjectKind().SetGroupVersionKind(gvk)
			if _, back := roundTrip(t, r, obj); !cmp.Equal(obj, back) {
				t.Fatalf("%v, seed %d (-before +after):\n%s", pathOf(r), seed, cmp.Diff(obj, back))
			}
		}
	}
}

func TestConversionsAreIdempotent(t *testing.T) {
	for _, r := range Builtin() {
		if r.ToStored == nil {
			continue
		}
		served := r.New()
		stored, err := r.ToStored(served)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := r.ToStored(stored); err != nil || again != stored {
			t.Errorf("%v: ToStored of the stored version: %v", pathOf(r), err)
		}
		if again, err := r.FromStored(served); err != nil || again != served {
			t.Errorf("%v: FromStored of the served version: %v", pathOf(r), err)
		}
		recast := r.Stored.Group == "admissionregistration.k8s.io" || newIn137[r.Plural]
		if _, err := r.ToStored(&corev1.Pod{}); !recast && err == nil {
			t.Errorf("%v: a pod was converted", pathOf(r))
		}
	}
}

func TestEventIsStoredInCoreGroup(t *testing.T) {
	r := lookup(t, "events.k8s.io", "v1", "events")
	e := &eventsv1.Event{
		TypeMeta:   metav1.TypeMeta{Kind: "Event", APIVersion: "events.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "n"},
		Regarding:  corev1.ObjectReference{Kind: "Pod", Name: "p"},
		Note:       "said", ReportingController: "c", DeprecatedCount: 2,
		Series: &eventsv1.EventSeries{Count: 3},
	}
	stored, _ := roundTrip(t, r, e)
	got, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n"},"involvedObject":{"kind":"Pod","name":"p"},` +
		`"message":"said","source":{},"firstTimestamp":null,"lastTimestamp":null,"count":2,"eventTime":null,` +
		`"series":{"count":3,"lastObservedTime":null},"reportingComponent":"c","reportingInstance":""}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
}

// The annotations of v1 for the fields that only v2 has.
const (
	hpaMetrics  = "autoscaling.alpha.kubernetes.io/metrics"
	hpaBehavior = "autoscaling.alpha.kubernetes.io/behavior"
)

// cpuMetric returns the metric for the only target of v1.
func cpuMetric(target int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu",
		Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: &target}}}
}

func number(i int32) *int32 { return &i }

func TestAutoscalerV1(t *testing.T) {
	r := lookup(t, "autoscaling", "v1", "horizontalpodautoscalers")
	for _, c := range []struct {
		name        string
		cpu         *int32
		annotations map[string]string
		want        []autoscalingv2.MetricSpec
	}{
		{"no metric means CPU at 80", nil, nil, []autoscalingv2.MetricSpec{cpuMetric(80)}},
		{"CPU", number(40), nil, []autoscalingv2.MetricSpec{cpuMetric(40)}},
		{
			"what can't be read is absent", number(40), map[string]string{hpaMetrics: "nope", hpaBehavior: "1"},
			[]autoscalingv2.MetricSpec{cpuMetric(40)},
		},
		{"CPU comes last", number(40),
			map[string]string{hpaMetrics: `[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":5}}]`},
			[]autoscalingv2.MetricSpec{{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "memory",
				Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: number(5)}}}, cpuMetric(40)}},
	} {
		in := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Annotations: c.annotations},
			Spec: autoscalingv1.HorizontalPodAutoscalerSpec{MaxReplicas: 3, TargetCPUUtilizationPercentage: c.cpu}}
		stored, _ := roundTrip(t, r, in)
		hpa := stored.(*autoscalingv2.HorizontalPodAutoscaler)
		if d := cmp.Diff(c.want, hpa.Spec.Metrics); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if len(hpa.Annotations) > 0 || hpa.Spec.Behavior != nil {
			t.Errorf("%s: %v, %v", c.name, hpa.Annotations, hpa.Spec.Behavior)
		}
	}
}

// everyMetric returns an autoscaler with all features of v2 that v1 can represent.
func everyMetric() *autoscalingv2.HorizontalPodAutoscaler {
	quantity := func(s string) *resource.Quantity { q := resource.MustParse(s); return &q }
	named := autoscalingv2.MetricIdentifier{
		Name: "m", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
	}
	ref := autoscalingv2.CrossVersionObjectReference{Kind: "Ingress", Name: "i", APIVersion: "networking.k8s.io/v1"}
	most := autoscalingv2.MaxChangePolicySelect
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{Kind: "HorizontalPodAutoscaler", APIVersion: "autoscaling/v2"},
		ObjectMeta: metav1.ObjectMeta{Name: "h", Annotations: map[string]string{"own": "kept"}},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: ref, MinReplicas: number(2), MaxReplicas: 9,
			Metrics: []autoscalingv2.MetricSpec{
				{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{DescribedObject: ref, Metric: named,
					Target: autoscalingv2.MetricTarget{Type: "Value", Value: quantity("10")}}},
				{Type: "Object", Object: &autoscalingv2.ObjectMetricSource{DescribedObject: ref, Metric: named,
					Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("10")}}},
				{Type: "Pods", Pods: &autoscalingv2.PodsMetricSource{Metric: named,
					Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("5")}}},
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "memory",
					Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: quantity("1Gi")}}},
				{Type: "ContainerResource",
					ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: "c",
						Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: number(70)}}},
				{Type: "External", External: &autoscalingv2.ExternalMetricSource{Metric: named,
					Target: autoscalingv2.MetricTarget{Type: "Value", Value: quantity("7")}}},
				cpuMetric(55),
			},
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{
				StabilizationWindowSeconds: number(5), SelectPolicy: &most, Tolerance: quantity("100m"),
				Policies: []autoscalingv2.HPAScalingPolicy{{Type: "Pods", Value: 4, PeriodSeconds: 15}}}},
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			CurrentReplicas: 3, DesiredReplicas: 4,
			CurrentMetrics: []autoscalingv2.MetricStatus{
				{Type: "Object", Object: &autoscalingv2.ObjectMetricStatus{DescribedObject: ref, Metric: named,
					Current: autoscalingv2.MetricValueStatus{Value: quantity("1")}}},
				{Type: "Pods", Pods: &autoscalingv2.PodsMetricStatus{Metric: named,
					Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("2")}}},
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricStatus{Name: "cpu",
					Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("3"), AverageUtilization: number(33)}}},
				{Type: "ContainerResource",
					ContainerResource: &autoscalingv2.ContainerResourceMetricStatus{Name: "cpu", Container: "c",
						Current: autoscalingv2.MetricValueStatus{AverageValue: quantity("4")}}},
				{Type: "External", External: &autoscalingv2.ExternalMetricStatus{Metric: named,
					Current: autoscalingv2.MetricValueStatus{Value: quantity("6")}}},
			},
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: "AbleToScale", Status: "True",
				LastTransitionTime: metav1.Unix(1e9, 0), Reason: "r", Message: "m"}},
		},
	}
}

// TestAutoscalerV2SurvivesConversionToV1: a conversion to v1 and back changes nothing.
func TestAutoscalerV2SurvivesConversionToV1(t *testing.T) {
	r := lookup(t, "autoscaling", "v1", "horizontalpodautoscalers")
	in := everyMetric()
	out, err := r.FromStored(in)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(everyMetric(), in); d != "" {
		t.Errorf("FromStored changed its argument:\n%s", d)
	}
	v1 := out.(*autoscalingv1.HorizontalPodAutoscaler)
	if p := v1.Spec.TargetCPUUtilizationPercentage; p == nil || *p != 55 {
		t.Errorf("target %v", p)
	}
	if p := v1.Status.CurrentCPUUtilizationPercentage; p == nil || *p != 33 {
		t.Errorf("current %v", p)
	}
	// The message of upstream's internal type in JSON.
	want := `{"ScaleUp":{"StabilizationWindowSeconds":5,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],` +
		`"Tolerance":"100m"},"ScaleDown":null}`
	if d := cmp.Diff(want, v1.Annotations[hpaBehavior]); d != "" {
		t.Error(d)
	}
	back, err := r.ToStored(v1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, back); d != "" {
		t.Errorf("converted to v1 and back (-before +after):\n%s", d)
	}
}

// TestStoredAutoscalerIsNotConvertedToV1: v1 has no second metric of the CPU, so a patch of v1 would remove it.
func TestStoredAutoscalerIsNotConvertedToV1(t *testing.T) {
	in := everyMetric()
	average := resource.MustParse("1500m")
	in.Spec.Metrics = append(in.Spec.Metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{
			Type: autoscalingv2.AverageValueMetricType, AverageValue: &average}}})
	data, err := json.Marshal(entry.Typed(in, autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := lookup(t, "autoscaling", "v1", "horizontalpodautoscalers").DecodeStored(data)
	if err != nil || !equality.Semantic.DeepEqual(in, got) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestAutoscalerRandom: an object that was converted from v1 is unchanged after a further conversion to v1 and back.
func TestAutoscalerRandom(t *testing.T) {
	r := lookup(t, "autoscaling", "v1", "horizontalpodautoscalers")
	seed := seed.Of(t)
	f := filler(int64(seed))
	for range 200 {
		random := &autoscalingv2.HorizontalPodAutoscaler{}
		f.Fill(random)
		first, err := r.FromStored(random)
		if err != nil {
			t.Fatal(err)
		}
		_, once := roundTrip(t, r, first)
		_, twice := roundTrip(t, r, once)
		if d := cmp.Diff(once, twice); d != "" {
			t.Fatalf("seed %d (-once +twice):\n%s", seed, d)
		}
	}
}

func crontab() *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object"}}}}
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{Kind: "CustomResourceDefinition", APIVersion: "apiextensions.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "crontabs.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: "Namespaced",
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "crontabs", Singular: "crontab", Kind: "CronTab", ListKind: "CronTabList",
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: "None"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: schema,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
				AdditionalPrinterColumns: []apiextensionsv1.CustomResourceColumnDefinition{
					{Name: "A", Type: "date", JSONPath: ".metadata.creationTimestamp"},
				}}},
		},
	}
}

func TestCustomResourceDefinition(t *testing.T) {
	r := lookup(t, "apiextensions.k8s.io", "v1", "customresourcedefinitions")
	one := crontab()
	two := crontab()
	two.Spec.Versions = append(two.Spec.Versions, *two.Spec.Versions[0].DeepCopy())
	two.Spec.Versions[1].Name, two.Spec.Versions[1].Storage, two.Spec.Versions[1].Subresources = "v2", false, nil
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{one, two} {
		before := crd.DeepCopy()
		written, err := r.Written.To(crd)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, crd); d != "" {
			t.Errorf("To changed its argument:\n%s", d)
		}
		data, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(
			string(data), `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",`,
		) {
			t.Errorf("written as %s", data)
		}
		upgraded, err := Upgrade("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", data)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := json.Marshal(crd); err != nil || string(upgraded) != string(want) {
			t.Errorf("read as\n%s, not as\n%s, %v", upgraded, want, err)
		}
	}
	// A schema that all versions share is at the top of the spec.
	written, err := r.Written.To(one)
	if err != nil || written.(*apiextensionsv1beta1.CustomResourceDefinition).Spec.Validation == nil {
		t.Errorf("the schema is in the version: %v", err)
	}
}

// TestValueInServedVersionIsDecoded: a value in etcd may have the served version, because another program has written
// it.
func TestValueInServedVersionIsDecoded(t *testing.T) {
	crd := crontab()
	data, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	got, err := lookup(t, "apiextensions.k8s.io", "v1", "customresourcedefinitions").Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(crd, got); d != "" {
		t.Error(d)
	}
	if _, err := lookup(t, "", "v1", "pods").Decode([]byte("{")); err == nil {
		t.Error("half an object was decoded")
	}
}

// TestRecastVersionsHaveTheSameJSON: Recast is correct only for versions with the same JSON.
func TestRecastVersionsHaveTheSameJSON(t *testing.T) {
	for _, plural := range []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		r := lookup(t, "admissionregistration.k8s.io", "v1", plural)
		stored, err := Scheme().New(r.Stored)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(shape(reflect.TypeOf(r.New())), shape(reflect.TypeOf(stored))); d != "" {
			t.Errorf("%s (-served +stored):\n%s", plural, d)
		}
	}
}

// shape lists a type's fields and their JSON names.
func shape(t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return shape(t.Elem())
	case reflect.Map:
		return append([]string{"map"}, shape(t.Elem())...)
	case reflect.Struct:
		if t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" {
			return []string{t.Name()}
		}
		var s []string
		for i := range t.NumField() {
			f := t.Field(i)
			for _, sub := range shape(f.Type) {
				s = append(s, f.Tag.Get("json")+"/"+sub)
			}
		}
		return s
	}
	return []string{t.Kind().String()}
}
