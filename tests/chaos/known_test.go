package chaos

import (
	"net/http"
	"strings"
	"sync"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// known is a client's knowledge of objects. It may be outdated.
type known struct {
	mu sync.Mutex // guards the fields below
	// live are the objects that existed when they were last seen. dead are UIDs of some that existed before.
	live map[string]remembered
	dead []remembered
}

// remembered is an object that exists or existed.
type remembered struct {
	key, uid string
	revision int64
}

func newKnown() *known { return &known{live: map[string]remembered{}} }

func (k *known) learn(r *check.Write, code int, uid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, there := k.live[r.Key]
	switch {
	case code == http.StatusNotFound, r.Outcome == check.Acknowledged && r.Verb == check.Delete:
		if there {
			k.dead = append(k.dead[max(0, len(k.dead)-20):], old)
		}
		delete(k.live, r.Key)
	case r.Outcome == check.Acknowledged && r.Revision > old.revision:
		k.live[r.Key] = remembered{r.Key, uid, r.Revision}
	case code == http.StatusConflict && r.Verb == check.Create && !there:
		k.live[r.Key] = remembered{key: r.Key}
	}
}

func (k *known) see(prefix string, versions []check.Version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.live {
		if strings.HasPrefix(key, prefix) {
			delete(k.live, key)
		}
	}
	for _, v := range versions {
		k.live[v.Key] = remembered{v.Key, v.UID, v.Revision}
	}
}

// get returns the known object at a key.
func (k *known) get(key string) (remembered, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, there := k.live[key]
	return o, there
}
