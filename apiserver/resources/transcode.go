package resources

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// cborTag begins values in CBOR (AM pkg/runtime/serializer/cbor/cbor.go: selfDescribedCBOR).
var cborTag = []byte("\xd9\xd9\xf7")

// Transcode converts kube-apiserver's storage formats protobuf, for kinds with a Go type here, and CBOR, for any kind,
// to its JSON storage format.
func Transcode(value []byte) ([]byte, error) {
	if bytes.HasPrefix(value, cborTag) {
		var object map[string]any
		if err := direct.Unmarshal(value, &object); err != nil {
			return nil, fmt.Errorf("decoding CBOR: %w", err)
		}
		return json.Marshal(object)
	}
	if nesting(value, maxNesting) >= maxNesting {
		return nil, fmt.Errorf("decoding protobuf: it is nested %d levels deep", maxNesting)
	}
	s := protobuf.NewSerializer(Scheme(), Scheme())
	obj, gvk, err := s.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) && gvk != nil {
		as, ok := decodedAs(*gvk)
		if !ok {
			return nil, VersionError(*gvk)
		}
		*gvk = as
		obj, err = decodeProtobuf(s, as, value)
	}
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// VersionError is the error for a stored object of a version that is not read.
func VersionError(gvk schema.GroupVersionKind) error {
	return fmt.Errorf("%s of %s is neither served nor a version that Kubernetes v1.30 or later has stored",
		gvk.Kind, gvk.GroupVersion())
}

// maxNesting is the depth from which on a value in protobuf is rejected: the decoders recurse, and a stack that
// overflows ends the process. Schemas of CustomResourceDefinitions alone can be nested so deep. JSON and CBOR have
// limits of their own.
const maxNesting = 1000

// nesting is how deep messages are nested in the value, at most most. What could be a message counts as one: the
// value's type isn't known yet.
func nesting(value []byte, most int) (depth int) {
	if most == 0 {
		return 0
	}
	value, _ = bytes.CutPrefix(value, []byte("k8s\x00"))
	for len(value) > 0 && depth < most {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return 0
		}
		value = value[n:]
		if kind == protowire.BytesType {
			part, n := protowire.ConsumeBytes(value)
			if n < 0 {
				return 0
			}
			depth = max(depth, 1+nesting(part, most-1))
			value = value[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return 0
		}
		value = value[n:]
	}
	return depth
}
