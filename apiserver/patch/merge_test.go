package patch

import (
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/seed"
)

func mergePatch(text string) *Patch {
	return &Patch{Kind: types.MergePatchType, Bytes: []byte(text), Strictness: metav1.FieldValidationStrict}
}

// bothWays merges a patch into the Go value, and by way of JSON; ok says that the first was done. What it gave must
// be what the second does, and cur be as it was.
func bothWays(t *testing.T, cur runtime.Object, p *Patch) (got runtime.Object, ok bool) {
	t.Helper()
	gvk := cur.GetObjectKind().GroupVersionKind()
	before := cur.DeepCopyObject()
	got, ok = p.merge(cur)
	if d := cmp.Diff(before, cur); d != "" {
		t.Fatalf("%s changed what it was applied to:\n%s", p.Bytes, d)
	}
	want, err := p.byJSON(cur, gvk, nil)
	switch {
	case !ok:
		return want, false
	case err != nil:
		t.Fatalf("%s: merged, and not by JSON: %v", p.Bytes, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s of %s (-by JSON +merged):\n%s", p.Bytes, gvk, d)
	}
	return got, true
}

// TestMerge has what is merged into a Go value, and what isn't.
func TestMerge(t *testing.T) {
	config := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "1"}, Finalizers: []string{"a.b/c"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: "u", Controller: ptr.To(true)},
			}},
		Data: map[string]string{"k": "v", "l": "w"}, Immutable: ptr.To(false)}
	workload := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}}}}
	quota := &corev1.ResourceQuota{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("1")}}}
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Data: map[string][]byte{"a": []byte("b")},
	}
	revision := &appsv1.ControllerRevision{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevision"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Data:       runtime.RawExtension{Raw: []byte(`{"a":1}`)}}
	claim := &resourcev1.DeviceClass{
		TypeMeta:   metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "DeviceClass"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
	}
	for _, c := range []struct {
		obj   runtime.Object
		patch string
		want  bool
	}{
		{config, `{"data":{"k":"x"}}`, true},
		{config, ` { "data" : { "k" : "x" , "l" : null, "m" : "<&\u2028é\ud83d" } } `, true},
		{config, `{"data":{"k":null,"l":null}}`, true},
		{config, `{"data":{"none":null}}`, true},
		{config, `{"data":{}}`, true},
		{config, `{"data":null}`, true},
		{config, `{"binaryData":{"k":null}}`, true},
		{config, `{"binaryData":{"k":"aGk="}}`, true},
		{config, `{"binaryData":{"k":"?"}}`, false},
		{config, `{"immutable":true}`, true},
		{config, `{"immutable":null}`, true},
		{config, `{"immutable":"yes"}`, false},
		{config, `{"metadata":{"labels":{"y":"2"},"annotations":{"a":"b"}}}`, true},
		{config, `{"metadata":{"finalizers":null}}`, true},
		{config, `{"metadata":{"finalizers":[]}}`, true},
		{config, `{"metadata":{"finalizers":["x/y","z/y"]}}`, true},
		{config, `{"metadata":{"finalizers":["x/y",null]}}`, false},
		{config, `{"metadata":{"finalizers":{}}}`, false},
		{config, `{"metadata":{"finalizers":[1]}}`, false},
		{config, `{"metadata":{"ownerReferences":null,"resourceVersion":"7","deletionGracePeriodSeconds":3}}`, true},
		{config, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"p","uid":"w"}]}}`, false},
		{
			config, `{"metadata":{"creationTimestamp":"2024-01-02T03:04:05Z","deletionTimestamp":"2024-01-02T03:04:05+01:00"}}`,
			true,
		},
		{config, `{"metadata":{"creationTimestamp":"now"}}`, false},
		{config, `{"metadata":{"managedFields":[{"manager":"m"}]}}`, false},
		{config, `{"metadata":null}`, true},
		{config, `{"metadata":[]}`, false},
		{config, `{"metadata":{"generation":1.0}}`, false},
		{config, `{"metadata":{"generation":9223372036854775807}}`, true},
		{config, `{"metadata":{"generation":9223372036854775808}}`, false},
		{config, `{"kind":"ConfigMap","data":{"k":"x"}}`, false},
		{config, `{"unknown":1}`, false},
		{config, `{"Data":{"k":"x"}}`, false},
		{config, `{"data":{"k":"x"},"data":{"l":"x"}}`, false},
		{config, `{"data":{"k":"x","k":"y"}}`, false},
		{config, `{"data":{"k":1}}`, false},
		{config, `{"data":{"k":{"a":"b"}}}`, false},
		{config, `{"data":"x"}`, false},
		{config, `[]`, false},
		{config, `null`, false},
		{config, ``, false},
		{config, `{"data"`, false},
		{config, `{}`, true},
		{workload, `{"spec":{"replicas":3}}`, true},
		{workload, `{"spec":{"replicas":null,"paused":true,"minReadySeconds":5}}`, true},
		{workload, `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"annotations":{"a":"b"}}}}}`, true},
		{workload, `{"spec":{"selector":null}}`, true},
		{workload, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":"10%"}}}}`, true},
		{workload, `{"spec":{"strategy":{"rollingUpdate":{}}}}`, true},
		{workload, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":null}}}}`, true},
		{workload, `{"spec":{"template":{"spec":{"containers":[{"name":"d"}]}}}}`, false},
		{workload, `{"spec":{"template":{"spec":{"containers":[]}}}}`, false},
		{workload, `{"spec":{"template":{"spec":{"containers":null}}}}`, true},
		{workload, `{"status":{"replicas":3,"conditions":[{"type":"A"}]}}`, false},
		{workload, `{"status":{"replicas":3}}`, true},
		{quota, `{"spec":{"hard":{"pods":"2","cpu":"1e3","memory":1.50,"a":0.10}}}`, true},
		{quota, `{"spec":{"hard":{"pods":null}},"status":{"used":{"cpu":"1"}}}`, true},
		{quota, `{"spec":{"hard":{"pods":"x"}}}`, false},
		{quota, `{"spec":{"hard":{"pods":"1e999999999"}}}`, false},
		{quota, `{"spec":{"scopes":["BestEffort"]}}`, true},
		{secret, `{"data":{"a":null,"b":"aGk="},"stringData":{"c":"d"}}`, true},
		{secret, `{"data":{"b":[1,2]}}`, false},
		{revision, `{"revision":3}`, true},
		{revision, `{"data":{"b":2}}`, false},
		{revision, `{"data":[2, 1]}`, false},
		{revision, `{"data":"<"}`, false},
		{revision, `{"data":null}`, true},
		{claim, `{"spec":{"config":[{"opaque":{"driver":"d","parameters":{"z":1,"a":2}}}]}}`, false},
	} {
		if _, ok := bothWays(t, c.obj, mergePatch(c.patch)); ok != c.want {
			t.Errorf("%s: merged: %t", c.patch, ok)
		}
	}
}

// TestMergeTwin merges the differences of random objects of all kinds.
func TestMergeTwin(t *testing.T) {
	from := int64(seed.Of(t))
	merged, all := 0, 0
	for i, res := range builtinTypes.All() {
		if res.Collection == "" {
			continue
		}
		random := rand.New(rand.NewSource(from + int64(i)))
		codecs := serializer.NewCodecFactory(resources.Scheme())
		fill := fuzzer.FuzzerFor(metafuzzer.Funcs, random, codecs).NilChance(.4).NumElements(1, 2).MaxDepth(9)
		for range 4 {
			a, b := randomJSON(t, fill, res), randomJSON(t, fill, res)
			diff, err := jsonpatch.CreateMergePatch(a, b)
			if err != nil {
				t.Fatal(err)
			}
			cur := res.New()
			if err := json.Unmarshal(a, cur); err != nil {
				t.Fatal(err)
			}
			cur.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
			for range 20 {
				var doc map[string]any
				if err := json.Unmarshal(diff, &doc); err != nil {
					t.Fatal(err)
				}
				text, err := json.Marshal(few(random, doc))
				if err != nil {
					t.Fatal(err)
				}
				all++
				if _, ok := bothWays(t, cur, mergePatch(string(text))); ok {
					merged++
				}
			}
		}
	}
	if merged < all/4 {
		t.Errorf("only %d of %d patches were merged into Go values", merged, all)
	}
}

var builtinTypes = resources.NewTable(resources.Builtin()...)

func randomJSON(t *testing.T, fill *randfill.Filler, res *resources.Resource) []byte {
	obj := res.New()
	fill.Fill(obj)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "kind")
	delete(content, "apiVersion")
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// few takes most out of a document, and makes some of it null.
func few(random *rand.Rand, doc map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		inner, nested := doc[name].(map[string]any)
		switch n := random.Intn(6); {
		case n < 3 && !nested:
		case n == 3:
			out[name] = nil
		case nested:
			out[name] = few(random, inner)
		default:
			out[name] = doc[name]
		}
	}
	return out
}
