package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// ServiceAddress returns the host and port at which the server reaches a port of a Service. It reads the newest state.
func (d *Data) ServiceAddress(ctx context.Context, namespace, name string, port int32) (string, error) {
	rev, err := d.Store.Revision(ctx)
	if err == nil {
		err = d.Cache.Wait(ctx, rev)
	}
	if err != nil {
		return "", fmt.Errorf("looking up service %q: %w", name, err)
	}
	services := d.Types.Lookup("", "v1", "services")
	o, _ := d.Cache.Get(d.Root + "/" + services.Collection + "/" + namespace + "/" + name)
	if o == nil {
		return "", apierrors.NewNotFound(corev1.Resource("service"), name)
	}
	var s corev1.Service
	if err := readCached(o, &s); err != nil {
		return "", fmt.Errorf("reading service %q: %w", name, err)
	}
	all, err := d.endpointSlices(namespace, name)
	if err != nil {
		return "", err
	}
	return serviceAddress(&s, all, port)
}

// endpointSlices returns the EndpointSlices of a Service, by name. It omits those that can't be decoded.
func (d *Data) endpointSlices(namespace, name string) (out []*discoveryv1.EndpointSlice, err error) {
	res := d.Types.Lookup(discoveryv1.GroupName, "v1", "endpointslices")
	snap, err := d.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return nil, err
	}
	for o := range snap.Ascend(d.Root+"/"+res.Collection+"/"+namespace+"/", "") {
		if o.Meta.Labels[discoveryv1.LabelServiceName] != name {
			continue
		}
		e := &discoveryv1.EndpointSlice{}
		if readCached(o, e) == nil {
			out = append(out, e)
		}
	}
	return out, nil
}

// readCached decodes a cached object.
func readCached(o *storage.Object, into any) error {
	if o.Err != nil {
		return o.Err
	}
	return json.Unmarshal(o.JSON, into)
}

// serviceAddress returns the host and port at which the server reaches a port of a Service (AS pkg/util/proxy/proxy.go:
// ResolveEndpoint, ResolveCluster).
func serviceAddress(s *corev1.Service, all []*discoveryv1.EndpointSlice, port int32) (string, error) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return joinPort(s.Spec.ExternalName, port), nil
	}
	i := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "", fmt.Errorf("no service port %d found for service %q", port, s.Name)
	}
	if ip, err := netip.ParseAddr(s.Spec.ClusterIP); err == nil && ip.IsLoopback() {
		return joinPort(s.Spec.ClusterIP, port), nil
	}
	if ready := entry.ReadyEndpoints(s, all, s.Spec.Ports[i].Name); len(ready) > 0 {
		return joinPort(ready[0].Addresses[0], ready[0].Port), nil // upstream uses only the first address
	}
	return "", fmt.Errorf("no endpoints available for service %q: %w", s.Name, errNoNetwork)
}

// errNoNetwork is the error for a Service without a reachable address.
var errNoNetwork = errors.New("this server has no cluster network and reaches only addresses in EndpointSlices")

func joinPort(host string, port int32) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
