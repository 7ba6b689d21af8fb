package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// createOnce is create on one state of what the object will live in.
func (s *registry) createOnce(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	wipeSystemFields(obj)
	if err := matchNamespace(o.res, obj, o.namespace); err != nil {
		return nil, err
	}
	if err := codec.CheckManagers(obj); err != nil {
		return nil, err
	}
	dedupOwners(obj, false, o.warn.Add)
	if !o.tracked {
		s.fields.Update(o.res, "", nil, obj, o.manager)
	}
	if err := apply.Guard(obj, o.warn.Add, func() error {
		return s.admission.Admit(ctx, o.attributes(admission.Create, obj, nil))
	}); err != nil {
		return nil, err
	}
	dedupOwners(obj, true, o.warn.Add)
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		return s.createNamed(ctx, o, obj)
	}
	const attempts = 8
	var err error
	for range attempts {
		var out *storage.Object
		if out, err = s.createNamed(ctx, o, obj.DeepCopyObject().(object)); err == nil || !apierrors.IsAlreadyExists(err) {
			return out, err
		}
	}
	return nil, err
}

// createNamed is one attempt: system fields, strategy, validation, commit.
func (s *registry) createNamed(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	fillSystemFields(obj, s.now())
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(generatedName(obj.GetGenerateName()))
	}
	revision := obj.GetResourceVersion()
	if w := o.res.Strategy.EarlyWarnings; w != nil {
		for _, text := range w(obj) {
			o.warn.Add(text)
		}
	}
	named := *o
	named.name = obj.GetName()
	return s.allocating(ctx, &named, obj, nil, func(o *op, obj object) (*storage.Object, error) {
		return s.storeNew(ctx, o, obj, revision)
	})
}

// storeNew makes of a new object what may be stored, judges it and commits it. revision is what the
// client named.
func (s *registry) storeNew(ctx context.Context, o *op, obj object, revision string) (out *storage.Object, err error) {
	prepareCreate(o.res, obj)
	if f := o.res.Strategy.Requester; f != nil {
		f(obj, o.user.Name, o.user.UID, o.user.Groups, o.user.Extra)
	}
	if err := validateNew(o.res, obj); err != nil {
		return nil, err
	}
	o.warnOf(obj, nil)
	s.warnInert(o)
	if o.mayCreate != nil {
		if err := o.mayCreate(); err != nil {
			return nil, err
		}
	}
	a := o.attributes(admission.Create, obj, nil)
	defer func() { undone(a, err) }()
	if err := s.admission.Validate(ctx, a); err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(revision, 10, 64); err == nil && n != 0 && !o.dryRun {
		return nil, status.ErrCreateRevision
	}
	return s.insert(ctx, o, obj)
}

// insert commits a new object, if its name is free, and words what stands in its way.
func (s *registry) insert(ctx context.Context, o *op, obj object) (*storage.Object, error) {
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := codec.EncodeStored(o.res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", o.res.Kind, err)
	}
	key := o.key(s.root)
	if o.dryRun {
		cur, err := s.load(ctx, key)
		if err != nil || cur == nil {
			return s.decoder.Decode(storage.Record{Key: key, Value: value}), err
		}
		return nil, o.exists(obj, cur)
	}
	out, err := s.put(ctx, o, storage.Txn{Key: key, Value: value}, obj)
	var lost *storage.ConflictError
	if errors.As(err, &lost) {
		if lost.Guard != nil { // whoever set it decides again
			return nil, err
		}
		return nil, o.exists(obj, s.decoder.Decode(lost.Current))
	}
	return out, err
}

// exists is 0-03 or, for a name that was to be generated, 0-04.
func (o *op) exists(obj object, cur *storage.Object) error {
	var err *apierrors.StatusError
	if obj.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(o.res.GroupResource(), obj.GetName(), 1)
	} else {
		err = apierrors.NewAlreadyExists(o.res.GroupResource(), obj.GetName())
	}
	if cur.Meta.Deleting() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
