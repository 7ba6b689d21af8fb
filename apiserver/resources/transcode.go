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

// cborTag is the prefix of values in CBOR (AM pkg/runtime/serializer/cbor/cbor.go: selfDescribedCBOR).
var cborTag = []byte("\xd9\xd9\xf7")

// Transcode converts a value in kube-apiserver's storage formats protobuf or CBOR to its JSON storage format. Protobuf
// is supported for kinds with a Go type here, CBOR for any kind.
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

// VersionError returns the error for a stored object of a version that this server does not read.
func VersionError(gvk schema.GroupVersionKind) error {
	return fmt.Errorf("%s of %s is neither served nor a version that Kubernetes v1.30 or later has stored",
		gvk.Kind, gvk.GroupVersion())
}

// maxNesting is the maximum depth of a value in protobuf. The decoders recurse, and a stack overflow ends the process.
// Only schemas of CustomResourceDefinitions can be nested so deeply. JSON and CBOR have their own limits.
const maxNesting = 1000

// nesting returns the depth of nested messages in the value, at most most. The value's type isn't known yet, so each
// field that could be a message counts as one.
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
