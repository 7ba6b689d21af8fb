package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Journal records, by a watch, the order in which objects of a kind in the case's namespace were deleted or lost their
// last owner reference, and the finalizers with which they were being deleted.
type Journal struct {
	kind   Kind
	cancel context.CancelFunc
	done   chan struct{}

	mu sync.Mutex // guards what follows
	// events are in their order; unchanged objects may be repeated.
	events []happening
	// carried are the finalizers of objects that were being deleted.
	carried map[types.UID][]string
	// broken is the error with which the watch ended before the case.
	broken error
}

// happening is a deletion, or a change after which the object has no owners.
type happening struct {
	uid     types.UID
	deleted bool
}

// Watch begins a journal from now on.
func (t *T) Watch(k Kind) *Journal {
	path := k.Path(t.prefix, "")
	list := t.Accepted(t.Send(http.MethodGet, path, nil), http.StatusOK)
	metadata, _ := list.Body["metadata"].(map[string]any)
	version, _ := metadata["resourceVersion"].(string)
	ctx, cancel := context.WithCancel(t.ctx)
	j := &Journal{kind: k, cancel: cancel, done: make(chan struct{}), carried: map[types.UID][]string{}}
	t.journals = append(t.journals, j)
	go j.follow(ctx, t.client, path, version)
	return j
}

// stop ends the watch.
func (j *Journal) stop() {
	j.cancel()
	<-j.done
}

// follow reads the watch to its end, and continues with a new one.
func (j *Journal) follow(ctx context.Context, c *Client, path, version string) {
	defer close(j.done)
	for ctx.Err() == nil {
		next, err := j.read(ctx, c, path, version)
		if err != nil && ctx.Err() == nil {
			j.mu.Lock()
			j.broken = err
			j.mu.Unlock()
			return
		}
		version = next
	}
}

// read reads one watch and returns its last resource version.
func (j *Journal) read(ctx context.Context, c *Client, path, version string) (string, error) {
	res, err := c.open(ctx, http.MethodGet, path+"?watch=1&resourceVersion="+url.QueryEscape(version), "", "")
	if err != nil {
		return version, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return version, fmt.Errorf("the watch is answered %s", res.Status)
	}
	for d := json.NewDecoder(res.Body); ; {
		var e struct {
			Type   string
			Object struct {
				Message  string
				Metadata struct {
					UID               types.UID
					ResourceVersion   string
					OwnerReferences   []any
					DeletionTimestamp string
					Finalizers        []string
				}
			}
		}
		switch err := d.Decode(&e); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return version, nil
		case err != nil:
			return version, fmt.Errorf("decoding an event: %w", err)
		case e.Type == "ERROR":
			return version, fmt.Errorf("the watch ends with: %s", e.Object.Message)
		}
		m := e.Object.Metadata
		j.mu.Lock()
		if e.Type == "DELETED" || e.Type == "MODIFIED" && len(m.OwnerReferences) == 0 {
			j.events = append(j.events, happening{m.UID, e.Type == "DELETED"})
		}
		if m.DeletionTimestamp != "" {
			j.carried[m.UID] = append(j.carried[m.UID], m.Finalizers...)
		}
		j.mu.Unlock()
		version = m.ResourceVersion
	}
}

// NeverCarried waits until the watch has shown the objects' deletion, and checks that none of them had the finalizer
// while it was being deleted.
func (t *T) NeverCarried(j *Journal, finalizer string, objects ...*Object) {
	expected := fmt.Sprintf(
		"a watch of %s to tell of the deletion of %s, without the finalizer %s before", j.kind.Plural, describe(objects),
		finalizer,
	)
	t.places(j, expected, happenings(objects, true))
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, o := range objects {
		t.Check(
			!slices.Contains(j.carried[o.GetUID()], finalizer), expected, fmt.Sprintf("%s was being deleted with it", o), nil,
		)
	}
}

func (j *Journal) state() ([]happening, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events), j.broken
}

// places waits until the watch has shown each of these, and returns their first positions.
func (t *T) places(j *Journal, expected string, all []happening) map[happening]int {
	place := map[happening]int{}
	t.Until(expected, func() (bool, string) {
		events, err := j.state()
		for i, e := range slices.Backward(events) {
			place[e] = i
		}
		missing := slices.IndexFunc(all, func(h happening) bool { _, ok := place[h]; return !ok })
		if missing < 0 {
			return true, ""
		}
		t.Check(err == nil, expected, fmt.Sprint(err), nil)
		return false, fmt.Sprintf("nothing of the object with uid %s", all[missing].uid)
	})
	return place
}

// InOrder waits until the watch has shown the deletion of all objects, and checks that each was deleted after those
// before it. The objects of a set may be deleted in any order.
func (t *T) InOrder(j *Journal, sets ...[]*Object) {
	var want []string
	for _, s := range sets {
		want = append(want, describe(s))
	}
	expected := "a watch of " + j.kind.Plural + " to tell of deletions in the order " + strings.Join(want, ", then ")
	place := t.places(j, expected, happenings(slices.Concat(sets...), true))
	for i := 1; i < len(sets); i++ {
		for _, before := range sets[i-1] {
			for _, after := range sets[i] {
				t.Check(place[happening{before.GetUID(), true}] < place[happening{after.GetUID(), true}],
					expected, fmt.Sprintf("%s was deleted before %s", after, before), nil)
			}
		}
	}
}

// ReleasedBefore waits until the watch has shown the owner's deletion and dependents without references, and checks
// that these came before the deletion.
func (t *T) ReleasedBefore(j *Journal, dependents []*Object, owner *Object) {
	expected := fmt.Sprintf(
		"a watch of %s to tell that %s have no ownerReferences, then that %s is deleted", j.kind.Plural, describe(dependents),
		owner,
	)
	gone := happening{owner.GetUID(), true}
	place := t.places(j, expected, append(happenings(dependents, false), gone))
	for _, d := range dependents {
		t.Check(place[happening{d.GetUID(), false}] < place[gone], expected, fmt.Sprintf("%s was orphaned later", d), nil)
	}
}

func happenings(objects []*Object, deleted bool) []happening {
	var all []happening
	for _, o := range objects {
		all = append(all, happening{o.GetUID(), deleted})
	}
	return all
}

func describe(objects []*Object) string {
	if len(objects) == 1 {
		return objects[0].String()
	}
	return fmt.Sprintf("%d objects (%s and others)", len(objects), objects[0])
}
