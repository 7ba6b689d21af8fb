package resources

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		if r.Collection == "" || r.Custom || r.ToStored != nil {
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
