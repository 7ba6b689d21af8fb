package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// elsewhere follows the objects of other servers for the collector, and sends its requests about them.
type elsewhere struct {
	Aggregator
	api *registry.Loopback
	log *slog.Logger
}

// refresh is the pause before the resources of other servers, which the aggregator caches, are read again, and before a
// collection is listed again.
const refresh = time.Second

// follow implements gc.Config.Follow with the kinds whose objects can be collected (GC/garbagecollector.go:
// GetDeletableResources). While a server does not respond, its objects stay in the graph, and its kinds do not.
func (x *elsewhere) follow(ctx context.Context, send func(graph.Event)) {
	var watches sync.WaitGroup
	defer watches.Wait()
	var table []graph.Kind
	watched := map[graph.Kind]bool{}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		var next []graph.Kind
		all, _ := x.Resources()
		for _, r := range all {
			if x.api.Types().Lookup(r.Group, r.Version, r.Name) != nil || !slices.Contains(r.Verbs, "list") ||
				!slices.Contains(r.Verbs, "watch") || !slices.Contains(r.Verbs, "delete") {
				continue
			}
			k := graph.Kind{APIVersion: r.Group + "/" + r.Version, Kind: r.Kind, Namespaced: r.Namespaced,
				Collection: graph.Aggregated + r.Group + "/" + r.Name}
			k.Preferred = !slices.ContainsFunc(next, func(o graph.Kind) bool { return o.Collection == k.Collection })
			next = append(next, k)
			if k.Preferred && !watched[k] {
				watched[k] = true
				f := &otherFeed{elsewhere: x, resource: r, kind: k, send: send}
				watches.Go(func() { wait.UntilWithContext(ctx, f.read, refresh) })
			}
		}
		if !slices.Equal(next, table) {
			table = next
			send(graph.Kinds{Table: table})
		}
	}, refresh)
}

// otherFeed reads the objects of a kind of another server.
type otherFeed struct {
	*elsewhere
	resource metav1.APIResource
	kind     graph.Kind
	send     func(graph.Event)
	// known has the uids of the objects that were sent.
	known map[graph.Key]string
}

// read sends the objects and their changes.
func (f *otherFeed) read(ctx context.Context) {
	version, err := f.list(ctx)
	if err == nil {
		err = f.watch(ctx, version)
	}
	f.log.Debug("objects of another server are listed again", "collection", f.kind.Collection, "err", err)
}

// list sends all objects, and returns the version of the list. An object that is missing in the list may still exist,
// so it is requested.
func (f *otherFeed) list(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	all := gc.Object{APIVersion: f.kind.APIVersion, Key: graph.Key{Collection: f.kind.Collection}}
	data, err := f.request(ctx, http.MethodGet, all, "PartialObjectMetadataList", nil)
	var list metav1.PartialObjectMetadataList
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err == nil {
		err = f.api.Fresh(ctx)
	}
	if err != nil {
		return "", err
	}
	before := f.known
	f.known = map[graph.Key]string{}
	for i := range list.Items {
		f.observed(&list.Items[i])
	}
	for k, uid := range before {
		o := graph.Elsewhere{APIVersion: f.kind.APIVersion, Kind: f.kind.Kind, Name: k.Name, UID: uid, Namespace: k.Namespace}
		switch {
		case f.known[k] != "":
		case f.isAbsent(ctx, []metav1.APIResource{f.resource}, o):
			f.send(graph.Gone{Key: k})
		default:
			f.known[k] = uid
		}
	}
	return list.ResourceVersion, nil
}

// watch sends the changes since a version, until an error, or until the server ends the watch.
func (f *otherFeed) watch(ctx context.Context, version string) error {
	gv := schema.GroupVersion{Group: f.resource.Group, Version: f.resource.Version}
	at := url.URL{Path: "/" + f.resource.Name, RawQuery: url.Values{"watch": {"1"}, "resourceVersion": {version}}.Encode()}
	by := user.DefaultInfo(f.api.User())
	stream, err := f.Open(ctx, by, http.MethodGet, gv, at, "PartialObjectMetadata", nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	for d := json.NewDecoder(stream); ; {
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		err := d.Decode(&e)
		if err == nil {
			err = f.api.Fresh(ctx)
		}
		switch {
		case err != nil:
			return err
		case e.Type == "ADDED" || e.Type == "MODIFIED":
			f.observed(&e.Object)
		case e.Type == "DELETED":
			delete(f.known, f.key(&e.Object))
			f.send(graph.Gone{Key: f.key(&e.Object)})
		default:
			return fmt.Errorf("an event %s", e.Type)
		}
	}
}

func (f *otherFeed) key(o *metav1.PartialObjectMetadata) graph.Key {
	return graph.Key{Collection: f.kind.Collection, Namespace: o.Namespace, Name: o.Name}
}

// observed sends an object. One whose resourceVersion is not a number can't be requested, so it is omitted.
func (f *otherFeed) observed(o *metav1.PartialObjectMetadata) {
	revision, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err != nil || o.UID == "" {
		return
	}
	out := graph.Object{Key: f.key(o), APIVersion: f.kind.APIVersion, Kind: f.kind.Kind, UID: string(o.UID),
		Revision: revision, Flags: graph.FlagsOf(o.DeletionTimestamp != nil, o.Finalizers)}
	for _, r := range o.OwnerReferences {
		block := r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
		out.Owners = append(out.Owners, graph.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID), Block: block})
	}
	f.known[out.Key] = out.UID
	f.send(graph.Observed{Object: out})
}

// request sends a request for an object or, without a name, for a collection.
func (x *elsewhere) request(
	ctx context.Context, method string, o gc.Object, as string, content any,
) (answer []byte, err error) {
	var body []byte
	if content != nil {
		if body, err = json.Marshal(content); err != nil {
			return nil, err
		}
	}
	at := url.URL{Path: path.Join("/", path.Base(o.Collection), o.Name)}
	if o.Namespace != "" {
		at.Path = "/namespaces/" + o.Namespace + at.Path
	}
	gv := schema.FromAPIVersionAndKind(o.APIVersion, "").GroupVersion()
	return x.Do(ctx, user.DefaultInfo(x.api.User()), method, gv, at, as, body)
}

// edit changes an object's metadata by a merge patch of the state that it reads (GC/patch.go: getMetadata).
func (x *elsewhere) edit(ctx context.Context, o gc.Object, f func(metav1.Object) error) error {
	data, err := x.request(ctx, http.MethodGet, o, "PartialObjectMetadata", nil)
	var m metav1.PartialObjectMetadata
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil {
		err = f(&m)
	}
	if err != nil {
		return err
	}
	_, err = x.request(ctx, http.MethodPatch, o, "", map[string]any{"metadata": map[string]any{"uid": m.UID,
		"resourceVersion": m.ResourceVersion, "ownerReferences": m.OwnerReferences, "finalizers": m.Finalizers}})
	return err
}
