package loopback

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
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
// collection is listed again. It doubles after each list that fails, 6 times.
const refresh = time.Second

// follow implements gc.Config.Follow with the kinds whose objects can be collected (GC/garbagecollector.go:
// GetDeletableResources). While a server does not respond, its objects stay in the graph, and its kinds do not. After a
// change of its kind or APIService, a collection is listed again: it has one feed at a time, because the order of its
// events matters.
func (x *elsewhere) follow(ctx context.Context, send func(graph.Event)) {
	var running sync.WaitGroup
	defer running.Wait()
	table, feeds := []graph.Kind{}, map[string]*otherFeed{}
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		next, nextFeeds := []graph.Kind{}, map[string]*otherFeed{}
		all, _ := x.Resources()
		for _, r := range all {
			if x.api.Types().Lookup(r.Group, r.Version, r.Name) != nil || !slices.Contains(r.Verbs, "list") ||
				!slices.Contains(r.Verbs, "watch") || !slices.Contains(r.Verbs, "delete") {
				continue
			}
			k := graph.Kind{APIVersion: r.Group + "/" + r.Version, Kind: r.Kind, Namespaced: r.Namespaced,
				Collection: graph.Aggregated + r.Group + "/" + r.Name}
			gv := schema.GroupVersion{Group: r.Group, Version: r.Version}
			if k.Preferred = nextFeeds[k.Collection] == nil; k.Preferred {
				nextFeeds[k.Collection] = &otherFeed{
					elsewhere: x, resource: r, kind: k, gv: gv, backend: x.Backend(gv), send: send}
			}
			next = append(next, k)
		}
		for c, f := range feeds { // those that end stay, because of the objects that they have sent
			if n := nextFeeds[c]; n == nil || n.kind != f.kind || n.backend != f.backend {
				f.stop()
				f.backend = nil
			}
		}
		if !slices.Equal(next, table) {
			table = next
			send(graph.Kinds{Table: table})
		}
		for c, f := range nextFeeds {
			if old := feeds[c]; old == nil {
				f.known = map[graph.Key]string{}
			} else if f.known = old.known; old.backend != nil {
				continue
			}
			feeds[c] = f
			ctx, cancel := context.WithCancel(ctx)
			ended := make(chan struct{})
			f.stop = func() { cancel(); <-ended }
			running.Go(func() {
				defer close(ended)
				wait.UntilWithContext(ctx, f.read, refresh)
			})
		}
	}, refresh)
}

// otherFeed reads the objects of a kind of another server.
type otherFeed struct {
	*elsewhere
	resource metav1.APIResource
	kind     graph.Kind
	gv       schema.GroupVersion
	// backend is that of gv when the feed was started; nil after its end.
	backend any
	send    func(graph.Event)
	// known has the uids of the objects that were sent.
	known map[graph.Key]string
	// stop ends the feed, and waits for its end.
	stop func()
}

// read sends the objects and their changes.
func (f *otherFeed) read(ctx context.Context) {
	var version string
	pause := wait.Backoff{Duration: refresh, Factor: 2, Steps: 6}.DelayFunc()
	err := pause.Until(ctx, true, true, func(ctx context.Context) (_ bool, err error) {
		if version, err = f.list(ctx); err != nil && ctx.Err() == nil {
			f.log.Warn("objects of another server can't be listed", "collection", f.kind.Collection, "err", err)
		}
		return err == nil, nil
	})
	if err == nil {
		err = f.watch(ctx, version)
	}
	f.log.Debug("objects of another server are listed again", "collection", f.kind.Collection, "err", err)
}

// fresh waits until the timeline has everything that is stored now. Former servers of the APIService do not count.
func (f *otherFeed) fresh(ctx context.Context) error {
	if err := f.api.Fresh(ctx); err != nil || f.Backend(f.gv) == f.backend {
		return err
	}
	return errors.New("the APIService has changed")
}

// list sends all objects, and returns the version of the list. An object that is missing in the list may still exist,
// so it is requested.
func (f *otherFeed) list(ctx context.Context) (version string, err error) {
	missing, query := maps.Clone(f.known), url.Values{"limit": {"500"}}
	for more := true; more; more = query.Get("continue") != "" {
		var page metav1.PartialObjectMetadataList
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		data, err := f.Do(ctx, f.api.User(), http.MethodGet, f.gv,
			url.URL{Path: "/" + f.resource.Name, RawQuery: query.Encode()}, "PartialObjectMetadataList", nil)
		if err == nil {
			err = cmp.Or(json.Unmarshal(data, &page), f.fresh(ctx))
		}
		if cancel(); err != nil {
			return "", err
		}
		for i := range page.Items {
			f.observed(&page.Items[i])
			delete(missing, f.key(&page.Items[i]))
		}
		version = page.ResourceVersion
		query.Set("continue", page.Continue)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	for k, uid := range missing {
		o := graph.Elsewhere{APIVersion: f.kind.APIVersion, Kind: f.kind.Kind, Name: k.Name, UID: uid, Namespace: k.Namespace}
		if f.isAbsent(ctx, []metav1.APIResource{f.resource}, o) && f.fresh(ctx) == nil {
			delete(f.known, k)
			f.send(graph.Gone{Key: k})
		}
	}
	return version, ctx.Err()
}

// watch sends the changes since a version, until an error, or until the server ends the watch. As in upstream, it lasts
// 5 to 10 minutes (CG tools/cache/reflector.go: minWatchTimeout): the backends of a service may change.
func (f *otherFeed) watch(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+rand.N(5*time.Minute))
	defer cancel()
	at := url.URL{Path: "/" + f.resource.Name, RawQuery: url.Values{"watch": {"1"}, "resourceVersion": {version}}.Encode()}
	stream, err := f.Open(ctx, f.api.User(), http.MethodGet, f.gv, at, "PartialObjectMetadata", nil)
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
			err = f.fresh(ctx)
		}
		switch k := f.key(&e.Object); {
		case err != nil:
			return err
		case e.Type == "ADDED" || e.Type == "MODIFIED":
			f.observed(&e.Object)
		case e.Type == "DELETED" && f.known[k] == string(e.Object.UID):
			delete(f.known, k)
			f.send(graph.Gone{Key: k})
		case e.Type != "DELETED" && e.Type != "BOOKMARK":
			return fmt.Errorf("an event %s", e.Type)
		}
	}
}

func (f *otherFeed) key(o *metav1.PartialObjectMetadata) graph.Key {
	return graph.Key{Collection: f.kind.Collection, Namespace: o.Namespace, Name: o.Name}
}

// observed sends an object. One whose resourceVersion is not a number can't be deleted conditionally, and one whose
// name is no part of a path can't be requested, so they are omitted.
func (f *otherFeed) observed(o *metav1.PartialObjectMetadata) {
	revision, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err != nil || o.UID == "" || path.Base(path.Clean("/"+o.Name)) != o.Name {
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
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return x.Do(ctx, x.api.User(), method, gv, at, as, body)
}

// edit changes an object's metadata by a merge patch of the state that it reads, or deletes the object if f accepts
// that state (GC/patch.go: getMetadata; GC/garbagecollector.go: attemptToDeleteItem). A server may ignore
// preconditions.
func (x *elsewhere) edit(
	ctx context.Context, o gc.Object, f func(metav1.Object) error, remove *metav1.DeleteOptions) error {
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
	method, content := http.MethodDelete, any(remove)
	if remove == nil {
		method, content = http.MethodPatch, map[string]any{"metadata": map[string]any{"uid": m.UID,
			"resourceVersion": m.ResourceVersion, "ownerReferences": m.OwnerReferences, "finalizers": m.Finalizers}}
	}
	_, err = x.request(ctx, method, o, "", content)
	return err
}
