package resources

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	nodev1 "k8s.io/api/node/v1"
	nodev1alpha1 "k8s.io/api/node/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1alpha1 "k8s.io/api/rbac/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestTranscode: an object of every built-in kind, as kube-apiserver stores it in protobuf at its storage version, is
// in JSON what its decoder reads.
func TestTranscode(t *testing.T) {
	seed := seed.Of(t)
	f, s := filler(int64(seed)).MaxDepth(12), protobuf.NewSerializer(Scheme(), Scheme())
	kinds := 0
	for _, r := range Builtin() {
		if r.Collection == "" || r.Custom || r.ToStored != nil || r.Written != nil {
			continue
		}
		kinds++
		for range 20 {
			obj, err := Scheme().New(r.Stored)
			if err != nil {
				t.Fatal(err)
			}
			f.Fill(obj)
			obj.GetObjectKind().SetGroupVersionKind(r.Stored)
			var value bytes.Buffer
			if err := s.Encode(obj, &value); err != nil {
				t.Fatalf("%s: %v", r.Stored, err)
			}
			want, _, err := s.Decode(value.Bytes(), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v", r.Stored, err)
			}
			want.GetObjectKind().SetGroupVersionKind(r.Stored)
			data, err := Transcode(value.Bytes())
			if err != nil {
				t.Fatalf("%s: %v", r.Stored, err)
			}
			plain, err := json.Marshal(want)
			if err != nil {
				t.Fatalf("%s: %v", r.Stored, err)
			}
			if diff := cmp.Diff(string(plain), string(data)); diff != "" {
				t.Fatalf("%s (-decoded +transcoded):\n%s", r.Stored, diff)
			}
			got, err := r.Decode(data)
			if err != nil {
				t.Fatalf("%s: %v: %s", r.Stored, err, data)
			}
			again, err := json.Marshal(got)
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("%s is read as another object: %v\n%s", r.Stored, err, cmp.Diff(string(data), string(again)))
			}
		}
	}
	if kinds < 30 {
		t.Errorf("%d kinds were looked at", kinds)
	}
}

// TestTranscodeOlder: values in protobuf of versions whose messages mean something else are converted as kube-apiserver
// converts them, and a damaged one is an error.
func TestTranscodeOlder(t *testing.T) {
	const name, group = "a", "rbac.authorization.k8s.io"
	meta := metav1.ObjectMeta{Name: name}
	handler, key := "h", "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
	for _, c := range []struct {
		version   string
		obj, want runtime.Object
	}{
		{"node.k8s.io/v1alpha1", &nodev1alpha1.RuntimeClass{ObjectMeta: meta, Spec: nodev1alpha1.RuntimeClassSpec{
			RuntimeHandler: handler, Overhead: &nodev1alpha1.Overhead{PodFixed: corev1.ResourceList{}},
			Scheduling: &nodev1alpha1.Scheduling{NodeSelector: map[string]string{"b": "c"}}}},
			&nodev1.RuntimeClass{ObjectMeta: meta, Handler: handler, Overhead: &nodev1.Overhead{},
				Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"b": "c"}}}},
		{"rbac.authorization.k8s.io/v1alpha1", &rbacv1alpha1.ClusterRoleBinding{ObjectMeta: meta,
			Subjects: []rbacv1alpha1.Subject{{Kind: "User", APIVersion: group + "/v1alpha1", Name: "*"},
				{Kind: "ServiceAccount", APIVersion: "v1", Name: "b"}, {Kind: "Robot", APIVersion: "example.com/v1", Name: "c"}}},
			&rbacv1.ClusterRoleBinding{ObjectMeta: meta,
				Subjects: []rbacv1.Subject{{Kind: "Group", APIGroup: group, Name: "system:authenticated"},
					{Kind: "ServiceAccount", Name: "b"}, {Kind: "Robot", APIGroup: "example.com", Name: "c"}}}},
		{"rbac.authorization.k8s.io/v1alpha1", &rbacv1alpha1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1alpha1.PolicyRule{
			{Verbs: []string{"get"}, APIGroups: []string{"b", "c"}, Resources: []string{"d"}, ResourceNames: []string{"e"}},
			{Verbs: []string{"list"}, NonResourceURLs: []string{"/f"}}}},
			&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
				{Verbs: []string{"get"}, APIGroups: []string{"b", "c"}, Resources: []string{"d"}, ResourceNames: []string{"e"}},
				{Verbs: []string{"list"}, NonResourceURLs: []string{"/f"}}}}},
		{"policy/v1beta1", &policyv1beta1.PodDisruptionBudget{ObjectMeta: meta,
			Spec: policyv1beta1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}}},
			&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{
					MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: "Exists"}}}}}},
		{"flowcontrol.apiserver.k8s.io/v1beta3", &flowcontrolv1beta3.PriorityLevelConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
				flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey: "", "b": "c"}},
			Spec: flowcontrolv1beta3.PriorityLevelConfigurationSpec{
				Limited: &flowcontrolv1beta3.LimitedPriorityLevelConfiguration{}}},
			&flowcontrolv1.PriorityLevelConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"b": "c"}},
				Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
					Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: new(int32)}}}},
	} {
		kinds, _, err := Scheme().ObjectKinds(c.want)
		if err != nil {
			t.Fatal(err)
		}
		gv, err := schema.ParseGroupVersion(c.version)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := c.obj.(interface{ Marshal() ([]byte, error) }).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		stored := func(raw []byte) []byte {
			value, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{
				APIVersion: gv.String(), Kind: kinds[0].Kind}, Raw: raw}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			return append([]byte("k8s\x00"), value...)
		}
		c.want.GetObjectKind().SetGroupVersionKind(kinds[0])
		plain, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Transcode(stored(raw))
		if diff := cmp.Diff(string(plain), string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.version, err, diff)
		}
		if _, err := Transcode(stored(raw[:len(raw)-1])); err == nil {
			t.Errorf("%s: a truncated value is read", c.version)
		}
	}
}

// TestNesting: a value that is nested so deep that the stack would overflow is an error, and a schema of a usual depth
// is none.
func TestNesting(t *testing.T) {
	// field is a part of a message that holds an inner one of so many bytes.
	field := func(number protowire.Number, inner int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(inner))
	}
	nested := func(levels int) []byte {
		var heads [][]byte
		size := 0
		wrap := func(number protowire.Number) {
			heads = append(heads, field(number, size))
			size += len(heads[len(heads)-1])
		}
		for range levels {
			wrap(28) // JSONSchemaProps.not
		}
		for _, number := range []protowire.Number{1, 4, 7, 2} { // openAPIV3Schema, schema, versions, spec
			wrap(number)
		}
		var object []byte
		for _, head := range slices.Backward(heads) {
			object = append(object, head...)
		}
		value, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{
			APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, Raw: object}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), value...)
	}
	if data, err := Transcode(nested(200)); err != nil || bytes.Count(data, []byte(`"not":`)) != 200 {
		t.Errorf("200 levels: %v", err)
	}
	for _, levels := range []int{1000, 3_000_000} {
		if _, err := Transcode(nested(levels)); err == nil || !strings.Contains(err.Error(), "nested 1000 levels deep") {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

// TestRecursive: messages of no kind but CustomResourceDefinitions can be nested without end.
func TestRecursive(t *testing.T) {
	for gvk, of := range Scheme().AllKnownTypes() {
		if recursive(of, map[reflect.Type]bool{}) && !strings.HasPrefix(gvk.Kind, "CustomResourceDefinition") {
			t.Errorf("%s can be nested", gvk)
		}
	}
}

// recursive reports whether a type has itself in it, at any depth; above are the types around it.
func recursive(of reflect.Type, above map[reflect.Type]bool) bool {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return false
	}
	if above[of] {
		return true
	}
	above[of] = true
	defer delete(above, of)
	for i := range of.NumField() {
		if f := of.Field(i); f.Tag.Get("protobuf") != "" && recursive(f.Type, above) {
			return true
		}
	}
	return false
}
