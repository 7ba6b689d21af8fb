package resources

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/storage"
)

// Transcode turns kube-apiserver's protobuf storage format into its JSON storage format, for the
// kinds that have a Go type here.
func Transcode(value []byte) ([]byte, error) {
	obj, gvk, err := protobuf.NewSerializer(Scheme(), Scheme()).Decode(value, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// SelectableFields are the paths of a collection's selectable fields (storage.Decoder). Those of custom
// resources may change and differ from version to version, so they are read when they are asked for.
func (t *Types) SelectableFields(collection string) []storage.FieldPath {
	if r := t.Collection(collection); r != nil && !r.Custom {
		return r.Fields
	}
	return nil
}
