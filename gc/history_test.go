package gc

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// history is a store that records all commits.
type history struct {
	storage.Store
	mu      sync.Mutex // guards commits
	commits []commit
}

type commit struct {
	revision  int64
	key       string
	value     []byte
	collected bool
}

// collecting marks the context of the collector's deletions.
type collecting struct{}

func (h *history) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	rev, err := h.Store.Commit(ctx, t)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.commits = append(h.commits, commit{rev, t.Key, slices.Clone(t.Value), ctx.Value(collecting{}) != nil})
	}
	return rev, err
}

// check replays the history, revision by revision, and fails the test if the collector deleted an object that had a
// solid owner at that moment. It returns the number of deletions.
func (h *history) check(t *testing.T) (deletions int) {
	slices.SortFunc(h.commits, func(a, b commit) int { return cmp.Compare(a.revision, b.revision) })
	at := map[string]*object{}
	for _, c := range h.commits {
		if was := at[c.key]; c.collected && was != nil {
			deletions++
			for _, ref := range was.OwnerReferences {
				if o := at[c.key[:strings.LastIndex(c.key, "/")+1]+ref.Name]; o != nil && o.UID == ref.UID && !inForeground(o) {
					t.Errorf("%s was deleted at revision %d, and %s owned it", c.key, c.revision, ref.Name)
				}
			}
		}
		if len(c.value) == 0 {
			delete(at, c.key)
			continue
		}
		o := &object{}
		if err := json.Unmarshal(c.value, o); err != nil {
			t.Errorf("%s: %v", c.key, err)
		}
		at[c.key] = o
	}
	return deletions
}

func inForeground(o *object) bool {
	return o.DeletionTimestamp != nil && slices.Contains(o.Finalizers, metav1.FinalizerDeleteDependents) &&
		!slices.Contains(o.Finalizers, metav1.FinalizerOrphanDependents)
}
