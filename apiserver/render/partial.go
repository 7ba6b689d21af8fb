package render

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// partial reports whether metadata is sent alone and as it is stored. Stored metadata of custom resources has its
// members in another order than PartialObjectMetadata.
func (x *Rendering) partial(form string) bool {
	return x.Format.As == form && x.Format.Media == codec.MediaJSON && !x.Resource.Custom
}

// cutMetadata is the stored metadata of an object; nil if it has none.
func cutMetadata(o *storage.Object) []byte {
	if metadata := o.Metadata(); len(metadata) > 0 && metadata[0] == '{' {
		return metadata
	}
	return nil
}

// partialHead is the JSON before an object's metadata.
func (x *Rendering) partialHead() []byte {
	return fmt.Appendf(nil, `{"kind":"PartialObjectMetadata","apiVersion":%q,"metadata":`, x.metaType("").APIVersion)
}

// partialObject is the metadata of an object alone; nil if the object has to be decoded for that.
func (x *Rendering) partialObject(o *storage.Object) []byte {
	metadata := cutMetadata(o)
	if metadata == nil {
		return nil
	}
	return append(append(x.partialHead(), metadata...), '}')
}

// partialList is the metadata of all objects; nil if an object has to be decoded for that.
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
