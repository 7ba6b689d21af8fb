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
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestTranscodedObjectsAreDecoded: an object of each built-in kind is encoded as kube-apiserver stores it: in protobuf
// and in its storage version. After Transcode, the decoder of the kind reads the same object.
func TestTranscodedObjectsAreDecoded(t *testing.T) {
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
		t.Errorf("%d kinds were tested", kinds)
	}
}

// TestEarlierVersionsInProtobufAreRead: a value in protobuf of an earlier version is read as kube-apiserver reads it. A
// damaged value, and one of a version before Kubernetes v1.30, is an error.
func TestEarlierVersionsInProtobufAreRead(t *testing.T) {
	level := &flowcontrolv1beta3.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{
			flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey: "", "b": "c"}},
		Spec: flowcontrolv1beta3.PriorityLevelConfigurationSpec{
			Limited: &flowcontrolv1beta3.LimitedPriorityLevelConfiguration{}}}
	raw, err := level.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	stored := func(version string, raw []byte) []byte {
		value, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{
			APIVersion: "flowcontrol.apiserver.k8s.io/" + version, Kind: "PriorityLevelConfiguration"}, Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), value...)
	}
	const want = `{"kind":"PriorityLevelConfiguration","apiVersion":"flowcontrol.apiserver.k8s.io/v1",` +
		`"metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"type":"","limited":{"nominalConcurrencyShares":0,` +
		`"limitResponse":{"type":""}}},"status":{}}`
	got, err := Transcode(stored("v1beta3", raw))
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := Transcode(stored("v1beta3", raw[:len(raw)-1])); err == nil {
		t.Error("a truncated value is read")
	}
	if _, err := Transcode(stored("v1beta2", raw)); err == nil || !strings.Contains(err.Error(), "v1.30") {
		t.Errorf("v1beta2: %v", err)
	}
}

// TestDeepSchemaIsAnError: its levels would overflow the stack. A schema of a usual depth is valid.
func TestDeepSchemaIsAnError(t *testing.T) {
	// field returns a field of a message that contains an inner message of the given size.
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

// TestOnlyDefinitionsAreNestedWithoutLimit: only messages of CustomResourceDefinitions can be nested without a limit.
func TestOnlyDefinitionsAreNestedWithoutLimit(t *testing.T) {
	for gvk, of := range Scheme().AllKnownTypes() {
		if recursive(of, map[reflect.Type]bool{}) && !strings.HasPrefix(gvk.Kind, "CustomResourceDefinition") {
			t.Errorf("%s can be nested", gvk)
		}
	}
}

// recursive reports whether a type contains itself, at any depth. above has the types that contain it.
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
