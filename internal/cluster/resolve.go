package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// Named returns the resource with this Name (deployments.apps); nil if there is none.
func (d *Discovery) Named(name string) *Resource {
	for _, r := range d.Resources {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

// Kind returns the resource with this apiVersion and kind; nil if there is none.
func (d *Discovery) Kind(apiVersion, kind string) *Resource {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	for _, r := range d.Resources {
		if r.Kind == kind && (r.Group == group && slices.Contains(r.Versions, version) ||
			slices.Contains(r.Aliases, apiVersion)) {
			return r
		}
	}
	return nil
}

// Resolve finds the resource that a user means, as kubectl does: its plural, singular, kind or a short name, with the
// group behind a dot if need be, and a version between them: deploy, deployment.apps, deployments.v1.apps. Of several
// groups the first in discovery's order is meant.
func (d *Discovery) Resolve(what string) (*Resource, error) {
	name, group, qualified := strings.Cut(strings.ToLower(what), ".")
	for _, r := range d.Resources {
		if qualified && group != r.Group {
			version, rest, _ := strings.Cut(group, ".")
			if rest != r.Group || !slices.Contains(r.Versions, version) {
				continue
			}
		}
		if name == r.Plural || name == r.Singular || name == strings.ToLower(r.Kind) || slices.Contains(r.ShortNames, name) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("the server doesn't have a resource type %q", what)
}
