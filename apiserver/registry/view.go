package registry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// serve converts a custom resource to the version of the entry.
func serve(res *resources.Resource, obj runtime.Object) (runtime.Object, error) {
	out, err := res.Serve([]runtime.Object{obj})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
