package registry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// ToStored converts an object of the served version to the one that the pipe works on, which is the stored
// one but for Direct kinds, and fills in defaults.
func (o *Operation) ToStored(obj runtime.Object) (Object, error) {
	if o.Resource.Direct {
		if d := o.Resource.Strategy.Default; d != nil {
			d(obj)
		}
		return obj.(Object), nil
	}
	if o.Resource.ToStored != nil {
		var err error
		if obj, err = o.Resource.ToStored(obj); err != nil {
			return nil, status.BadRequest("converting %s to its stored version: %v", o.Resource.Kind, err)
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(o.Resource.Stored)
	if d := o.Resource.Strategy.Default; d != nil {
		d(obj)
	}
	return obj.(Object), nil
}
