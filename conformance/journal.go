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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Journal records what a watch of a kind in the case's namespace has shown since the journal was created: the order in
// which objects were deleted or lost their last owner reference, and the finalizers that objects had while they were
// being deleted. The watch is read only when a case waits for such an event.
type Journal struct {
	kind Kind
	// path is the path of the collection, version the resource version of the last event.
	path, version string
	// place has the position of each deletion and of each loss of the last owner.
	place map[happening]int
	// carried has the finalizers that each object had while it was being deleted.
	carried map[types.UID][]string
}

// happening is a deletion, or a change after which the object has no owners.
type happening struct {
	uid     types.UID
	deleted bool
}

// Watch returns a journal of the events from now on.
func (t *T) Watch(k Kind) *Journal {
	path := k.Path(t.prefix, "")
	list := decode(k, t.Accepted(t.Send(http.MethodGet, path, nil), http.StatusOK))
	return &Journal{
		kind: k, path: path, version: list.GetResourceVersion(), place: map[happening]int{}, carried: map[types.UID][]string{},
	}
}

type change struct {
	Type   string
	Object struct {
		Message  string
		Metadata metav1.ObjectMeta
	}
}

// read reads events until enough returns true or the watch ends.
func (j *Journal) read(ctx context.Context, c *Client, enough func() bool) error {
	res, err := c.open(ctx, http.MethodGet, j.path+"?watch=1&resourceVersion="+url.QueryEscape(j.version), "", "")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the response to the watch is %s", res.Status)
	}
	for d := json.NewDecoder(res.Body); !enough(); {
		var e change
		switch err := d.Decode(&e); {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return fmt.Errorf("decoding an event: %w", err)
		case e.Type == "ERROR":
			return fmt.Errorf("the watch ends with: %s", e.Object.Message)
		}
		j.add(e)
	}
	return nil
}

func (j *Journal) add(e change) {
	m := e.Object.Metadata
	j.version = m.ResourceVersion
	h := happening{m.UID, e.Type == "DELETED"}
	if _, seen := j.place[h]; !seen && (h.deleted || e.Type == "MODIFIED" && len(m.OwnerReferences) == 0) {
		j.place[h] = len(j.place)
	}
	if m.DeletionTimestamp != nil {
		j.carried[m.UID] = append(j.carried[m.UID], m.Finalizers...)
	}
}

// NeverCarried waits until the watch has shown the deletion of the objects. It checks that none of them had the
// finalizer while it was being deleted.
func (t *T) NeverCarried(j *Journal, finalizer string, objects ...*Object) {
	expected := fmt.Sprintf(
		"a watch of %s to show the deletion of %s, without the finalizer %s before", j.kind.Plural, describe(objects),
		finalizer,
	)
	t.await(j, expected, happenings(objects, true))
	for _, o := range objects {
		t.Check(
			!slices.Contains(j.carried[o.GetUID()], finalizer), expected, fmt.Sprintf("%s was being deleted with it", o), nil,
		)
	}
}

// await reads the watch until it has shown all of these events.
func (t *T) await(j *Journal, expected string, all []happening) {
	missing := func() int {
		return slices.IndexFunc(all, func(h happening) bool { _, seen := j.place[h]; return !seen })
	}
	for missing() >= 0 {
		err := j.read(t.ctx, t.client, func() bool { return missing() < 0 })
		t.Check(err == nil || t.ctx.Err() != nil, expected, fmt.Sprint(err), nil)
		if t.ctx.Err() != nil {
			seen := fmt.Sprintf("nothing of the object with uid %s", all[missing()].uid) + t.timeoutNote()
			t.fail(Failure{Expected: expected, Seen: seen})
		}
	}
}

// InOrder waits until the watch has shown the deletion of all objects. It checks that the objects of each set were
// deleted after those of the set before it. The objects of a set may be deleted in any order.
func (t *T) InOrder(j *Journal, sets ...[]*Object) {
	var want []string
	for _, s := range sets {
		want = append(want, describe(s))
	}
	expected := "a watch of " + j.kind.Plural + " to show deletions in the order " + strings.Join(want, ", then ")
	t.await(j, expected, happenings(slices.Concat(sets...), true))
	for i := 1; i < len(sets); i++ {
		for _, before := range sets[i-1] {
			for _, after := range sets[i] {
				t.Check(j.place[happening{before.GetUID(), true}] < j.place[happening{after.GetUID(), true}],
					expected, fmt.Sprintf("%s was deleted before %s", after, before), nil)
			}
		}
	}
}

// ReleasedBefore waits until the watch has shown the owner's deletion and dependents without references. It checks that
// the dependents lost their references before the owner was deleted.
func (t *T) ReleasedBefore(j *Journal, dependents []*Object, owner *Object) {
	expected := fmt.Sprintf(
		"a watch of %s to show that %s have no ownerReferences, then that %s is deleted", j.kind.Plural, describe(dependents),
		owner,
	)
	gone := happening{owner.GetUID(), true}
	t.await(j, expected, append(happenings(dependents, false), gone))
	for _, d := range dependents {
		t.Check(j.place[happening{d.GetUID(), false}] < j.place[gone], expected, fmt.Sprintf("%s was orphaned later", d), nil)
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
