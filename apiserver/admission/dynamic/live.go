package dynamic

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/follower"
)

// Live has the configurations that are in a cache.
type Live struct {
	follower *follower.Follower
	types    *resources.Types
	log      *slog.Logger
	// set is nil if there is no configuration.
	set atomic.Pointer[Set]
	// read are the configurations of the Set by key. An unchanged configuration is not read again. Only rebuild uses
	// read, and only the follower calls rebuild.
	read map[string]reading
	// forget is called with each configuration that was removed or became unreadable, and with the webhooks that a
	// changed one has lost. It may be nil.
	forget func(configuration any)
}

// reading is a stored configuration and the result of reading it.
type reading struct {
	revision int64
	// value is nil if it can't be read.
	value any
}

// NewLive returns a Live for the cache. types must have the built-in kinds.
func NewLive(c *cache.Cache, types *resources.Types, log *slog.Logger) *Live {
	var collections []string
	for _, source := range sources {
		collections = append(collections, types.Lookup(group, "v1", source.plural).Collection)
	}
	return &Live{follower: follower.New(c, collections...), types: types, log: log}
}

// Set returns the configurations at the cache's current revision or a later one, or nil if there are none. If they
// can't be read, it returns a Set in which all are unread, not an older Set.
func (l *Live) Set() *Set {
	err := l.follower.CatchUp(func(int, []*cache.Event) bool { return false }, l.rebuild)
	if err != nil {
		l.log.Error("failed to read the configurations of admission", "err", err)
		return &Set{types: l.types, unread: [slots]bool{true, true, true, true}}
	}
	return l.set.Load()
}

// rebuild reads the Set from the collections.
func (l *Live) rebuild(collections []*cache.Snapshot) error {
	read, set := map[string]reading{}, &Set{types: l.types}
	for i, source := range sources {
		res := l.types.Lookup(group, "v1", source.plural)
		if res == nil {
			return fmt.Errorf("reading %s: not in the table of types", source.plural)
		}
		for o := range collections[i].Ascend("", "") {
			r, ok := l.read[o.Key]
			if !ok || r.revision != o.Revision {
				r = reading{revision: o.Revision, value: l.value(res, o, source.read)}
			}
			if read[o.Key] = r; r.value != nil {
				source.add(set, r.value)
			} else {
				set.unread[source.of] = true
			}
		}
	}
	l.removed(read)
	l.read = read
	if len(read) == 0 {
		set = nil
	}
	l.set.Store(set)
	return nil
}

// removed calls forget with configurations, and with webhooks of changed ones, that are not in read.
func (l *Live) removed(read map[string]reading) {
	if l.forget == nil {
		return
	}
	for key, r := range l.read {
		switch now := read[key]; {
		case r.value == nil || now.revision == r.revision:
		case now.value == nil:
			l.forget(r.value)
		default:
			l.forget(removedWebhooks(r.value, now.value))
		}
	}
}

// removedWebhooks returns the webhooks that a changed configuration no longer has, or nil.
func removedWebhooks(was, now any) any {
	before, ok := was.([]*webhook.Configured)
	after, same := now.([]*webhook.Configured)
	if !ok || !same {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(before), func(h *webhook.Configured) bool {
		return slices.ContainsFunc(after, func(other *webhook.Configured) bool { return other.Name == h.Name })
	})
}

// value reads a stored configuration, or returns nil if it can't be read.
func (l *Live) value(res *resources.Resource, o *storage.Object, read func(runtime.Object) (any, error)) any {
	err := o.Err
	var obj runtime.Object
	if kind := o.Meta.Kind; err == nil && kind != res.Kind {
		err = fmt.Errorf("its kind is %q", kind)
	}
	if err == nil {
		obj, err = res.Decode(o.JSON)
	}
	var out any
	if err == nil {
		if d := res.Strategy.Default; d != nil {
			d(obj)
		}
		out, err = read(obj)
	}
	if err != nil {
		l.log.Error("a configuration of admission can't be read; requests to which it might apply are rejected",
			"key", o.Key, "err", err)
		return nil
	}
	return out
}
