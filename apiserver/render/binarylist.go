package render

import (
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// binaryList reports whether a list is sent in protobuf and its items can be encoded one by one.
func (x *Rendering) binaryList() bool {
	return x.Format.Media == codec.MediaProtobuf && (x.Format.As == "" || x.Format.As == "PartialObjectMetadataList")
}

// ProtobufList decodes and encodes objects one by one, so that at most one is decoded at a time. The returned function
// writes the list: the same bytes as runtime.Encode. Objects that can't be decoded are omitted.
func (x *Rendering) ProtobufList(objs []*storage.Object, m metav1.ListMeta) (func(io.Writer) error, error) {
	items := make([][]byte, 0, len(objs)+1)
	head, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	const metadata, item = 1, 2 // the fields of every list
	size := fieldSize(metadata, head)
	for _, o := range objs {
		data, err := x.binaryItem(o)
		if errors.Is(err, storage.ErrCorrupt) {
			x.Skip(o, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, data)
		size += fieldSize(item, data)
	}
	before, after, err := x.envelope(size)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		if _, err := w.Write(appendField(before, metadata, head)); err != nil {
			return err
		}
		var tag []byte
		for _, data := range items {
			tag = protowire.AppendVarint(protowire.AppendTag(tag[:0], item, protowire.BytesType), uint64(len(data)))
			if _, err := w.Write(tag); err != nil {
				return err
			}
			if _, err := w.Write(data); err != nil {
				return err
			}
		}
		_, err := w.Write(after)
		return err
	}, nil
}

// binaryItem is an object as an item of a list.
func (x *Rendering) binaryItem(o *storage.Object) ([]byte, error) {
	var obj runtime.Object
	var err error
	if x.Format.As == "" {
		obj, err = x.served(o)
	} else {
		obj, err = x.metadata(o)
	}
	if err != nil {
		return nil, err
	}
	m, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	return m.Marshal()
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
	const typeField, rawField, encodingField, contentField = 1, 2, 3, 4
	before = appendField([]byte(string(codec.ProtobufPrefix)), typeField, typeMeta)
	before = protowire.AppendVarint(protowire.AppendTag(before, rawField, protowire.BytesType), uint64(size))
	return before, appendField(appendField(nil, encodingField, nil), contentField, nil), nil
}

func appendField(to []byte, n protowire.Number, data []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), data)
}

// fieldSize is the length of what appendField appends.
func fieldSize(n protowire.Number, data []byte) int {
	return protowire.SizeTag(n) + protowire.SizeBytes(len(data))
}
