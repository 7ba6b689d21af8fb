package registry

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/codec"
)

// FromContent is the inverse.
func (o *Operation) FromContent(content map[string]any) (Object, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	if o.Resource.Custom {
		u := &unstructured.Unstructured{}
		return u, u.UnmarshalJSON(data)
	}
	obj, err := codec.DecodeStored(o.Resource, data)
	if err != nil {
		return nil, err
	}
	return obj.(Object), nil
}
