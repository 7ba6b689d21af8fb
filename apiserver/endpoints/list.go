package endpoints

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// serveList handles a GET of a collection (H.2).
func (a *API) serveList(req *request) error {
	rendering, err := req.rendering()
	if err != nil {
		return err
	}
	opts, err := listOptions(requestinfo.Query(req.r))
	if err != nil {
		return err
	}
	req.listStale(opts)
	if req.Resource.Virtual {
		items, err := a.Registry.ListVirtual(req.r.Context(), req.Target, opts)
		if err != nil {
			return err
		}
		return req.answerList(rendering, items, metav1.ListMeta{})
	}
	if a.DeleteMalformed {
		rendering.Malformed = &render.Malformed{}
	}
	release := func() {}
	defer func() { release() }()
	items, meta, err := a.list(req.r.Context(), req.Target, opts, rendering, func(bytes int64) error {
		r, err := req.acquire(bytes)
		if err == nil {
			release = r
		}
		return err
	})
	if err != nil {
		return err
	}
	return req.answerList(rendering, items, meta)
}

// listOptions reads and checks the options of a list or watch (H-01, H-02), and sets the defaults of a watch (H-26).
func listOptions(query url.Values) (*metainternal.ListOptions, error) {
	validate := func(o *metainternal.ListOptions) field.ErrorList {
		metainternal.SetListOptionsDefaults(o, true)
		return metainternalvalidation.ValidateListOptions(o, true)
	}
	return options(query, "ListOptions", &metainternal.ListOptions{}, validate)
}

// answerList sends a list. If the objects can be sent as they are cached, it streams them. Every other list is encoded
// before the response starts, so that an error can be sent as a Status.
func (req *request) answerList(rendering *render.Rendering, items []*storage.Object, meta metav1.ListMeta) error {
	release, err := req.reserve(rendering, items...)
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
	render.Warnings(h, req.Warn.Sent())
	h.Set("Content-Type", rendering.Format.Media)
	h.Set("Cache-Control", "no-cache, private")
	if err := render.SendList(req.w, req.r, list); err != nil {
		req.api.Log.Debug("list was interrupted", "path", req.r.URL.Path, "err", err)
		panic(http.ErrAbortHandler) // the client must not treat a part as the whole
	}
	return nil
}

// unreserved is the function reserve for a list that is part of another request. It reserves nothing.
func unreserved(int64) error { return nil }

// scan is the range that a list reads: the state at one revision, from one key on.
type scan struct {
	state state
	// from is the first key; empty means the beginning.
	from  string
	limit int64
}

// list returns one page of the selected objects, in key order (H-18), and the list's metadata. rendering.Views has the
// custom resources as they are served. reserve is called with the memory of objects that are not in the cache.
func (a *API) list(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions, rendering *render.Rendering,
	reserve func(bytes int64) error,
) ([]*storage.Object, metav1.ListMeta, error) {
	sel, err := a.Registry.SelectionOf(target, opts)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	sc, err := a.scanOf(ctx, target, opts, &sel)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	if old, ok := sc.state.(*past); ok && sel.Key == "" {
		var bytes int64
		if bytes, err = old.cost(ctx, sc.from, sc.limit); err == nil {
			err = reserve(bytes)
		}
	}
	var items []*storage.Object
	var remain int64
	if err == nil {
		items, remain, err = a.page(ctx, sc, &sel, rendering)
	}
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

// page collects up to limit selected objects. remain is the number of objects after a full page, selected or not. As in
// upstream, the last page of a selection may be empty (AS etcd3/store.go:GetList).
func (a *API) page(
	ctx context.Context, sc scan, sel *registry.Selection, rendering *render.Rendering,
) (items []*storage.Object, remain int64, err error) {
	take := func(obj *storage.Object) bool {
		items = append(items, obj)
		return sc.limit <= 0 || int64(len(items)) < sc.limit
	}
	if sel.Resource.Custom {
		err = listCustom(ctx, sc, sel, rendering, take)
	} else {
		err = a.ascend(ctx, sc, sel, rendering, take)
	}
	if err == nil && sc.limit > 0 && int64(len(items)) == sc.limit && sel.Key == "" {
		remain, err = sc.state.Count(ctx, items[len(items)-1].Key+"\x00")
	}
	return items, remain, err
}

// ascend calls yield with the selected objects of a built-in resource, in key order, until yield returns false.
func (a *API) ascend(
	ctx context.Context, sc scan, sel *registry.Selection, rendering *render.Rendering, yield func(*storage.Object) bool,
) error {
	want := int(min(sc.limit, math.MaxInt32))
	return ascendMetadata(ctx, sc.state, sc.from, want, sel, rendering, func(obj *storage.Object) bool {
		if !sel.Has(obj.Fields) {
			return true
		}
		if err := a.Registry.Readable(sel.Resource, obj); err != nil {
			return omit(rendering, obj, err)
		}
		return yield(obj)
	})
}

// ascendMetadata calls yield with the objects whose metadata is selected, in key order from a key on, until yield
// returns false. want is the expected number of objects.
func ascendMetadata(
	ctx context.Context, st state, from string, want int, sel *registry.Selection, rendering *render.Rendering,
	yield func(*storage.Object) bool,
) error {
	if sel.Key != "" {
		want = 1
	}
	return st.Ascend(ctx, max(from, sel.Key), want, func(obj *storage.Object) bool {
		switch {
		case sel.Key != "" && obj.Key != sel.Key:
			return false
		case obj.Err != nil:
			return omit(rendering, obj, obj.Err)
		case !sel.MatchesMetadata(obj):
			return true
		}
		return yield(obj) && sel.Key == ""
	})
}

// scanOf chooses the state that a list reads, by the table of H.2.
func (a *API) scanOf(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions, sel *registry.Selection,
) (sc scan, err error) {
	sc.limit = max(opts.Limit, 0) // H-04
	single := sel.Key != ""       // a list of one object has no pages (AS storage/interfaces.go:ValidateListOptions)
	resumed := opts.Continue != "" && !single
	var rev int64
	var exact bool // whether the state must be at rev; otherwise it may be newer
	if resumed {
		sc.from, rev, err = resume(opts, sel.Prefix)
		exact = rev >= 0
	} else {
		rev, err = listRevision(opts.ResourceVersion)
		exact = opts.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
			opts.ResourceVersionMatch == "" && sc.limit > 0 && rev > 0 && !single
	}
	switch {
	case err != nil:
	case rev < 0, !resumed && opts.ResourceVersion == "":
		err = a.Registry.Fresh(ctx)
	case exact && single && rev > a.Registry.Cache.Revision(): // a list of one object does not wait
		if err = a.Registry.Fresh(ctx); err == nil && rev > a.Registry.Cache.Revision() {
			err = upstream.NewTooLargeResourceVersionError(uint64(rev), uint64(a.Registry.Cache.Revision()), 0)
		}
	case !resumed && !exact && opts.ResourceVersion == "0": // any revision, without a limit
		sc.limit = 0
	default:
		err = a.Registry.WaitFor(ctx, rev)
	}
	if err != nil {
		return sc, err
	}
	if !exact {
		rev = 0
	}
	sc.state, err = a.stateAt(target.Resource.Collection, sel, rev)
	return sc, err
}

// resume returns the first key of the page after a continue token, and the revision: -1 for the newest.
func resume(opts *metainternal.ListOptions, prefix string) (from string, rev int64, err error) {
	from, rev, err = decodeToken(opts.Continue, prefix)
	if err == nil && opts.ResourceVersion != "" && opts.ResourceVersion != "0" { // H-14
		err = status.BadRequest("specifying resource version is not allowed when using continue")
	}
	return from, rev, err
}

// listRevision reads a list's resourceVersion (H-13).
func listRevision(text string) (int64, error) {
	rev, err := registry.ParseRevision(text)
	if err != nil {
		return 0, status.BadRequest("invalid resource version: %s", strings.TrimSpace(err.Error()))
	}
	return rev, nil
}
