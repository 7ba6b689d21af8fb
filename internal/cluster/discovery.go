package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
)

// Resource is a resource with further facts from discovery.
type Resource struct {
	explain.Resource
	Singular   string
	ShortNames []string
	Listed     bool // it has the verb list
	Elsewhere  bool // an aggregated server has the objects (cached)
	// Version is the resourceVersion of the last list, after which a watch continues; empty without a list.
	Version string
	// Denied is the server's answer if the user may not list all objects, or if no user may (Read). DeniedWithin is its
	// answer if the user may not list those of Options.Namespace either.
	Denied, DeniedWithin error
	// Stored is the collection of its stored objects (Served); empty if they are not stored.
	Stored string
}

// path returns the path of the collection, of all namespaces if namespace is empty.
func (r *Resource) path(namespace string) string {
	p := "/apis/" + r.APIVersion()
	if r.Group == "" {
		p = "/api/" + r.APIVersion()
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + r.Plural
}

// Discovery has the resources that a server serves.
type Discovery struct {
	Resources   []*Resource
	Unavailable []explain.Unavailable // the group-versions whose resources the server could not list
}

// Add adds a resource, or a further version of it, in the order of discovery, and returns it. Subresources are no
// resources.
func (d *Discovery) Add(group, version string, r metav1.APIResource) *Resource {
	if strings.Contains(r.Name, "/") {
		return nil
	}
	if same := d.find(func(o *Resource) bool { return o.Group == group && o.Plural == r.Name }); same != nil {
		same.Versions = append(same.Versions, version)
		return same
	}
	has := func(verb string) bool { return slices.Contains(r.Verbs, verb) }
	added := &Resource{
		Resource: explain.Resource{
			Group: group, Versions: []string{version}, Kind: r.Kind, Plural: r.Name, Namespaced: r.Namespaced,
			Inert: !has("watch") || !has("delete"), Fixed: !has("delete"), // as garbagecollector.go: GetDeletableResources
			Delete: deletions()[schema.GroupResource{Group: group, Resource: r.Name}],
		},
		Singular: r.SingularName, ShortNames: r.ShortNames, Listed: has("list"),
	}
	d.Resources = append(d.Resources, added)
	return added
}

// Served returns the resources that a server with these types serves.
func Served(types *resources.Types) *Discovery {
	d := &Discovery{}
	for _, r := range types.All() {
		d.Add(r.Group, r.Version, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Kind: r.Kind, Verbs: r.Verbs, Namespaced: r.Namespaced,
			ShortNames: r.ShortNames,
		}).Stored = r.Collection
	}
	d.share()
	return d
}

// share joins resources with the same storage: the events of both groups are the same objects (J-36).
func (d *Discovery) share() {
	core, other := d.Named("events"), d.Named("events.events.k8s.io")
	if core != nil {
		core.Inert = true // D-08
	}
	if core != nil && other != nil {
		core.Aliases = other.APIVersions()
		d.Resources = slices.DeleteFunc(d.Resources, func(r *Resource) bool { return r == other })
	}
}

// Named returns the resource with this Name (deployments.apps); nil if there is none.
func (d *Discovery) Named(name string) *Resource {
	return d.find(func(r *Resource) bool { return r.Name() == name })
}

// Kind returns the resource with this apiVersion and kind; nil if there is none.
func (d *Discovery) Kind(apiVersion, kind string) *Resource {
	return d.find(func(r *Resource) bool { return r.Kind == kind && slices.Contains(r.APIVersions(), apiVersion) })
}

func (d *Discovery) find(is func(*Resource) bool) *Resource {
	if i := slices.IndexFunc(d.Resources, is); i >= 0 {
		return d.Resources[i]
	}
	return nil
}

// Resolve finds the resource that a user means, as kubectl does: deploy, deployment.apps, deployments.v1.apps. Of
// several groups the first in discovery's order is meant.
func (d *Discovery) Resolve(what string) (*Resource, error) {
	name, group, qualified := strings.Cut(strings.ToLower(what), ".")
	if r := d.find(func(r *Resource) bool {
		versioned := func(version string) bool { return group == version+"."+r.Group }
		names := append([]string{r.Plural, r.Singular, strings.ToLower(r.Kind)}, r.ShortNames...)
		return name != "" && slices.Contains(names, name) && // not each resource has a singular name
			(!qualified || group == r.Group || slices.ContainsFunc(r.Versions, versioned))
	}); r != nil {
		return r, nil
	}
	return nil, unserved("the server doesn't have a resource type %q", what)
}

// unserved returns a 404 that, unlike that of an object, has no name.
func unserved(format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: fmt.Sprintf(format, args...),
	}}
}

// deletions has the properties on which a DELETE depends, by group and resource, for the kinds that differ from the
// default. They are the same on all servers, as they are a part of the types.
var deletions = sync.OnceValue(func() map[schema.GroupResource]finalizers.Kind {
	all := map[schema.GroupResource]finalizers.Kind{}
	for _, r := range resources.Declared(time.Now, nil) {
		obj, err := resources.Scheme().New(r.GroupVersionKind())
		if err != nil { // it is not stored
			continue
		}
		k := r.Delete.For(obj)
		k.DefaultGraceSeconds, k.GraceForbidden = nil, false // they depend on the object
		if k != (finalizers.Kind{}) {
			all[schema.GroupResource{Group: r.Group, Resource: r.Plural}] = k
		}
	}
	return all
})

// Resource returns the resource by which an object is named.
func (d *Discovery) Resource(n Named) (*Resource, error) {
	switch {
	case n.Resource != "" && n.Kind != "":
		return nil, status.BadRequest("resource and kind can't both be used")
	case n.Resource != "":
		return d.Resolve(n.Resource)
	}
	if r := d.Kind(n.APIVersion, n.Kind); r != nil {
		return r, nil
	}
	return nil, unserved("the server doesn't serve kind %q of %q", n.Kind, n.APIVersion)
}

// aggregated is the form of discovery in which one response has all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Discover reads the resources that the server serves.
func (c *Client) Discover(ctx context.Context) (*Discovery, error) {
	d := &Discovery{}
	err := c.discover(ctx, d)
	if err == nil && len(d.Resources) == 0 && len(d.Unavailable) == 0 {
		err = c.discoverIndex(ctx, d)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("discovery: %w", err)
	case len(d.Resources) == 0:
		return nil, fmt.Errorf("discovery: %s serves no resources", c.URL)
	}
	d.share()
	return d, nil
}

// discover reads the lists of groups: aggregated ones, or those of old servers, which list each group by itself.
func (c *Client) discover(ctx context.Context, d *Discovery) error {
	var each []string
	for _, root := range []string{"/api", "/apis"} {
		body, err := c.get(ctx, root, nil, aggregated)
		if code(err) == http.StatusNotFound { // a server without the core group, or without others
			continue
		}
		if err != nil {
			return err
		}
		var all struct { // of either form
			Items    []apidiscoveryv2.APIGroupDiscovery
			Versions []string
			Groups   []metav1.APIGroup
		}
		if json.Unmarshal(body, &all) != nil {
			return fmt.Errorf("GET %s: the response is not a list of API groups", root)
		}
		d.addAggregated(all.Items)
		each = append(each, all.Versions...)
		for _, g := range all.Groups {
			each = append(each, g.PreferredVersion.GroupVersion)
			for _, v := range g.Versions {
				each = append(each, v.GroupVersion)
			}
		}
	}
	return c.discoverEach(ctx, each, d)
}

func (d *Discovery) addAggregated(groups []apidiscoveryv2.APIGroupDiscovery) {
	for _, g := range groups {
		for _, v := range g.Versions {
			if v.Freshness == apidiscoveryv2.DiscoveryFreshnessStale {
				d.fail(g.Name, v.Version, "its server does not answer")
			}
			for _, r := range v.Resources {
				if r.ResponseKind != nil {
					d.Add(g.Name, v.Version, metav1.APIResource{
						Name: r.Resource, SingularName: r.SingularResource, Kind: r.ResponseKind.Kind, Verbs: r.Verbs,
						Namespaced: r.Scope == apidiscoveryv2.ScopeNamespace, ShortNames: r.ShortNames,
					})
				}
			}
		}
	}
}

// discoverEach reads each of the group-versions, once.
func (c *Client) discoverEach(ctx context.Context, all []string, d *Discovery) error {
	for i, gv := range all {
		if gv == "" || slices.Contains(all[:i], gv) {
			continue
		}
		group, version, ok := strings.Cut(gv, "/")
		root := "/apis/"
		if !ok {
			group, version, root = "", gv, "/api/"
		}
		var list metav1.APIResourceList
		if err := c.getJSON(ctx, root+gv, nil, &list); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			d.fail(group, version, err.Error())
		}
		for _, r := range list.APIResources {
			d.Add(group, version, r)
		}
	}
	return nil
}

func (d *Discovery) fail(group, version, message string) {
	d.Unavailable = append(d.Unavailable, explain.Unavailable{Name: version + "." + group, Message: message})
}

// discoverIndex discovers a server that does not list its groups: apiextensions-apiserver by itself (AX
// pkg/apiserver/apiserver.go: EnableDiscovery). Its index has its own groups, and the CRDs have the others.
func (c *Client) discoverIndex(ctx context.Context, d *Discovery) error {
	var index struct{ Paths []string }
	if err := c.getJSON(ctx, "/", nil, &index); code(err) != 0 { // there is no index either
		return nil
	} else if err != nil {
		return err
	}
	var all []string
	for _, path := range index.Paths {
		if gv, ok := strings.CutPrefix(strings.TrimSuffix(path, "/"), "/apis/"); ok && strings.Count(gv, "/") == 1 {
			all = append(all, gv)
		}
	}
	if err := c.discoverEach(ctx, all, d); err != nil {
		return err
	}
	res := d.Named(crds)
	if res == nil {
		return nil
	}
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := c.getJSON(ctx, res.path(""), nil, &list); err != nil {
		return fmt.Errorf("list of %s: %w", crds, err)
	}
	all = nil
	for _, crd := range list.Items {
		for _, v := range crd.Spec.Versions {
			if v.Served {
				all = append(all, crd.Spec.Group+"/"+v.Name)
			}
		}
	}
	return c.discoverEach(ctx, all, d)
}
