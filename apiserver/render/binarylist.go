package render

import (
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// The fields of every list in protobuf.
const listMetadata, listItem = 1, 2

// binaryList reports whether a list is sent in protobuf and its items can be encoded one by one.
func (x *Rendering) binaryList() bool {
	return x.Format.Media == codec.MediaProtobuf && (x.Format.As == "" || x.Format.As == "PartialObjectMetadataList")
}

// mostEncoded is how many bytes of a list are kept from when its length is found until they are written. Clients that
// list many objects at once, and read slowly, would hold as many copies of all. What is longer is encoded twice, except
// for objects that keep their encoding.
const mostEncoded = 1 << 20

// protobufList encodes objects one by one, so that at most one is decoded at a time. The list has the same bytes as
// runtime.Encode makes. Objects that can't be decoded are omitted. If compressed is set, fragments that were compressed
// before are not encoded.
func (x *Rendering) protobufList(objs []*storage.Object, m metav1.ListMeta, compressed bool) (*List, error) {
	head, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	l := &List{rendering: x, objs: objs, runs: x.cut(objs, compressed)}
	size := fieldSize(listMetadata, head)
	for i := range l.runs {
		n, err := l.runs[i].encode(x)
		if err != nil {
			return nil, err
		}
		if size += n; size > mostEncoded && l.runs[i].items != nil {
			l.runs[i].items, l.runs[i].anew = nil, true
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

// encode encodes the objects of a run that is not compressed yet, and returns the length of all fields.
func (r *run) encode(x *Rendering) (size int, err error) {
	if r.fragment != nil {
		return int(r.fragment.Size()), nil
	}
	r.items = make([][]byte, 0, len(r.objs))
	for _, o := range r.objs {
		data, err := x.binaryItem(o)
		if errors.Is(err, storage.ErrCorrupt) {
			x.Skip(o, err)
			r.shared = false
			continue
		}
		if err != nil {
			return 0, err
		}
		r.items = append(r.items, data)
		size += fieldSize(listItem, data)
	}
	return size, nil
}

// writeAnew writes objects that were encoded before, when the same ones could not be decoded.
func (x *Rendering) writeAnew(w io.Writer, objs []*storage.Object) error {
	var tag []byte
	for _, o := range objs {
		data, err := x.binaryItem(o)
		if errors.Is(err, storage.ErrCorrupt) {
			continue
		}
		if err != nil {
			return err
		}
		tag = appendHead(tag[:0], listItem, len(data))
		if _, err := w.Write(tag); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// envelope is the framing before and after a list of so many bytes (AM pkg/runtime/serializer/protobuf: doEncode).
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
