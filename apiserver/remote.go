package apiserver

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// NoNetwork is why this server can't ask another one by the service that an APIService names.
const NoNetwork = "this server has no cluster network, and passes no requests on to other servers"

// missing is the answer for a group version that isn't served: if an APIService says that another server has
// it, that it can't be asked (KA pkg/apiserver/handler_proxy.go has no Status for it), else otherwise.
func (s *Server) missing(group, version string, otherwise error) error {
	name := version + "." + group
	o, _ := s.registry.Cache.Get(s.registry.Root + "/" + apiregistrationv1.GroupName + "/apiservices/" + name)
	if o == nil || version == "" {
		return otherwise
	}
	var a apiregistrationv1.APIService
	if json.Unmarshal(o.JSON, &a) != nil || a.Spec.Service == nil {
		return otherwise
	}
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the APIService %s names service/%s in %q: %s", name, a.Spec.Service.Name, a.Spec.Service.Namespace, NoNetwork))
}
