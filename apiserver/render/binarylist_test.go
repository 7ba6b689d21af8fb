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

// TestBinaryList: a protobuf list that is encoded item by item has the same bytes as the library's encoding of the
// whole list, in its stored version, in a converted one, and for metadata only. Unreadable objects are omitted.
func TestBinaryList(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: types.SelectableFields}
	remain := int64(300)
	for _, c := range []struct{ group, version, plural, kind, apiVersion, rest string }{
		{"", "v1", "configmaps", "ConfigMap", "v1", `"data":{"k":"v"}`},
		{
			"", "v1", "pods", "Pod", "v1",
			`"spec":{"containers":[{"name":"a","image":"b","resources":{"limits":{"cpu":"1"}}}]},"status":{"startTime":"2024-05-01T10:00:00Z"}`,
		},
		{
			"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v2",
			`"spec":{"scaleTargetRef":{"kind":"D","name":"d"},"maxReplicas":3}`,
		},
	} {
		res := types.Lookup(c.group, c.version, c.plural)
		for _, n := range []int{0, 1, 300} {
			var objs []*storage.Object
			for i := range n {
				objs = append(objs, d.Decode(storage.Record{Key: fmt.Sprintf("/registry/%s/default/%d", res.Collection, i),
					ModRevision: int64(i + 1), Value: fmt.Appendf(nil,
						`{"kind":%q,"apiVersion":%q,"metadata":{"name":"n%d","namespace":"default","labels":{"a":"b"},"creationTimestamp":"2024-05-01T10:00:00Z"},%s}`, c.kind, c.apiVersion, i, c.rest)}))
			}
			for _, as := range []string{"", "PartialObjectMetadataList"} {
				for _, m := range []metav1.ListMeta{
					{ResourceVersion: "7"}, {ResourceVersion: "7", Continue: "x", RemainingItemCount: &remain},
				} {
					skipped := 0
					x := &Rendering{
						Resource: res, Format: Format{Media: codec.MediaProtobuf, As: as, Version: "v1"}, Now: time.Now(),
						Skip: func(*storage.Object, error) { skipped++ },
					}
					whole, err := x.ListObject(objs, m)
					if err != nil {
						t.Fatal(err)
					}
					want, err := x.Encode(whole)
					if err != nil {
						t.Fatal(err)
					}
					broken := &storage.Object{Key: "broken", JSON: []byte(`{"metadata":{"name":0}}`)}
					list, err := x.protobufList(append(objs[:n:n], broken), m)
					if err != nil {
						t.Fatal(err)
					}
					var got bytes.Buffer
					if err := list.Write(&got); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got.Bytes(), want) || skipped != 1 {
						t.Errorf(
							"%d %s %s: %d bytes, %d skipped; want %d\n%.300q\n%.300q", n, c.plural, as, got.Len(), skipped, len(want),
							got.Bytes(), want)
					}
				}
			}
		}
	}
}

// TestLongBinaryList: only a part of a long list is in memory until it is written, and the bytes are the same.
func TestLongBinaryList(t *testing.T) {
	types := resources.NewTable(resources.Every(nil)...)
	d := storage.Decoder{Root: storage.DefaultRoot, Fields: types.SelectableFields}
	var objs []*storage.Object
	for i := range 3 * maxEncoded / (64 << 10) {
		objs = append(objs, d.Decode(storage.Record{Key: fmt.Sprintf("/registry/configmaps/default/%d", i),
			ModRevision: int64(i + 1), Value: fmt.Appendf(nil,
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n%d","namespace":"default"},"data":{"k":"%s"}}`,
				i, bytes.Repeat([]byte{'x'}, 64<<10))}))
	}
	skipped := 0
	x := &Rendering{
		Resource: types.Lookup("", "v1", "configmaps"), Format: Format{Media: codec.MediaProtobuf},
		Skip: func(*storage.Object, error) { skipped++ },
	}
	whole, err := x.ListObject(objs, metav1.ListMeta{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := x.Encode(whole)
	if err != nil {
		t.Fatal(err)
	}
	broken := &storage.Object{Key: "broken", JSON: []byte(`{"metadata":{"name":0}}`)}
	list, err := x.protobufList(append(objs[:len(objs):len(objs)], broken), metav1.ListMeta{})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := list.Write(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) || list.Size() != len(want) {
		t.Errorf("%d bytes, size %d; want %d", got.Len(), list.Size(), len(want))
	}
	if skipped != 1 {
		t.Errorf("%d are skipped", skipped)
	}
}
