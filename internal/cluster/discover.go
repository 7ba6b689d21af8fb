package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// aggregated is the form of discovery in which one response has all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Discover reads what the server serves.
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
	d.Share()
	if len(d.Unavailable) > 0 {
		own, err := c.Has(ctx, "preview")
		d.Held = !own
		return d, err
	}
	return d, nil
}

// discover reads the lists of groups: aggregated ones, or those of old servers, whose groups are read by themselves.
func (c *Client) discover(ctx context.Context, d *Discovery) error {
	var each []string
	for _, root := range []string{"/api", "/apis"} {
		body, err := c.get(ctx, root, nil, aggregated)
		if code(err) == http.StatusNotFound { // a server without the core group, or without others
			continue
		}
		var all struct { // of either form
			Items    []apidiscoveryv2.APIGroupDiscovery
			Versions []string
			Groups   []metav1.APIGroup
		}
		if err == nil {
			err = json.Unmarshal(body, &all)
		}
		if err != nil {
			return fmt.Errorf("GET %s: %w", root, err)
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
	if err := c.getJSON(ctx, res.Path(""), nil, &list); err != nil {
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
