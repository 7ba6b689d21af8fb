package endpoints

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/respond"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// serveList is GET of a collection (H.2).
func (a *API) serveList(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	opts, err := listOptions(requestinfo.Query(req.r))
	if err != nil {
		return err
	}
	if req.Resource.Virtual {
		items, err := a.registry.ListVirtual(req.r.Context(), req.Target, opts)
		if err != nil {
			return err
		}
		return req.answerList(rendering, items, metav1.ListMeta{})
	}
	if a.malformed {
		rendering.Malformed = &render.Malformed{}
	}
	items, meta, err := a.list(req.r.Context(), req.Target, opts, rendering)
	if err != nil {
		return err
	}
	return req.answerList(rendering, items, meta)
}

// answerList sends a list. Stored objects in the common form are sent as they are cached. Every other list is encoded
// before the answer begins, so that an error can still be answered with its Status.
func (req *request) answerList(rendering *render.Rendering, items []*storage.Object, meta metav1.ListMeta) error {
	release, err := req.acquire(rendering.Cost(items))
	if err != nil {
		return err
	}
	defer release()
	list, err := rendering.Stream(items, meta)
	if err != nil {
		return err
	}
	req.recordAnswer(rendering, func(rendering *render.Rendering) ([]byte, error) { return rendering.List(items, meta) })
	if list == nil {
		data, err := rendering.List(items, meta)
		if err != nil {
			return err
		}
		req.warnOfOmitted()
		req.send(rendering.Format, http.StatusOK, data)
		return nil
	}
	h := req.w.Header()
	req.warnOfOmitted()
	respond.Warnings(h, req.Warn)
	h.Set("Content-Type", rendering.Format.Media)
	h.Set("Cache-Control", "no-cache, private")
	if err := respond.List(req.w, req.r, list); err != nil {
		req.api.log.Debug("list was interrupted", "path", req.r.URL.Path, "err", err)
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
	return nil
}

// lister lists stored objects.
type lister struct{ registry *registry.Registry }

// scan is what a list reads: the state at one revision, from one key on.
type scan struct {
	state registry.State
	// from is the first key; empty means the beginning.
	from  string
	limit int64
}

// list returns one page of the selected objects in key order (H-18), and the list's metadata. Custom resources as they
// are shown are in x.Views.
func (l lister) list(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions, rendering *render.Rendering,
) ([]*storage.Object, metav1.ListMeta, error) {
	sel, err := l.registry.SelectionOf(target, opts)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	sc, err := l.scanOf(ctx, target, opts, &sel)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	items, remain, err := l.page(ctx, sc, &sel, rendering)
	if errors.Is(err, storage.ErrCompacted) && sc.from != "" {
		err = expiredToken(sc.from, sel.Prefix)
	}
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	if err := rendering.Malformed.Err(target.Resource); err != nil {
		return nil, metav1.ListMeta{}, err
	}
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatInt(sc.state.Revision(), 10)}
	if remain > 0 {
		meta.Continue = encodeToken(items[len(items)-1].Key, sel.Prefix, sc.state.Revision())
		if !sel.Filtered { // H-17
			meta.RemainingItemCount = &remain
		}
	}
	return items, meta, nil
}

// page collects up to limit selected objects. remain is how many objects follow a full page, selected or not: as in
// upstream, the last page of a selection may be empty (AS etcd3/store.go:GetList).
func (l lister) page(
	ctx context.Context, sc scan, sel *registry.Selection, rendering *render.Rendering,
) (items []*storage.Object, remain int64, err error) {
	if all := l.whole(sc, sel, rendering); all != nil {
		return all, 0, nil
	}
	take := func(obj *storage.Object) bool {
		items = append(items, obj)
		return sc.limit <= 0 || int64(len(items)) < sc.limit
	}
	if sel.Resource.Custom {
		err = l.listCustom(ctx, sc.state, sc.from, sc.limit, sel, rendering, take)
	} else {
		err = l.ascend(ctx, sc, sel, rendering, take)
	}
	if err == nil && sc.limit > 0 && int64(len(items)) == sc.limit && sel.Key == "" {
		remain, err = sc.state.Count(ctx, items[len(items)-1].Key+"\x00")
	}
	return items, remain, err
}

// whole returns what a list without selectors and pages shows, if all of it can be read and it is in the cache; else
// nil. Lists of the same state share it, and must not modify it: a hundred clients that list 100,000 objects would
// otherwise hold 80 MB.
//
// Custom resources are listed in this way if all of them are sent as they are in the cache.
func (l lister) whole(sc scan, sel *registry.Selection, rendering *render.Rendering) []*storage.Object {
	cached, ok := sc.state.(registry.Cached)
	if !ok || !sel.All() || sc.from != "" || sc.limit > 0 {
		return nil
	}
	left := func(o *storage.Object) bool { return l.registry.Readable(sel.Resource, o) != nil }
	if sel.Resource.Custom {
		left = func(o *storage.Object) bool { return !rendering.AsStored(o) }
	}
	all := cached.Objects(cached.Prefix)
	if slices.ContainsFunc(all, left) {
		return nil
	}
	return all
}

// ascend calls yield with the selected objects of a built-in resource, in key order, until it returns false.
func (l lister) ascend(
	ctx context.Context, sc scan, sel *registry.Selection, rendering *render.Rendering, yield func(*storage.Object) bool,
) error {
	return sc.state.Ascend(ctx, max(sc.from, sel.Key), int(min(sc.limit, math.MaxInt32)), func(obj *storage.Object) bool {
		if sel.Key != "" && obj.Key != sel.Key {
			return false
		}
		if obj.Err == nil && !sel.Matches(obj) {
			return true
		}
		if err := l.registry.Readable(sel.Resource, obj); err != nil {
			return omit(rendering, obj, err)
		}
		return yield(obj)
	})
}

// scanOf chooses the state that a list shows: the table of H.2.
func (l lister) scanOf(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions, sel *registry.Selection,
) (scan, error) {
	sc := scan{limit: max(opts.Limit, 0)} // H-04
	single := sel.Key != ""               // it has one page (AS storage/interfaces.go:ValidateListOptions)
	if opts.Continue != "" && !single {
		return l.resume(ctx, target, opts, sel, sc)
	}
	rev, err := listRevision(opts.ResourceVersion)
	if err != nil {
		return scan{}, err
	}
	exact := opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact
	switch {
	case opts.ResourceVersion == "":
		err = l.registry.Fresh(ctx)
	case exact && single && rev > l.registry.Cache.Revision(): // a list of one object does not wait
		if err = l.registry.Fresh(ctx); err == nil && rev > l.registry.Cache.Revision() {
			err = registry.TooLargeRevision(rev, l.registry.Cache.Revision(), 0)
		}
		if err == nil {
			sc.state, err = l.registry.StateAt(target.Resource.Collection, sel, rev)
		}
		return sc, err
	case exact, opts.ResourceVersionMatch == "" && sc.limit > 0 && rev > 0 && !single:
		if err := l.registry.WaitFor(ctx, rev); err != nil {
			return sc, err
		}
		sc.state, err = l.registry.StateAt(target.Resource.Collection, sel, rev)
		return sc, err
	case opts.ResourceVersion == "0": // any revision, without a limit
		sc.limit = 0
	default:
		err = l.registry.WaitFor(ctx, rev)
	}
	if err != nil {
		return sc, err
	}
	sc.state, err = l.registry.Newest(target.Resource.Collection, sel)
	return sc, err
}

// resume continues where a token says.
func (l lister) resume(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions, sel *registry.Selection, sc scan,
) (scan, error) {
	from, rev, err := decodeToken(opts.Continue, sel.Prefix)
	if err != nil {
		return sc, err
	}
	if opts.ResourceVersion != "" && opts.ResourceVersion != "0" { // H-14
		return sc, status.BadRequest("specifying resource version is not allowed when using continue")
	}
	sc.from = from
	if rev < 0 {
		if err := l.registry.Fresh(ctx); err != nil {
			return sc, err
		}
		sc.state, err = l.registry.Newest(target.Resource.Collection, sel)
		return sc, err
	}
	if err := l.registry.WaitFor(ctx, rev); err != nil {
		return sc, err
	}
	sc.state, err = l.registry.StateAt(target.Resource.Collection, sel, rev)
	return sc, err
}

// listRevision reads a list's resourceVersion (H-13).
func listRevision(text string) (int64, error) {
	rev, err := registry.ParseRevision(text)
	if err != nil {
		return 0, status.BadRequest("invalid resource version: %s", strings.TrimSpace(err.Error()))
	}
	return rev, nil
}
