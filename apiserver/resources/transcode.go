package resources

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/storage"
)

// Transcode converts kube-apiserver's protobuf storage format to its JSON storage format, for kinds with a Go type
// here.
func Transcode(value []byte) ([]byte, error) {
	obj, gvk, err := protobuf.NewSerializer(Scheme(), Scheme()).Decode(value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// SelectableFields are the paths of a collection's selectable fields (storage.Decoder). Those of custom resources may
// change and differ between versions, so they are read when they are needed.
func (t *Types) SelectableFields(collection string) []storage.FieldPath {
	if r := t.Collection(collection); r != nil && !r.Custom {
		return r.Fields
	}
	return nil
}
