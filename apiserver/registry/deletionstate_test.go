package registry

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// builtinTypes is the table of the built-in types.
var builtinTypes = resources.NewTable(resources.Builtin()...)

// TestDeletionStateTwin: the state that is read from an object's metadata equals the one that is read from the decoded
// object.
func TestDeletionStateTwin(t *testing.T) {
	from := int64(seed.Of(t))
	byMetadata := 0
	for i, res := range builtinTypes.All() {
		if res.Collection == "" {
			continue
		}
		fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(from+
			int64(i)), serializer.NewCodecFactory(resources.Scheme())).NilChance(.3).NumElements(0, 3).MaxDepth(9)
		d := storage.Decoder{
			Root: storage.DefaultRoot, Fields: builtinTypes.SelectableFields, Upgrade: resources.Upgrade,
		}
		for revision := range int64(4) {
			revision += 2
			obj := res.New().(Object)
			fill.Fill(obj)
			obj.SetManagedFields(nil)
			obj.SetResourceVersion("")
			value, err := codec.EncodeStored(res, obj)
			if err != nil {
				t.Fatal(err)
			}
			cur := d.Decode(storage.Record{
				Key: fmt.Sprintf("%s/%s/x/%d", storage.DefaultRoot, res.Collection, revision), Value: value, ModRevision: revision,
			})
			want, wantKind, old, err := deletionState(res, cur)
			if err != nil || old == nil {
				t.Fatalf("%s: a value that is not known to be readable has to be decoded: %v", value, err)
			}
			cur = d.Decode(storage.Record{Key: cur.Key, Value: value, ModRevision: revision}) // not decoded yet
			cur.SetVerified(res.Verified)
			got, gotKind, old, err := deletionState(res, cur)
			if err != nil {
				t.Fatal(err)
			}
			if old == nil {
				byMetadata++
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s (-object +metadata):\n%s", value, d)
			}
			if d := cmp.Diff(wantKind, gotKind); d != "" {
				t.Fatalf("%s (-object +metadata):\n%s", value, d)
			}
		}
	}
	if byMetadata < 50 {
		t.Errorf("only the state of %d objects was read from the metadata", byMetadata)
	}
}
