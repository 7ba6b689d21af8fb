package render

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// Fields of every list in protobuf.
const listMetadata, listItem = 1, 2

// binaryList reports whether a list is sent in protobuf and its items can be encoded one by one.
func (x *Rendering) binaryList() bool {
	return x.Format.Media == codec.MediaProtobuf && (x.Format.As == "" || x.Format.As == "PartialObjectMetadataList")
}

// maxEncoded limits the bytes of a list that stay in memory between the computation of its length and the writing.
// Without it, clients that list many objects and read slowly would hold many copies. The rest of a list is encoded
// twice, except for objects whose encoding is cached.
const maxEncoded = 1 << 20

// protobufList encodes objects one by one, so that at most one is decoded at a time. The list has the same bytes as
// runtime.Encode returns. Objects that can't be decoded are omitted.
func (x *Rendering) protobufList(objs []*storage.Object, m metav1.ListMeta) (*List, error) {
	head, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	l := &List{objs: objs, encode: x.binaryItem, tagged: true}
	size := fieldSize(listMetadata, head)
	for i, o := range objs {
		data, err := x.binaryItem(o)
		if errors.Is(err, storage.ErrCorrupt) {
			x.Skip(o, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if size += fieldSize(listItem, data); size <= maxEncoded {
			l.items, l.objs = append(l.items, data), objs[i+1:]
		}
	}
	before, after, err := x.envelope(size)
	if err != nil {
		return nil, err
	}
	l.head, l.tail = appendField(before, listMetadata, head), after
	l.size = len(l.head) + size - fieldSize(listMetadata, head) + len(l.tail)
	return l, nil
}

// envelope returns the framing before and after a list of size bytes (AM pkg/runtime/serializer/protobuf: doEncode).
func (x *Rendering) envelope(size int) (before, after []byte, err error) {
	list := runtime.TypeMeta{APIVersion: x.Resource.GroupVersion().String(), Kind: x.Resource.Kind + "List"}
	if x.Format.As != "" {
		meta := x.metaType(x.Format.As)
		list = runtime.TypeMeta{APIVersion: meta.APIVersion, Kind: meta.Kind}
	}
	typeMeta, err := list.Marshal()
	if err != nil {
		return nil, nil, err
	}
	before = appendField([]byte(string(codec.ProtobufPrefix)), typeField, typeMeta)
	before = protowire.AppendVarint(protowire.AppendTag(before, rawField, protowire.BytesType), uint64(size))
	return before, appendField(appendField(nil, encodingField, nil), contentField, nil), nil
}
