package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/controllers/namespace"
	"github.com/kubecascade/kubecascade/gc"
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
	// Do sends a request below the path of a group version. at has the rest of the path, and the query. as is the kind of
	// meta.k8s.io that the response should have; empty for any.
	Do(ctx context.Context, by user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL, as string,
		body []byte) ([]byte, error)
	// Open is Do, and returns a stream.
	Open(ctx context.Context, by user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL, as string,
		body []byte) (io.ReadCloser, error)
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

// ask sends a request for an object of another server or, without a name, for a collection.
func (n *Namespaces) ask(
	ctx context.Context, method string, r namespace.Resource, ns, name, as string, content any,
) ([]byte, error) {
	o := gc.Object{APIVersion: r.GroupVersion().String()}
	o.Collection, o.Namespace, o.Name = r.Resource, ns, name
	return (&elsewhere{Aggregator: n.Others, api: n.API}).request(ctx, method, o, as, content)
}

// metadataElsewhere is Metadata for a type of another server.
func (n *Namespaces) metadataElsewhere(
	ctx context.Context, r namespace.Resource, ns string,
) (items []namespace.Item, revision int64, err error) {
	revision = n.Cache.Revision()
	data, err := n.ask(ctx, http.MethodGet, r, ns, "", "PartialObjectMetadataList", nil)
	if err != nil {
		return nil, 0, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, 0, fmt.Errorf("decoding %v: %w", r.GroupVersionResource, err)
	}
	for _, o := range list.Items {
		items = append(items, namespace.Item{
			Name: o.Name, Finalizers: o.Finalizers, Deleting: o.DeletionTimestamp != nil,
		})
	}
	return items, revision, nil
}
