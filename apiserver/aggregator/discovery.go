package aggregator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type resources = []v2.APIResourceDiscovery

// Version is a group version of another server, with its priorities. While its resources can't be read, it is stale and
// has none.
type Version struct {
	Group                          string
	GroupPriority, VersionPriority int32
	v2.APIVersionDiscovery
}

// Versions returns the group versions of other servers (KA pkg/apiserver/handler_discovery.go: syncAPIService).
func (a *Aggregator) Versions() []Version {
	return each(a.all(), func(s *Service) Version {
		v := Version{
			Group: s.Spec.Group, GroupPriority: s.Spec.GroupPriorityMinimum, VersionPriority: s.Spec.VersionPriority,
			APIVersionDiscovery: v2.APIVersionDiscovery{Version: s.Spec.Version, Freshness: v2.DiscoveryFreshnessStale},
		}
		found, err := s.discovery.get(a, patience, func(ctx context.Context) (resources, error) {
			return a.discover(ctx, s)
		})
		if err == nil {
			v.Resources, v.Freshness = found, v2.DiscoveryFreshnessCurrent
		}
		return v
	})
}

// Resources returns the resources of other servers, those of a group's most important version first, and the versions
// whose resources are unknown.
func (a *Aggregator) Resources() (all []metav1.APIResource, stale []schema.GroupVersion) {
	versions := a.Versions()
	slices.SortStableFunc(versions, func(a, b Version) int { return cmp.Compare(b.VersionPriority, a.VersionPriority) })
	for _, v := range versions {
		if v.Freshness == v2.DiscoveryFreshnessStale {
			stale = append(stale, schema.GroupVersion{Group: v.Group, Version: v.Version})
		}
		for _, r := range v.Resources {
			out := metav1.APIResource{Group: v.Group, Version: v.Version, Name: r.Resource, Verbs: r.Verbs,
				Namespaced: r.Scope == v2.ScopeNamespace}
			if r.ResponseKind != nil {
				out.Kind = r.ResponseKind.Kind
			}
			all = append(all, out)
		}
	}
	return all, stale
}

// each calls f for all services concurrently, and returns the results in their order.
func each[T any](all []*Service, f func(*Service) T) []T {
	out := make([]T, len(all))
	var calls sync.WaitGroup
	for i, s := range all {
		calls.Go(func() { out[i] = f(s) })
	}
	calls.Wait()
	return out
}

// discover reads the resources of the group version from the aggregated document or, if the server has none, from the
// document of the version (handler_discovery.go: fetchFreshDiscoveryForService). A version that is not in the
// aggregated document has no resources.
func (a *Aggregator) discover(ctx context.Context, s *Service) (resources, error) {
	const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	got, err := a.get(ctx, s, "/apis", accept)
	if err != nil {
		return nil, err
	}
	_, p, _ := mime.ParseMediaType(got.mediaType) // a wrong type is another type
	switch {
	case got.code == http.StatusServiceUnavailable:
		return nil, fmt.Errorf("/apis of %s has the status code %d", s.Name, got.code)
	case got.code == http.StatusOK && p["g"] == v2.GroupName && p["v"] == "v2" && p["as"] == "APIGroupDiscoveryList":
		var list v2.APIGroupDiscoveryList
		if err := json.Unmarshal(got.body, &list); err != nil {
			return nil, fmt.Errorf("decoding the aggregated discovery of %s: %w", s.Name, err)
		}
		for _, g := range list.Items {
			for _, v := range g.Versions {
				if g.Name == s.Spec.Group && v.Version == s.Spec.Version {
					return v.Resources, nil
				}
			}
		}
		return nil, nil
	}
	data, err := a.document(ctx, s, s.root())
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decoding the discovery of %s: %w", s.Name, err)
	}
	return listed(list.APIResources), nil
}

// listed converts a document that is not aggregated (AS pkg/endpoints/installer.go:
// ConvertGroupVersionIntoToDiscovery).
func listed(all []metav1.APIResource) (out resources) {
	at := map[string]int{}
	for _, r := range all {
		if strings.Contains(r.Name, "/") {
			continue
		}
		at[r.Name] = len(out)
		d := v2.APIResourceDiscovery{
			Resource: r.Name, SingularResource: r.SingularName, Scope: v2.ScopeCluster, Verbs: r.Verbs,
			ShortNames: r.ShortNames, Categories: r.Categories, ResponseKind: kindOf(r),
		}
		if r.Namespaced {
			d.Scope = v2.ScopeNamespace
		}
		out = append(out, d)
	}
	for _, r := range all {
		name, sub, _ := strings.Cut(r.Name, "/")
		if i, ok := at[name]; ok && sub != "" {
			out[i].Subresources = append(out[i].Subresources, v2.APISubresourceDiscovery{
				Subresource: sub, ResponseKind: kindOf(r), Verbs: r.Verbs})
		}
	}
	return out
}

func kindOf(r metav1.APIResource) *metav1.GroupVersionKind {
	return &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}
