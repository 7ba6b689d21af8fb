package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// TestUpstreamsBytesAreRead: what upstream's serializers write of each built-in kind, in each version of client-go's
// scheme, is read, or, if no release since Kubernetes v1.30 stores that version, reported with this reason.
func TestUpstreamsBytesAreRead(t *testing.T) {
	collections := map[schema.GroupKind]*resources.Resource{}
	for _, r := range resources.Builtin() {
		if r.Collection != "" && !r.Custom && collections[r.GroupVersionKind().GroupKind()] == nil {
			collections[r.GroupVersionKind().GroupKind()] = r
		}
	}
	in := newInspection(newReport(&snapshot.Info{}), nil, nil)
	in.report.Prefix, in.decoder.Root = "/registry", "/registry"
	read, old := 0, 0
	for _, gvk := range slices.SortedFunc(maps.Keys(scheme.Scheme.AllKnownTypes()), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	}) {
		r := collections[gvk.GroupKind()]
		if r == nil || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		for encoding, value := range encoded(t, gvk, r) {
			key := "/registry/" + r.Collection + "/a"
			if r.Namespaced {
				key = "/registry/" + r.Collection + "/default/a"
			}
			o, why := in.decode(r.Collection, snapshot.Record{Key: key, Value: value, Revision: 7})
			if got := EncodingOf(value); got != encoding {
				t.Fatalf("%s: %s is taken for %s", gvk, encoding, got)
			}
			if strings.Contains(why, resources.VersionError(gvk).Error()) {
				old++
				continue
			}
			if why != "" {
				t.Errorf("%s in %s: %s", gvk, encoding, why)
				continue
			}
			read++
			checkRead(t, gvk, encoding, o)
		}
	}
	if read < 200 || old < 100 {
		t.Errorf("%d values were read, %d have versions that are not", read, old)
	}
}

// encoded are an object's values in each encoding, by upstream's serializers.
func encoded(t *testing.T, gvk schema.GroupVersionKind, r *resources.Resource) map[Encoding][]byte {
	t.Helper()
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	objecttest.Fill(int64(len(gvk.String())), obj)
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	m := obj.(metav1.Object)
	m.SetName("a")
	m.SetNamespace("")
	m.SetLabels(map[string]string{"kind": gvk.Kind})
	if r.Namespaced {
		m.SetNamespace("default")
	}
	values := map[Encoding][]byte{}
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &b); err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	values[Protobuf] = slices.Clone(b.Bytes())
	if values[JSON], err = json.Marshal(obj); err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	b.Reset()
	if err := cbor.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &b); err != nil {
		t.Fatalf("%s: %v", gvk, err)
	}
	values[CBOR] = b.Bytes()
	return values
}

// checkRead compares metadata.
func checkRead(t *testing.T, gvk schema.GroupVersionKind, encoding Encoding, o *storage.Object) {
	t.Helper()
	want := fmt.Sprint("a ", map[string]string{"kind": gvk.Kind}, " ", gvk.Kind)
	if got := fmt.Sprint(o.Meta.Name, " ", o.Meta.Labels, " ", o.Meta.Kind); got != want {
		t.Errorf("%s in %s is %s, want %s", gvk, encoding, got, want)
	}
	if !bytes.Contains(o.JSON, []byte(`"resourceVersion":"7"`)) {
		t.Errorf("%s in %s has no revision: %s", gvk, encoding, o.JSON)
	}
}
