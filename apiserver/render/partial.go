package render

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// partial reports whether a response has only metadata, and can contain the stored bytes of the metadata. Custom
// resources are excluded, because the members of their stored metadata have another order than PartialObjectMetadata.
func (x *Rendering) partial(form string) bool {
	return x.Format.As == form && x.Format.Media == codec.MediaJSON && !x.Resource.Custom
}

// cutMetadata returns the stored metadata of an object, or nil if it has none.
func cutMetadata(o *storage.Object) []byte {
	if metadata := o.Metadata(); len(metadata) > 0 && metadata[0] == '{' {
		return metadata
	}
	return nil
}

// partialHead returns the JSON before an object's metadata.
func (x *Rendering) partialHead() []byte {
	return fmt.Appendf(nil, `{"kind":"PartialObjectMetadata","apiVersion":%q,"metadata":`, x.metaType("").APIVersion)
}

// partialObject returns the metadata of an object, or nil if the object must be decoded for that.
func (x *Rendering) partialObject(o *storage.Object) []byte {
	metadata := cutMetadata(o)
	if metadata == nil {
		return nil
	}
	return append(append(x.partialHead(), metadata...), '}')
}

// partialList returns the metadata of all objects, or nil if an object must be decoded for that.
func (x *Rendering) partialList(objs []*storage.Object, m metav1.ListMeta) (*List, error) {
	meta, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	l := &List{first: x.partialHead(), tail: []byte("]}\n")}
	l.head = fmt.Appendf(nil, `{"kind":"PartialObjectMetadataList","apiVersion":%q,"metadata":%s,"items":[`,
		x.metaType("").APIVersion, meta)
	l.between = append([]byte("},"), l.first...)
	if len(objs) > 0 {
		l.tail = []byte("}]}\n")
	}
	for _, o := range objs {
		metadata := cutMetadata(o)
		if metadata == nil {
			return nil, nil
		}
		l.items = append(l.items, metadata)
	}
	return l, l.measure()
}
