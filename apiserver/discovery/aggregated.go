package discovery

import (
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// aggregate returns a group with all its versions and their resources.
func aggregate(
	g resources.Group, versions map[schema.GroupVersion][]*resources.Resource, others []Other,
) apidiscoveryv2.APIGroupDiscovery {
	out := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
	for _, name := range g.Versions {
		gv := schema.GroupVersion{Group: g.Name, Version: name}
		if i := slices.IndexFunc(others, func(o Other) bool { return o.groupVersion() == gv }); i >= 0 {
			out.Versions = append(out.Versions, others[i].APIVersionDiscovery)
			continue
		}
		v := apidiscoveryv2.APIVersionDiscovery{Version: name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
		for _, r := range versions[gv] {
			v.Resources = append(v.Resources, aggregateResource(r))
		}
		out.Versions = append(out.Versions, v)
	}
	return out
}

func aggregateResource(r *resources.Resource) apidiscoveryv2.APIResourceDiscovery {
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource: r.Plural, SingularResource: r.Singular, ResponseKind: responseKind(r, schema.GroupVersionKind{}),
		Scope: apidiscoveryv2.ScopeCluster, Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories}
	if r.Namespaced {
		out.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, s := range r.Subresources {
		out.Subresources = append(out.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: s.Name, ResponseKind: responseKind(r, s.Kind), Verbs: s.Verbs})
	}
	return out
}

// responseKind returns the kind of a response. It omits the group version if that is the resource's own, but not for
// custom resources (AS endpoints/installer.go:ConvertGroupVersionIntoToDiscovery, AX
// apiserver/customresource_discovery_controller.go:sync).
func responseKind(r *resources.Resource, kind schema.GroupVersionKind) *metav1.GroupVersionKind {
	if kind.Empty() {
		kind = r.GroupVersionKind()
	}
	if !r.Custom && !foreign(r, kind) {
		return &metav1.GroupVersionKind{Kind: kind.Kind}
	}
	return &metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
}
