package endpoints

import (
	"cmp"

	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// start sends the initial events that the client asks for, and returns a watcher that continues right after them
// (H-26, H-27).
func (w *watch) start() (*cache.Watcher, error) {
	ctx := w.req.r.Context()
	initial := w.initially()
	collection := w.req.Resource.Collection
	var err error
	switch {
	case initial && w.opts.ResourceVersion == "", !initial && w.rev == 0 && w.opts.ResourceVersion == "":
		err = w.api.registry.Fresh(ctx)
	case initial && w.rev > 0:
		err = w.api.registry.WaitFor(ctx, w.rev)
	}
	if err != nil {
		return nil, err
	}
	if !initial {
		if w.rev == 0 {
			w.rev = w.api.registry.Cache.Revision()
		}
		return w.watchFrom(collection, w.rev)
	}
	snap, err := w.api.registry.Cache.Snapshot(collection, 0)
	if err != nil {
		return nil, err
	}
	rev := snap.Revision() // from here on only selected objects of the snapshot are kept
	if err := w.initial(snap); err != nil {
		return nil, err
	}
	w.rev = rev
	if w.opts.AllowWatchBookmarks {
		w.bookmark(true)
	}
	return w.api.registry.Cache.Watch(collection, w.rev)
}

// watchFrom starts after a revision that the client names. A future one is accepted: the watch is silent until events
// after it occur (H-29).
func (w *watch) watchFrom(collection string, rev int64) (*cache.Watcher, error) {
	return w.api.registry.Cache.Watch(collection, min(rev, w.api.registry.Cache.Revision()))
}

// initial sends the selected objects of a snapshot.
func (w *watch) initial(snap *cache.Snapshot) (err error) {
	run := initialRun{w: w, shared: w.sharesInitial()}
	show := func(obj *storage.Object) bool {
		err = run.add(obj)
		return err == nil
	}
	ctx, all := w.req.r.Context(), registry.Cached{Snapshot: snap, Prefix: w.sel.Prefix}
	var failed error
	if w.sel.Resource.Custom {
		failed = w.api.listCustom(ctx, all, "", 0, &w.sel, w.rendering, show)
	} else {
		var items []*storage.Object
		items, _, failed = w.api.page(ctx, scan{state: all}, &w.sel, w.rendering)
		w.rec.Keep(sizeOf(items))
		defer w.rec.Keep(0)
		for i := 0; i < len(items) && show(items[i]); i++ {
		}
	}
	if failed = cmp.Or(failed, err); failed != nil {
		return failed
	}
	return run.send()
}

// sharesInitial reports whether initial events are compressed, and depend on nothing but the key and the objects, as
// long as these are ready (see render.Rendering.Ready).
func (w *watch) sharesInitial() bool {
	return w.packing != nil && w.keys != nil && w.rendering.Fragments != nil && w.rendering.Resource.FromStored == nil
}

// initialRun sends initial events.
type initialRun struct {
	w *watch
	// shared says that runs of them are compressed together, once for all watches; else each is emitted by itself.
	shared bool
	cut    render.Cut
	// objs are the objects of the run that has not ended.
	objs []*storage.Object
	// frames are the events of a run.
	frames []byte
}

// add adds an object, and sends the run if it ends with that.
func (r *initialRun) add(obj *storage.Object) error {
	if !r.shared {
		defer r.w.rendering.Forget(obj)
		return r.w.emit("ADDED", obj, nil)
	}
	if r.objs = append(r.objs, obj); r.cut.Ends(obj) {
		return r.send()
	}
	return nil
}

// send sends the run so far.
func (r *initialRun) send() error {
	if len(r.objs) == 0 {
		return nil
	}
	all, key := r.w.rendering.Fragments, r.w.keys["ADDED"].packed
	var f *gzipped.Fragment
	ready := r.w.rendering.Ready(r.objs)
	if ready {
		f = all.Get(key, r.objs)
	}
	if f != nil {
		r.w.counts(len(r.objs))
	} else {
		whole, err := r.encode()
		if err != nil {
			return err
		}
		if f, err = compress(r.w.rendering.Reach, r.frames); err != nil {
			return err
		}
		if whole && ready {
			all.Put(key, r.objs, f)
		}
	}
	for _, obj := range r.objs {
		r.w.rendering.Forget(obj)
	}
	r.objs = r.objs[:0]
	return r.w.packing.writeFragment(f)
}

// encode encodes the events. whole reports that none was omitted.
func (r *initialRun) encode() (whole bool, err error) {
	r.frames, whole = r.frames[:0], true
	for _, obj := range r.objs {
		frame, err := r.w.frame("ADDED", obj)
		sends, err := r.w.emitted(obj, err)
		if err != nil {
			return false, err
		}
		if whole = whole && sends; sends {
			r.frames = append(r.frames, frame...)
		}
	}
	return whole, nil
}
