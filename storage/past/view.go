package past

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubecascade/kubecascade/storage"
)

// View is the objects below one prefix at one revision. It belongs to one goroutine and one request: it assumes that a
// revision which etcd once confirmed is not compacted while it is used.
type View struct {
	r *Reader
	p place
	// exists says that etcd has confirmed this revision.
	exists bool
}

// View returns a view of the objects whose full keys have the prefix, which ends with a slash. It reads nothing yet.
func (r *Reader) View(prefix string, revision int64) *View {
	return &View{r: r, p: place{prefix: prefix, revision: revision}}
}

// Revision is the revision of the view.
func (v *View) Revision() int64 { return v.p.revision }

// Ascend calls yield for the objects whose full keys are not less than from, in byte order of their keys, until it
// returns false. want is how many the caller expects to need; 0 means all. Errors: storage.ErrCompacted,
// storage.ErrUnavailable.
func (v *View) Ascend(ctx context.Context, from string, want int, yield func(*storage.Object) bool) error {
	from = max(from, v.p.prefix)
	if want <= 0 {
		want = firstRecords
	}
	for {
		c, err := v.chunk(ctx, from, want)
		if err != nil {
			return v.failed(err)
		}
		for _, o := range c.objects[c.index(from):] {
			if !yield(o) {
				return nil
			}
		}
		if c.next == "" {
			return nil
		}
		from = c.next
	}
}

// chunk returns the chunk that covers from.
func (v *View) chunk(ctx context.Context, from string, want int) (*chunk, error) {
	s := start{place: v.p, from: from}
	if c := v.r.kept.find(s); c != nil {
		return c, v.confirm(ctx)
	}
	c, err := v.r.chunk(ctx, s, want)
	if err != nil {
		return nil, err
	}
	v.exists = true
	return c, nil
}

// confirm asks etcd, once for each view, whether it still has the revision.
func (v *View) confirm(ctx context.Context) error {
	if v.exists {
		return nil
	}
	if err := v.r.exists(ctx, v.p); err != nil {
		return err
	}
	v.exists = true
	return nil
}

// Get returns the object stored under the full key; nil if there was none. It reads no other object. Errors are those
// of Ascend.
func (v *View) Get(ctx context.Context, key string) (*storage.Object, error) {
	page, err := v.r.store.List(ctx, storage.Range{Prefix: key, Limit: 1, Revision: v.p.revision})
	if err != nil {
		return nil, v.failed(err)
	}
	v.exists = true
	v.r.count(len(page.Records))
	if len(page.Records) == 0 || page.Records[0].Key != key {
		return nil, nil
	}
	return v.r.decoder.Decode(page.Records[0]), nil
}

// Count returns how many objects Ascend would yield. It reads at most one. Errors are those of Ascend.
func (v *View) Count(ctx context.Context, from string) (int64, error) {
	from = max(from, v.p.prefix)
	if n, ok := v.r.kept.remaining(start{place: v.p, from: from}); ok {
		return n, v.failed(v.confirm(ctx))
	}
	page, err := v.r.store.List(ctx, storage.Range{Prefix: v.p.prefix, From: from, Limit: 1, Revision: v.p.revision})
	if err != nil {
		return 0, v.failed(err)
	}
	v.exists = true
	v.r.count(len(page.Records))
	return int64(len(page.Records)) + page.Remaining, nil
}

// failed adds the prefix and the revision to an error, and drops the chunks of a compacted revision.
func (v *View) failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, storage.ErrCompacted) {
		v.r.kept.forget(v.p)
	}
	return fmt.Errorf("reading %s at revision %d: %w", v.p.prefix, v.p.revision, err)
}
