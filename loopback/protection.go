package loopback

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/protection"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Protection is protection.API.
type Protection struct {
	API   *registry.Loopback
	Cache *cache.Cache
}

// protectable has the properties of a protection.Kind.
type protectable struct {
	group, plural string
	new           func() protection.Object
	// marks are strings of which at least one is in the JSON of every object that uses another. Most pods have none and
	// needn't be decoded.
	marks []string
	// derives is a string in the JSON of objects that may use another whose name isn't in their JSON; empty if there
	// are none.
	derives string
}

var protectables = map[protection.Kind]protectable{
	protection.Pod: {"", "pods", func() protection.Object { return new(corev1.Pod) },
		[]string{`"persistentVolumeClaim"`, `"ephemeral"`}, `"ephemeral"`},
	protection.Claim: {"", "persistentvolumeclaims", func() protection.Object { return new(corev1.PersistentVolumeClaim) },
		[]string{`"volumeAttributesClassName"`, `"currentVolumeAttributesClassName"`, `"targetVolumeAttributesClassName"`},
		""},
	protection.Volume: {"", "persistentvolumes", func() protection.Object { return new(corev1.PersistentVolume) },
		[]string{`"volumeAttributesClassName"`}, ""},
	protection.Class: {"storage.k8s.io", "volumeattributesclasses",
		func() protection.Object { return new(storagev1.VolumeAttributesClass) }, nil, ""},
}

func (p *Protection) resource(kind protection.Kind) *resources.Resource {
	k := protectables[kind]
	return p.API.Types().Lookup(k.group, "v1", k.plural)
}

func (p *Protection) path(kind protection.Kind, key protection.Key) registry.Path {
	return registry.Path{Resource: p.resource(kind), Namespace: key.Namespace, Name: key.Name}
}

// decode decodes an object of the kind.
func (k protectable) decode(o *storage.Object) (protection.Object, error) {
	out := k.new()
	if err := json.Unmarshal(o.JSON, out); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", o.Key, err)
	}
	return out, nil
}

// marked reports whether the object may use another.
func (k protectable) marked(o *storage.Object) bool {
	return slices.ContainsFunc(k.marks, func(m string) bool { return contains(o, m) })
}

func contains(o *storage.Object, text string) bool { return bytes.Contains(o.JSON, []byte(text)) }

// mostSought is the maximum number of names for which a search in JSON is faster than decoding it.
const mostSought = 8

// names reports whether the object may use one of the keys. Names have no characters that JSON escapes.
func (k protectable) names(o *storage.Object, keys []protection.Key) bool {
	return k.marked(o) && (len(keys) > mostSought || k.derives != "" && contains(o, k.derives) ||
		slices.ContainsFunc(keys, func(key protection.Key) bool { return contains(o, `"`+key.Name+`"`) }))
}

// Get implements protection.API.
func (p *Protection) Get(ctx context.Context, kind protection.Kind, key protection.Key) (protection.Object, error) {
	o, err := p.API.Get(ctx, p.path(kind, key))
	if err != nil {
		return nil, err
	}
	return protectables[kind].decode(o)
}

// Users implements protection.API.
func (p *Protection) Users(
	ctx context.Context, kind protection.Kind, keys []protection.Key,
) ([]protection.Object, error) {
	objs, err := p.API.List(ctx, p.path(kind, protection.Key{Namespace: keys[0].Namespace}))
	if err != nil {
		return nil, err
	}
	var users []protection.Object
	for _, o := range objs {
		if !protectables[kind].names(o, keys) {
			continue
		}
		user, err := protectables[kind].decode(o)
		if err != nil {
			return nil, err
		}
		users = append(users, user)
	}
	return users, nil
}

// Update implements protection.API.
func (p *Protection) Update(ctx context.Context, kind protection.Kind, o protection.Object) error {
	_, err := p.API.Update(ctx, p.path(kind, protection.Key{Namespace: o.GetNamespace(), Name: o.GetName()}), o)
	return err
}

// Follow implements protection.API.
func (p *Protection) Follow(
	ctx context.Context, kind protection.Kind, users []protection.Kind, sink func(protection.Event),
) error {
	kinds := map[string]protection.Kind{}
	var collections []string
	for _, k := range append([]protection.Kind{kind}, users...) {
		collection := p.resource(k).Collection
		kinds[collection], collections = k, append(collections, collection)
	}
	return feed{cache: p.Cache, first: collections[0], collections: collections,
		begin: func(state iter.Seq[*storage.Object]) {
			sink(protection.Event{Type: protection.Began})
			for o := range state {
				protectables[kind].send(&cache.Event{Type: cache.Added, Object: o}, false, sink)
			}
		},
		each: func(e *cache.Event) error {
			k := kinds[e.Collection]
			protectables[k].send(e, k != kind, sink)
			return nil
		},
	}.follow(ctx)
}

// send sends relevant events. After the deletion of a user that can't be decoded every object needs a pass, as it may
// have used any.
func (k protectable) send(e *cache.Event, users bool, sink func(protection.Event)) {
	out := protection.Event{
		Type: protection.Protected, Key: protection.Key{Namespace: e.Object.Meta.Namespace, Name: e.Object.Meta.Name},
	}
	var err error
	if users {
		switch {
		case e.Prev == nil:
			return
		case e.Prev.Err != nil:
			sink(protection.Event{Type: protection.Began})
			return
		case !k.marked(e.Prev):
			return
		}
		out.Type = protection.User
		if out.Old, err = k.decode(e.Prev); err != nil {
			sink(protection.Event{Type: protection.Began})
			return
		}
	}
	if e.Type != cache.Deleted {
		if out.New, err = k.decode(e.Object); err != nil {
			return
		}
	}
	sink(out)
}
