package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// serveList is GET of a collection (H.2).
func (s *Server) serveList(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	o, err := listOptions(q.r.URL.Query())
	if err != nil {
		return err
	}
	if q.res.Collection == "" {
		items, err := s.selectedComponents(q.r.Context(), q.target, o)
		if err != nil {
			return err
		}
		return q.answerList(x, items, metav1.ListMeta{})
	}
	items, meta, err := s.list(q.r.Context(), q.target, o, x)
	if err != nil {
		return err
	}
	return q.answerList(x, items, meta)
}

// answerList sends a list. The common form goes out as it is read from the cache; every other, and what
// has to be converted first, is made before, while a failure can still be answered with its Status.
func (q *request) answerList(x *rendering, items []*storage.Object, meta metav1.ListMeta) error {
	stream := x.stream(items, meta)
	if stream == nil {
		data, err := x.list(items, meta)
		if err != nil {
			return err
		}
		q.send(x.f, http.StatusOK, data)
		return nil
	}
	var n length
	err := stream(&n)
	if err != nil {
		return err
	}
	h := q.w.Header()
	writeWarnings(h, q.warn)
	h.Set("Content-Type", x.f.media)
	h.Set("Cache-Control", "no-cache, private")
	out, finish := compressed(q.w, q.r, int(n))
	q.w.WriteHeader(http.StatusOK)
	err = stream(out)
	if err == nil {
		err = finish()
	}
	if err != nil {
		q.s.log.Debug("list cut short", "path", q.r.URL.Path, "err", err)
		panic(http.ErrAbortHandler) // the client must not take it for whole
	}
	return nil
}

// stream returns what writes a list that goes out as it is in the cache; nil if it has to be made first.
func (x *rendering) stream(items []*storage.Object, meta metav1.ListMeta) func(io.Writer) error {
	switch {
	case x.f.pretty:
	case x.plain() && x.ready(items):
		return func(w io.Writer) error { return x.plainList(w, items, meta) }
	case x.partial("PartialObjectMetadataList"):
		return x.partialList(items, meta)
	}
	return nil
}

// ready reports whether all objects go out as they are.
func (x *rendering) ready(items []*storage.Object) bool {
	return !x.res.Custom || !slices.ContainsFunc(items, func(o *storage.Object) bool { return !x.canonical(o) })
}

// scan is where a list reads: a state at one revision, from one key on.
type scan struct {
	snapshot *cache.Snapshot
	// from is the first key; empty means the beginning.
	from  string
	limit int64
}

// list returns one page of the selected objects in key order (H-18) and what goes with it. What x shows of
// custom resources is in its views.
func (s *Server) list(ctx context.Context, t target, o *metainternal.ListOptions, x *rendering) ([]*storage.Object, metav1.ListMeta, error) {
	sel, err := s.selectionOf(t, o)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	sc, err := s.scanOf(ctx, t, o, &sel)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	items, more, err := s.page(sc, &sel, x)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(sc.snapshot.Revision(), 10)}
	if more {
		last := items[len(items)-1].Key
		meta.Continue = encodeToken(last, sel.prefix, sc.snapshot.Revision())
		if !sel.filtered { // H-17
			n := int64(sc.snapshot.Count(sel.prefix, last+"\x00"))
			meta.RemainingItemCount = &n
		}
	}
	return items, meta, nil
}

// page collects up to limit matches. more says that another object follows them, be it selected or not:
// as upstream doesn't look, the last page of a selection may be empty (AS etcd3/store.go:GetList).
func (s *Server) page(sc scan, sel *selected, x *rendering) (items []*storage.Object, more bool, err error) {
	if sel.res.Custom {
		return s.customPage(sc, sel, x)
	}
	from := sc.from
	if sel.key > from {
		from = sel.key
	}
	sc.snapshot.Ascend(sel.prefix, from, func(o *storage.Object) bool {
		if sel.key != "" && o.Key != sel.key {
			return false
		}
		switch {
		case sc.limit > 0 && int64(len(items)) == sc.limit:
			more = true
			return false
		case o.Err == nil && !sel.matches(o):
			return true
		}
		if err := s.sound(sel.res, o); err != nil {
			s.unreadable(o.Key, err, "left out of a list")
		} else {
			items = append(items, o)
		}
		return true
	})
	return items, more, nil
}

// scanOf decides which state a list shows: the table of H.2.
func (s *Server) scanOf(ctx context.Context, t target, o *metainternal.ListOptions, sel *selected) (scan, error) {
	sc := scan{limit: max(o.Limit, 0)} // H-04
	single := sel.key != ""            // it has one page (AS storage/interfaces.go:ValidateListOptions)
	if o.Continue != "" && !single {
		return s.resume(ctx, t, o, sel, sc)
	}
	rev, err := listRevision(o.ResourceVersion)
	if err != nil {
		return scan{}, err
	}
	exact := o.ResourceVersionMatch == metav1.ResourceVersionMatchExact
	switch {
	case o.ResourceVersion == "":
		err = s.fresh(ctx)
	case exact && single && rev > s.cache.Revision(): // it isn't waited for
		if err = s.fresh(ctx); err == nil && rev > s.cache.Revision() {
			err = tooLargeRevision(rev, s.cache.Revision(), 0)
		}
		if err == nil {
			sc.snapshot, err = s.stateAt(ctx, t.res.Collection, sel.prefix, rev)
		}
		return sc, err
	case exact, o.ResourceVersionMatch == "" && sc.limit > 0 && rev > 0 && !single:
		if err := s.waitFor(ctx, rev); err != nil {
			return sc, err
		}
		sc.snapshot, err = s.stateAt(ctx, t.res.Collection, sel.prefix, rev)
		return sc, err
	case o.ResourceVersion == "0": // any state will do, whole
		sc.limit = 0
	default:
		err = s.waitFor(ctx, rev)
	}
	if err != nil {
		return sc, err
	}
	sc.snapshot, err = s.cache.Snapshot(t.res.Collection, 0)
	return sc, err
}

// resume goes on where a token says.
func (s *Server) resume(ctx context.Context, t target, o *metainternal.ListOptions, sel *selected, sc scan) (scan, error) {
	from, rev, err := decodeToken(o.Continue, sel.prefix)
	if err != nil {
		return sc, err
	}
	if o.ResourceVersion != "" && o.ResourceVersion != "0" { // H-14
		return sc, badRequest("specifying resource version is not allowed when using continue")
	}
	sc.from = from
	if rev < 0 {
		if err := s.fresh(ctx); err != nil {
			return sc, err
		}
		sc.snapshot, err = s.cache.Snapshot(t.res.Collection, 0)
		return sc, err
	}
	if err := s.waitFor(ctx, rev); err != nil {
		return sc, err
	}
	sc.snapshot, err = s.stateAt(ctx, t.res.Collection, sel.prefix, rev)
	if errors.Is(err, storage.ErrCompacted) {
		return sc, expiredToken(from, sel.prefix)
	}
	return sc, err
}

// stateAt returns the state at exactly one revision: out of the cache's history, or else out of
// etcd's, which reaches back to the last compaction.
func (s *Server) stateAt(ctx context.Context, collection, prefix string, rev int64) (*cache.Snapshot, error) {
	snap, err := s.cache.Snapshot(collection, rev)
	if !errors.Is(err, cache.ErrExpired) {
		return snap, err
	}
	page, err := s.store.List(ctx, storage.Range{Prefix: prefix, Revision: rev})
	if err != nil {
		return nil, err
	}
	objs := make([]*storage.Object, len(page.Records))
	for i, r := range page.Records {
		objs[i] = s.decoder.Decode(r)
	}
	return cache.NewSnapshot(collection, rev, objs), nil
}

// listRevision reads a list's resourceVersion (H-13).
func listRevision(text string) (int64, error) {
	rev, err := parseRevision(text)
	if err != nil {
		return 0, badRequest("invalid resource version: %s", strings.TrimSpace(err.Error()))
	}
	return rev, nil
}
