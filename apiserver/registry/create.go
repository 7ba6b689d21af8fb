package registry

import (
	"context"
	"errors"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Create stores a new object. obj is in the stored version. The write is conditional on the state of the
// namespace and of the CustomResourceDefinition that admission saw, so no object is created in one that has been
// emptied since. If either has changed, the whole request is decided again.
func (s *Registry) Create(ctx context.Context, o *Operation, obj Object) (*storage.Object, error) {
	for {
		guards, err := s.createGuards(o, obj)
		if err != nil {
			return nil, err
		}
		if len(guards) == 0 {
			return s.createOnce(ctx, o, obj)
		}
		once := *o
		once.guards = append(slices.Clip(o.guards), guards...)
		// The first attempt uses the original: a Job's labels may share memory with its template's (batch/job.go).
		again := obj.DeepCopyObject().(Object)
		out, err := s.createOnce(ctx, &once, obj)
		if !lostBy(err, guards) {
			return out, err
		}
		if err := s.Fresh(ctx); err != nil {
			return nil, err
		}
		obj = again
	}
}

// createOnce is one attempt of Create, for one state of the namespace and of the CustomResourceDefinition.
func (s *Registry) createOnce(ctx context.Context, o *Operation, obj Object) (*storage.Object, error) {
	if !o.Resource.Namespaced || !s.Admission.ReadsNamespaces() { // the configurations of admission must be the newest
		if err := s.Fresh(ctx); err != nil {
			return nil, err
		}
	}
	wipeSystemFields(obj)
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil {
		return nil, err
	}
	if err := fieldmanager.CheckEntries(obj); err != nil {
		return nil, err
	}
	DedupOwners(obj, false, o.Warn.Add)
	if !o.Tracked {
		s.Fields.Update(o.Resource, "", nil, obj, o.Manager)
	}
	a := o.Attributes(admission.Create, obj, nil)
	a.Name = obj.GetName() // empty as long as it is to be generated (L-68)
	if err := fieldmanager.Guard(obj, o.Warn.Add, func() error { return s.Admission.Admit(ctx, a) }); err != nil {
		return nil, err
	}
	DedupOwners(obj, true, o.Warn.Add)
	if err := MatchNamespace(o.Resource, obj, o.Namespace); err != nil { // a plugin may have changed it
		return nil, err
	}
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		return s.createNamed(ctx, o, obj, a.Name)
	}
	const attempts = 8
	var err error
	for range attempts {
		var out *storage.Object
		out, err = s.createNamed(ctx, o, obj.DeepCopyObject().(Object), a.Name)
		if err == nil || !apierrors.IsAlreadyExists(err) {
			return out, err
		}
	}
	return nil, err
}

// createNamed is one attempt for one name: system fields, strategy, validation, commit. asked is the name that the
// client sent, empty if the name is generated.
func (s *Registry) createNamed(ctx context.Context, o *Operation, obj Object, asked string) (*storage.Object, error) {
	fillSystemFields(obj, s.Now())
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(generatedName(obj.GetGenerateName()))
	}
	revision := obj.GetResourceVersion()
	if w := o.Resource.Strategy.EarlyWarnings; w != nil {
		for _, message := range w(obj) {
			o.Warn.Add(message)
		}
	}
	named := *o
	named.Name = obj.GetName()
	return s.begun(ctx, &named, obj, nil, func(o *Operation, obj Object) (*storage.Object, error) {
		return s.storeNew(ctx, o, obj, asked, revision)
	})
}

// storeNew prepares, validates, admits and commits a new object. asked is the name and revision the resourceVersion
// that the client sent.
func (s *Registry) storeNew(ctx context.Context, o *Operation, obj Object, asked, revision string) (
	out *storage.Object, err error) {
	prepareCreate(o.Resource, obj)
	if f := o.Resource.Strategy.Requester; f != nil {
		f(obj, o.User.Name, o.User.UID, o.User.Groups, o.User.Extra)
	}
	if err := validateNew(o.Resource, obj); err != nil {
		return nil, err
	}
	o.warnOf(obj, nil)
	if o.MayCreate != nil {
		if err := o.MayCreate(); err != nil {
			return nil, err
		}
	}
	a := o.Attributes(admission.Create, obj, nil)
	if asked != "" { // a plugin may have changed it (AS pkg/registry/rest/create.go: AdmissionToValidateObjectFunc)
		a.Name = asked
	}
	defer func() { undone(a, err) }()
	if err := s.Admission.Validate(ctx, a); err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(revision, 10, 64); err == nil && n != 0 && !o.DryRun {
		return nil, status.ErrCreateRevision
	}
	return s.insert(ctx, o, obj)
}

// insert commits a new object if its name is free.
func (s *Registry) insert(ctx context.Context, o *Operation, obj Object) (*storage.Object, error) {
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	value, err := o.encode(obj)
	if err != nil {
		return nil, err
	}
	key := o.Key(s.Root)
	out := s.decoded(o, key, value, 0)
	if o.DryRun {
		cur, err := s.Load(ctx, key)
		if err != nil || cur == nil {
			return out, err
		}
		return nil, o.exists(obj, cur)
	}
	out, err = s.put(ctx, o, storage.Txn{Key: key, Value: value}, obj, out)
	var lost *storage.ConflictError
	if errors.As(err, &lost) {
		if lost.Guard != nil { // the caller that set the guard retries
			return nil, err
		}
		return nil, o.exists(obj, s.Decoder.Decode(lost.Current))
	}
	return out, err
}

// exists is error 0-03 or, for a generated name, 0-04.
func (o *Operation) exists(obj Object, cur *storage.Object) error {
	var err *apierrors.StatusError
	if obj.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(o.Resource.GroupResource(), obj.GetName(), 1)
	} else {
		err = apierrors.NewAlreadyExists(o.Resource.GroupResource(), obj.GetName())
	}
	if cur.Meta.Deleting() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
