package registry

import (
	"context"
	"errors"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

// errPanicked is the error that a hook's Finish gets if the write panicked.
var errPanicked = errors.New("the write panicked")

// store commits a create or an update of a complete object.
type store func(*Operation, Object) (*storage.Object, error)

// begun calls commit between the begin and finish hooks of the kind. Writes of a subresource have no hooks. old is nil
// on create.
func (s *Registry) begun(ctx context.Context, o *Operation, obj, old Object, commit store) (*storage.Object, error) {
	if o.Resource.Hooks.Begin == nil || o.Subresource != nil {
		return commit(o, obj)
	}
	b, err := o.Resource.Hooks.Begin(ctx, &write{s, o}, obj, old)
	if err != nil {
		return nil, err
	}
	outcome := errPanicked
	if b.Finish != nil {
		defer func() { b.Finish(outcome) }()
	}
	out, err := s.filled(ctx, o, obj, b.Fill, commit)
	outcome = err
	return out, err
}

// filled calls fill, if it is set, on a copy of the object and commits the copy. It repeats both while the guards of
// fill fail. The request's deadline bounds the attempts. If webhooks are called for the object, what was filled in is
// kept as long as it is free, and they are not called again: a slow one, or one that causes such writes itself, would
// otherwise be called until the deadline.
func (s *Registry) filled(ctx context.Context, o *Operation, obj Object,
	fill func(context.Context, entry.Object) ([]storage.Guard, error), commit store) (*storage.Object, error) {
	if fill == nil {
		return commit(o, obj)
	}
	var last Object
	for {
		next, guards, validated, err := refilled(ctx, obj, last, fill)
		if err != nil {
			return nil, err
		}
		guarded := *o
		guarded.guards, guarded.validated = slices.Concat(o.guards, guards), validated
		if s.mayCall(o) {
			last = next.DeepCopyObject().(Object)
		}
		out, err := commit(&guarded, next)
		if !lostBy(err, guards) {
			return out, err
		}
	}
}

// refilled returns a filled copy of the object with its guards: one like the last, if that can still be stored, else
// another one. validated says that it is like the last.
func refilled(
	ctx context.Context, obj, last Object, fill func(context.Context, entry.Object) ([]storage.Guard, error),
) (next Object, guards []storage.Guard, validated bool, err error) {
	if last != nil {
		next = last.DeepCopyObject().(Object)
		if guards, err = fill(ctx, next); err == nil && apiequality.Semantic.DeepEqual(next, last) {
			return next, guards, true, nil
		}
	}
	next = obj.DeepCopyObject().(Object)
	guards, err = fill(ctx, next)
	return next, guards, false, err
}

// mayCall reports whether webhooks may be called for a write.
func (s *Registry) mayCall(o *Operation) bool {
	return s.concerned(o, admission.Create) || s.concerned(o, admission.Update)
}

// lostBy reports whether a write failed because one of the guards did not hold.
func lostBy(err error, guards []storage.Guard) bool {
	var lost *storage.ConflictError
	return errors.As(err, &lost) && lost.Guard != nil &&
		slices.ContainsFunc(guards, func(g storage.Guard) bool { return g.Key == lost.Guard.Key })
}

// write implements hooks.Write.
type write struct {
	s *Registry
	o *Operation
}

func (w *write) DryRun() bool            { return w.o.DryRun }
func (w *write) Ranges() allocate.Ranges { return w.s.Ranges }

func (w *write) Unreadable(key string, err error, then string) { w.s.Unreadable(key, err, then) }

// Turn implements hooks.Write. There are no turns if webhooks may be called for the write, as one call would delay
// all other writes, and a webhook may itself cause one: then the guards alone decide.
func (w *write) Turn(ctx context.Context) (release func(), err error) {
	if w.s.mayCall(w.o) {
		return func() {}, nil
	}
	select {
	case w.s.Turn <- struct{}{}:
		return func() { <-w.s.Turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Scan implements hooks.Write.
func (w *write) Scan(ctx context.Context, fields []string, yield func(*storage.Object, []string)) (
	storage.Guard, error) {
	if err := w.s.Fresh(ctx); err != nil {
		return storage.Guard{}, err
	}
	res := w.o.Resource
	snap, err := w.s.Cache.Snapshot(res.Collection, 0)
	if err != nil {
		return storage.Guard{}, err
	}
	places, values := make([]int, len(fields)), make([]string, len(fields))
	for i, name := range fields {
		places[i] = slices.Index(res.FieldNames, name)
	}
	snap.Ascend("", "", func(item *storage.Object) bool {
		for i, place := range places {
			if values[i] = ""; item.Err == nil {
				values[i] = item.Fields[place]
			}
		}
		yield(item, values)
		return true
	})
	return storage.Guard{Key: w.s.Root + "/" + res.Collection + "/", ModRevision: snap.Revision(), Below: true}, nil
}
