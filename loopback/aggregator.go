package loopback

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/namespace"
)

// Aggregator sends requests to the servers of APIServices.
type Aggregator interface {
	// Check returns the reason why the server of a group version does not respond.
	Check(ctx context.Context, group, version string) error
	// Resources returns the resources of the servers, those of a group's most important version first, and the versions
	// whose resources are not known.
	Resources() (all []metav1.APIResource, stale []schema.GroupVersion)
	// Preferred returns the version of a group with the highest priority. versions are the candidates, the newest first.
	// ok is false if none of them has a server.
	Preferred(group string, versions ...string) (gv schema.GroupVersion, ok bool)
	// Backend returns a value that changes with the specification of a version's APIService.
	Backend(gv schema.GroupVersion) any
	// Client returns an HTTP client for requests of a user. The path of a URL chooses the server.
	Client(by user.DefaultInfo) *http.Client
}

// otherServers is the configuration of clients of other servers.
var otherServers = rest.Config{Host: "https://other", QPS: -1, WarningHandler: rest.NoWarnings{}}

// metadataOf returns the client for the metadata of objects on another server, of one namespace or of all.
func metadataOf(
	a Aggregator, api *registry.Loopback, of schema.GroupVersionResource, namespace string,
) (metadata.ResourceInterface, error) {
	client, err := metadata.NewForConfigAndClient(&otherServers, a.Client(api.User()))
	if err != nil {
		return nil, err
	}
	return client.Resource(of).Namespace(namespace), nil
}

// others returns the namespaced types of other servers whose objects can be deleted (K
// pkg/controller/namespace/deletion/namespaced_resources_deleter.go: deleteAllContent). If servers do not respond, the
// error names their versions, with client-go's message (CG discovery: ErrGroupDiscoveryFailed).
func (n *Namespaces) others() (out []namespace.Resource, err error) {
	all, stale := n.Others.Resources()
	known := map[schema.GroupResource]bool{}
	for _, r := range all {
		gvr := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name}
		if !r.Namespaced || !slices.Contains(r.Verbs, "delete") || known[gvr.GroupResource()] {
			continue
		}
		known[gvr.GroupResource()] = true
		out = append(out, namespace.Resource{
			GroupVersionResource: gvr, Collection: slices.Contains(r.Verbs, "deletecollection"), Elsewhere: true,
		})
	}
	if len(stale) == 0 {
		return out, nil
	}
	var failed []string
	for _, gv := range stale {
		failed = append(failed, fmt.Sprintf("%v: stale GroupVersion discovery: %v", gv, gv))
	}
	slices.Sort(failed)
	return out, fmt.Errorf("Discovery failed for some groups, %d failing: unable to retrieve the complete list of "+
		"server APIs: %s", len(failed), strings.Join(failed, ", ")) //lint:ignore ST1005 upstream's words
}

// deleteElsewhere is Delete for a type of another server.
func (n *Namespaces) deleteElsewhere(ctx context.Context, r namespace.Resource, ns, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	objects, err := metadataOf(n.Others, n.API, r.GroupVersionResource, ns)
	switch {
	case err != nil:
		return err
	case name == "":
		return objects.DeleteCollection(ctx, *background(), metav1.ListOptions{})
	}
	return objects.Delete(ctx, name, *background())
}

// metadataElsewhere is Metadata for a type of another server.
func (n *Namespaces) metadataElsewhere(
	ctx context.Context, r namespace.Resource, ns string,
) (items []namespace.Item, revision int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	revision = n.Cache.Revision()
	objects, err := metadataOf(n.Others, n.API, r.GroupVersionResource, ns)
	if err != nil {
		return nil, 0, err
	}
	list, err := objects.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, 0, err
	}
	for _, o := range list.Items {
		items = append(items, namespace.Item{
			Name: o.Name, Finalizers: o.Finalizers, Deleting: o.DeletionTimestamp != nil,
		})
	}
	return items, revision, nil
}
