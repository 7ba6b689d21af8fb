package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// wards is the number of dependents for which contender and collector compete.
const wards = 4

// contender repeatedly adds another owner to dependents while their owner is deleted, until ctx ends. A dependent that
// gets a solid owner before it is collected must not be collected.
func (w *world) contender(ctx context.Context, r *rand.Rand, name string, pace time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		prefix := fmt.Sprintf("%s%s-%d-", prefixes()[n%len(prefixes())], name, n%3)
		old, heir := prefix+"old", prefix+"heir"
		w.create(ctx, r, old, nil)
		w.create(ctx, r, heir, nil)
		for i := range wards {
			w.create(ctx, r, fmt.Sprint(prefix, i), w.reference(old))
		}
		var both sync.WaitGroup
		both.Go(func() { w.once(ctx, "", request{verb: check.Delete, key: old, policy: policies[n%len(policies)]}) })
		for i := range wards {
			wait, server := time.Duration(r.Int64N(int64(8*time.Millisecond))), w.any(r).name
			both.Go(func() {
				pause(ctx, wait)
				owners := append(w.reference(old), w.reference(heir)...)
				w.once(ctx, server, request{verb: check.Patch, key: fmt.Sprint(prefix, i), owners: owners})
			})
		}
		both.Wait()
		pause(ctx, time.Duration(r.Int64N(int64(4*pace))))
		w.once(ctx, "", request{verb: check.Delete, key: heir, policy: "Background"})
		pause(ctx, time.Duration(r.Int64N(int64(4*pace))))
	}
}

// create creates an object, if it doesn't exist.
func (w *world) create(ctx context.Context, r *rand.Rand, key string, owners []reference) {
	w.once(ctx, w.any(r).name, request{verb: check.Create, key: key, owners: owners})
}

// once sends a request to the server of that name, or to any server that is ready.
func (w *world) once(ctx context.Context, name string, q request) {
	for _, s := range w.servers {
		if id, url, ok := s.current(); ok && (name == "" || s.name == name) {
			w.write(ctx, id, url, q)
			return
		}
	}
}

// reference returns a reference to the known object at the key, or none.
func (w *world) reference(key string) []reference {
	o, there := w.known.get(key)
	if !there || o.uid == "" {
		return nil
	}
	r := reference{APIVersion: "v1", Kind: kindOf(key), Name: filepath.Base(key), UID: o.uid, BlockOwnerDeletion: true}
	return []reference{r}
}
