package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// places is the number of names for each resource in each namespace. There are few, so that names are reused by other
// objects, and several clients write the same object.
const places = 40

var policies = []string{"Background", "Foreground", "Orphan"}

// writer sends random writes until ctx ends.
func (w *world) writer(ctx context.Context, r *rand.Rand, pace time.Duration) {
	for ctx.Err() == nil {
		id, url, ok := w.pick(ctx, r)
		if !ok {
			return
		}
		w.write(ctx, id, url, w.choose(r))
		pause(ctx, time.Duration(r.Int64N(int64(2*pace))))
	}
}

// anyKey returns a random key.
func anyKey(r *rand.Rand) string {
	return fmt.Sprintf("%so%d", prefixes()[r.IntN(len(prefixes()))], r.IntN(places))
}

// choose returns a random write that is possible in the known state of the key.
func (w *world) choose(r *rand.Rand) request {
	key := anyKey(r)
	o, there := w.known.get(key)
	q := request{key: key}
	if !there {
		q.verb, q.owners = check.Create, w.owners(r, key)
		return q
	}
	switch n := r.IntN(100); {
	case n < 25:
		q.verb, q.keepOwners = check.Patch, true
	case n < 45:
		q.verb, q.owners = check.Patch, w.owners(r, key)
	case n < 70:
		q.verb, q.owners = check.Update, w.owners(r, key)
		if o.revision > 0 {
			q.over = fmt.Sprint(o.revision)
		}
	case n < 75:
		q.verb, q.owners = check.Update, w.owners(r, key)
	default:
		q.verb, q.policy = check.Delete, policies[r.IntN(len(policies))]
		if r.IntN(4) > 0 {
			q.uid = o.uid
		}
	}
	return q
}

// owners returns random references: mostly to existing objects, some to objects that existed, a few with another name.
func (w *world) owners(r *rand.Rand, key string) []reference {
	refs := []reference{}
	for range r.IntN(4) {
		o, ok := w.owner(r, strings.Split(key, "/")[1])
		if !ok || o.key == key || o.uid == "" || slices.ContainsFunc(refs, func(f reference) bool { return f.UID == o.uid }) {
			continue
		}
		p := strings.Split(o.key, "/")
		if r.IntN(30) == 0 {
			p[2] = "elsewhere"
		}
		ref := reference{APIVersion: "v1", Kind: kindOf(o.key), Name: p[2], UID: o.uid, BlockOwnerDeletion: r.IntN(2) == 0}
		refs = append(refs, ref)
	}
	return refs
}

// owner returns a random object of a namespace.
func (w *world) owner(r *rand.Rand, namespace string) (remembered, bool) {
	if r.IntN(10) == 0 {
		w.known.mu.Lock()
		defer w.known.mu.Unlock()
		if n := len(w.known.dead); n > 0 {
			o := w.known.dead[r.IntN(n)]
			return o, strings.Split(o.key, "/")[1] == namespace
		}
		return remembered{}, false
	}
	return w.known.get(fmt.Sprintf("%s/%s/o%d", resources[r.IntN(len(resources))].name, namespace, r.IntN(places)))
}
