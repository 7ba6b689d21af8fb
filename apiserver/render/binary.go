package render

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// Numbers of protobuf fields: those of runtime.Unknown, which contains every object; those of a watch event; that of
// the RawExtension in the event.
const (
	typeField, rawField, encodingField, contentField = 1, 2, 3, 4
	eventTypeField, eventObjectField, extensionField = 1, 2, 1
)

// cachesEncoding reports whether encodings are cached: they are if they are protobuf of the stored version.
func (x *Rendering) cachesEncoding() bool {
	return x.Cache != nil && x.Format.Media == codec.MediaProtobuf && x.Format.As == "" && x.Resource.FromStored == nil &&
		!x.Resource.Custom
}

// binaryItem returns an object, or its unconverted metadata, in protobuf as an item of a list: without its kind.
func (x *Rendering) binaryItem(o *storage.Object) ([]byte, error) {
	form := codec.MediaProtobuf
	switch {
	case x.Cache != nil && x.MetadataOnly():
		form += ";metadata"
	case !x.cachesEncoding():
		return x.makeItem(o)
	}
	return x.Cache.Encoded(o, form, func() ([]byte, error) { return x.makeItem(o) })
}

// makeItem is binaryItem without the cache.
func (x *Rendering) makeItem(o *storage.Object) ([]byte, error) {
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

// binaryObject returns the bytes that runtime.Encode returns for an object, but makes them from the cached encoding.
func (x *Rendering) binaryObject(o *storage.Object) ([]byte, error) {
	meta, item, err := x.binaryParts(o)
	if err != nil {
		return nil, err
	}
	return appendUnknown(make([]byte, 0, unknownSize(meta, item)), meta, item), nil
}

// binaryParts returns the kind and the encoding of an object.
func (x *Rendering) binaryParts(o *storage.Object) (meta, item []byte, err error) {
	if item, err = x.binaryItem(o); err != nil {
		return nil, nil, err
	}
	kind := runtime.TypeMeta{APIVersion: o.Meta.APIVersion, Kind: o.Meta.Kind}
	meta, err = kind.Marshal()
	return meta, item, err
}

// unknownSize returns the number of bytes that appendUnknown appends.
func unknownSize(meta, item []byte) int {
	return len(codec.ProtobufPrefix) + fieldSize(typeField, meta) + fieldSize(rawField, item) +
		fieldSize(encodingField, nil) + fieldSize(contentField, nil)
}

// appendUnknown appends an object with Kubernetes' framing (AM pkg/runtime/serializer/protobuf: doEncode).
func appendUnknown(to, meta, item []byte) []byte {
	to = appendField(append(to, codec.ProtobufPrefix...), typeField, meta)
	return appendField(appendField(appendField(to, rawField, item), encodingField, nil), contentField, nil)
}

// Event encodes a watch event with an object.
func (x *Rendering) Event(typ string, o *storage.Object) ([]byte, error) {
	if !x.cachesEncoding() {
		object, err := x.Object(o)
		if err != nil {
			return nil, err
		}
		return x.Frame(typ, object)
	}
	meta, item, err := x.binaryParts(o)
	if err != nil {
		return nil, err
	}
	raw := unknownSize(meta, item)
	extension := protowire.SizeTag(extensionField) + protowire.SizeBytes(raw)
	size := protowire.SizeTag(eventTypeField) + protowire.SizeBytes(len(typ)) +
		protowire.SizeTag(eventObjectField) + protowire.SizeBytes(extension)
	out := binary.BigEndian.AppendUint32(make([]byte, 0, FrameLength+size), uint32(size))
	out = protowire.AppendString(protowire.AppendTag(out, eventTypeField, protowire.BytesType), typ)
	out = appendHead(appendHead(out, eventObjectField, extension), extensionField, raw)
	return appendUnknown(out, meta, item), nil
}

// appendHead appends the tag and the length of a field.
func appendHead(to []byte, n protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.BytesType), uint64(size))
}

func appendField(to []byte, n protowire.Number, data []byte) []byte {
	return append(appendHead(to, n, len(data)), data...)
}

// fieldSize returns the number of bytes that appendField appends.
func fieldSize(n protowire.Number, data []byte) int {
	return protowire.SizeTag(n) + protowire.SizeBytes(len(data))
}
