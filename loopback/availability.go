package loopback

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/storage"
)

// Available implements apiservice.API. A local group version is available. For a service it makes upstream's checks,
// up to the request that this server can't make (KA pkg/controllers/status/remote:sync).
func (r *APIServices) Available(s *apiregistrationv1.APIService) apiregistrationv1.APIServiceCondition {
	c := apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue,
		Reason: "Local", Message: "Local APIServices are always available"}
	if ref := s.Spec.Service; ref != nil {
		c.Status = apiregistrationv1.ConditionFalse
		if c.Reason, c.Message = r.missing(ref); c.Reason == "" {
			c.Reason, c.Message = "FailedDiscoveryCheck", fmt.Sprintf("failing or missing response from https://%s.%s.svc:%d/apis/%s/%s: %s",
				ref.Name, ref.Namespace, portOf(ref), s.Spec.Group, s.Spec.Version, apiserver.NoNetwork)
		}
	}
	return c
}

func portOf(ref *apiregistrationv1.ServiceReference) int32 {
	if ref.Port == nil {
		return 443
	}
	return *ref.Port
}

// missing says what a service lacks; an empty reason means nothing.
func (r *APIServices) missing(ref *apiregistrationv1.ServiceReference) (reason, message string) {
	name := fmt.Sprintf("service/%s in %q", ref.Name, ref.Namespace)
	o, _ := r.Cache.Get(r.API.Key(r.API.Types().Lookup("", "v1", "services"), ref.Namespace, ref.Name))
	var svc corev1.Service
	if o == nil || json.Unmarshal(o.JSON, &svc) != nil {
		return "ServiceNotFound", name + " is not present"
	}
	if svc.Spec.Type != corev1.ServiceTypeClusterIP {
		return "", ""
	}
	i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == portOf(ref) })
	if i < 0 {
		return "ServicePortError", fmt.Sprintf("%s is not listening on port %d", name, portOf(ref))
	}
	found, ready := r.endpoints(ref, svc.Spec.Ports[i].Name)
	switch {
	case found == 0:
		return "EndpointsNotFound", "cannot find endpointslices for " + name
	case !ready:
		return "MissingEndpoints", fmt.Sprintf(
			"endpointslices for %s have no addresses with port name %q", name, svc.Spec.Ports[i].Name,
		)
	}
	return "", ""
}

// endpoints counts a service's slices; ready says that one of them has an address with the port.
func (r *APIServices) endpoints(ref *apiregistrationv1.ServiceReference, port string) (n int, ready bool) {
	snap, err := r.Cache.Snapshot(endpointSlice, 0)
	if err != nil {
		return 0, false
	}
	within := r.API.Key(r.API.Types().Lookup(discoveryv1.GroupName, "v1", "endpointslices"), ref.Namespace, "")
	snap.Ascend(within, "", func(o *storage.Object) bool {
		var e discoveryv1.EndpointSlice
		if o.Meta.Labels[discoveryv1.LabelServiceName] == ref.Name && json.Unmarshal(o.JSON, &e) == nil {
			n++
			ready = ready || answers(&e, port)
		}
		return true
	})
	return n, ready
}

func answers(e *discoveryv1.EndpointSlice, port string) bool {
	return slices.ContainsFunc(e.Endpoints, func(e discoveryv1.Endpoint) bool {
		return e.Conditions.Ready == nil || *e.Conditions.Ready
	}) &&
		slices.ContainsFunc(e.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name != nil && *p.Name == port && p.Port != nil
		})
}
