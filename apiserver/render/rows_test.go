package render

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// TestTablesByRowEqualWholeOnes: a Table that is encoded row by row equals one that is encoded as a whole. Unreadable
// objects are omitted.
func TestTablesByRowEqualWholeOnes(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: types.SelectableFields}
	res := types.Lookup("", "v1", "pods")
	remain := int64(300)
	for _, n := range []int{0, 1, 2, 200, 2000} {
		var objs []*storage.Object
		for i := range n {
			objs = append(objs, d.Decode(storage.Record{Key: fmt.Sprintf("/registry/pods/default/%d", i),
				ModRevision: int64(i + 1), Value: fmt.Appendf(nil,
					`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n%d","namespace":"default","annotations":{"a":"<&>"},`+
						`"creationTimestamp":"2024-05-01T10:00:00Z"},"spec":{"containers":[{"name":"a","image":"b"}]}}`, i)}))
		}
		for _, include := range []string{"", "None", "Object"} {
			for _, m := range []metav1.ListMeta{
				{ResourceVersion: "7"}, {ResourceVersion: "7", Continue: "x", RemainingItemCount: &remain},
			} {
				checkRows(t, res, objs, m, include)
			}
		}
	}
}

func checkRows(t *testing.T, res *resources.Resource, objs []*storage.Object, m metav1.ListMeta, include string) {
	t.Helper()
	skipped := 0
	x := &Rendering{
		Resource: res, Include: include, Format: Format{Media: codec.MediaJSON, As: "Table", Version: "v1"},
		Now: time.Now(), Skip: func(*storage.Object, error) { skipped++ },
	}
	want, err := x.List(objs, m)
	if err != nil {
		t.Fatal(err)
	}
	broken := &storage.Object{Key: "broken", JSON: []byte(`{"metadata":{"name":0}}`)}
	l, err := x.Stream(append(objs[:len(objs):len(objs)], broken), m)
	if err != nil {
		t.Fatal(err)
	}
	if l.Size() != len(want) {
		t.Errorf("size %d, want %d", l.Size(), len(want))
	}
	var got bytes.Buffer
	if err := l.Write(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d rows, %q: %v\n%.400s\n%.400s", len(objs), include, err, got.Bytes(), want)
	}
	if skipped == 0 {
		t.Error("nothing was skipped")
	}
}
