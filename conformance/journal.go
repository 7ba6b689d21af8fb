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
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Journal is the order in which objects of a kind in the case's namespace were deleted, by a watch.
type Journal struct {
	kind   Kind
	cancel context.CancelFunc
	done   chan struct{}

	mu sync.Mutex // guards what follows
	// deleted are in the order of the events.
	deleted []types.UID
	// broken is why the watch ended before the case.
	broken error
}

// Watch begins a journal with what happens from now on.
func (t *T) Watch(k Kind) *Journal {
	path := k.Path(t.prefix, "")
	list := t.Accepted(t.Send(http.MethodGet, path, nil), http.StatusOK)
	metadata, _ := list.Body["metadata"].(map[string]any)
	version, _ := metadata["resourceVersion"].(string)
	ctx, cancel := context.WithCancel(t.ctx)
	j := &Journal{kind: k, cancel: cancel, done: make(chan struct{})}
	t.journals = append(t.journals, j)
	go j.follow(ctx, t.client, path, version)
	return j
}

// stop ends the watch.
func (j *Journal) stop() {
	j.cancel()
	<-j.done
}

// follow reads the watch to its end, and takes it up again where it ended.
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

// read reads one watch and is the resource version that it came to.
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
					UID             types.UID
					ResourceVersion string
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
		case e.Type == "DELETED":
			j.mu.Lock()
			j.deleted = append(j.deleted, e.Object.Metadata.UID)
			j.mu.Unlock()
		}
		version = e.Object.Metadata.ResourceVersion
	}
}

func (j *Journal) state() ([]types.UID, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.deleted), j.broken
}

// InOrder waits until the watch has told of the deletion of all objects, and checks that each was
// deleted after those before it. Sets of objects may go in any order among themselves.
func (t *T) InOrder(j *Journal, sets ...[]*Object) {
	var want []string
	for _, s := range sets {
		want = append(want, describe(s))
	}
	expected := "a watch of " + j.kind.Plural + " to tell of deletions in the order " + strings.Join(want, ", then ")
	place := map[types.UID]int{}
	for all := slices.Concat(sets...); ; {
		deleted, err := j.state()
		for i, uid := range deleted {
			place[uid] = i
		}
		missing := slices.IndexFunc(all, func(o *Object) bool { _, ok := place[o.GetUID()]; return !ok })
		if missing < 0 {
			break
		}
		t.Check(err == nil, expected, fmt.Sprint(err), nil)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.ctx.Done():
			t.fail(Failure{Expected: expected, Seen: fmt.Sprintf("no deletion of %s, %s after the case began", all[missing], t.within()), Object: all[missing].YAML()})
		}
	}
	for i := 1; i < len(sets); i++ {
		for _, before := range sets[i-1] {
			for _, after := range sets[i] {
				t.Check(place[before.GetUID()] < place[after.GetUID()], expected, fmt.Sprintf("%s was deleted before %s", after, before), nil)
			}
		}
	}
}

func describe(objects []*Object) string {
	if len(objects) == 1 {
		return objects[0].String()
	}
	return fmt.Sprintf("%d objects (%s and others)", len(objects), objects[0])
}
