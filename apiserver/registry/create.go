package registry

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// Creation is a request that creates an object: a POST, or a PUT or an apply of an object that does not exist.
type Creation struct {
	*Request
	// Manager is the field manager of the new object. It is empty if its managedFields are complete (apply).
	Manager string
	// Options are the options of the request: CreateOptions, UpdateOptions or PatchOptions, or nil. The options that
	// webhooks and policies get are derived from them.
	Options runtime.Object
	// MayCreate authorizes the creation if the client sent an update or an apply. A nil value allows it.
	MayCreate func() error
}

// Create stores a new object. obj is in the stored version. The write commits only if the namespace and the
// CustomResourceDefinition have not changed since admission, so that no object is created in a namespace that was
// emptied in the meantime. If one of them has changed, Create repeats all steps.
func (s *Registry) Create(ctx context.Context, c *Creation, obj Object) (*storage.Object, error) {
	for {
		guards, err := s.createGuards(c.Request, obj)
		if err != nil {
			return nil, err
		}
		if len(guards) == 0 {
			return s.createOnce(ctx, c, obj, nil)
		}
		// The first attempt uses the original: a Job's labels may share memory with its template's (batch/job.go).
		again := obj.DeepCopyObject().(Object)
		out, err := s.createOnce(ctx, c, obj, guards)
		if !guardFailed(err, guards) {
			return out, err
		}
		if err := s.Fresh(ctx); err != nil {
			return nil, err
		}
		obj = again
	}
}

// definitions is the key prefix of CustomResourceDefinitions.
const definitions = "apiextensions.k8s.io/customresourcedefinitions"

// errDefinitionTerminating is the error for a create while its CustomResourceDefinition is being deleted (F-11).
var errDefinitionTerminating = errors.New("create not allowed while custom resource definition is terminating")

// createGuards returns the current revisions of the namespace and of the CustomResourceDefinition of a new object. It
// reads them before admission does, so that the commit notices a later change. A dry run gets the same checks, but no
// guards.
func (s *Registry) createGuards(r *Request, obj Object) ([]storage.Guard, error) {
	var guards []storage.Guard
	if r.Resource.Namespaced {
		// Admission rejects the request if the namespace does not exist, unless NamespaceLifecycle is disabled.
		if ns, _ := s.Cache.Get(s.Root + "/namespaces/" + r.Namespace); ns != nil {
			guards = append(guards, storage.Guard{Key: ns.Key, ModRevision: ns.Revision})
		}
	}
	if r.Resource.Origin != "" {
		d, _ := s.Cache.Get(s.Root + "/" + definitions + "/" + r.Resource.GroupResource().String())
		switch {
		case d == nil || d.Meta.UID != r.Resource.Origin:
			return nil, status.ErrNoRoute // removed or replaced since the path was resolved
		case d.Meta.Deleting(): // F-11, also for objects that an apply would create
			return nil, apierrors.NewForbidden(r.Resource.GroupResource(), obj.GetName(), errDefinitionTerminating)
		}
		guards = append(guards, storage.Guard{Key: d.Key, ModRevision: d.Revision})
	}
	if r.DryRun {
		return nil, nil
	}
	return guards, nil
}

// createOnce makes one attempt of Create, for one state of the namespace and of the CustomResourceDefinition.
func (s *Registry) createOnce(ctx context.Context, c *Creation, obj Object, guards []storage.Guard) (
	*storage.Object, error) {
	if !c.Resource.Namespaced || !s.Admission.ReadsNamespaces() { // admission needs its newest configurations
		if err := s.Fresh(ctx); err != nil {
			return nil, err
		}
	}
	wipeSystemFields(obj)
	if err := c.MatchNamespace(obj); err != nil {
		return nil, err
	}
	if err := fieldmanager.CheckEntries(obj); err != nil {
		return nil, err
	}
	DedupOwners(obj, false, c.Warn.Add)
	if c.Manager != "" {
		s.Fields.Update(c.Resource, "", nil, obj, c.Manager)
	}
	a := c.attributes(admission.Create, obj, nil, c.Options)
	a.Name = obj.GetName() // empty if the name will be generated (L-68)
	if err := fieldmanager.Guard(obj, c.Warn.Add, func() error { return s.Admission.Admit(ctx, a) }); err != nil {
		return nil, err
	}
	DedupOwners(obj, true, c.Warn.Add)
	if err := c.MatchNamespace(obj); err != nil { // a plugin may have changed it
		return nil, err
	}
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		return s.createNamed(ctx, c, obj, a.Name, guards)
	}
	const attempts = 8
	var err error
	for range attempts {
		var out *storage.Object
		out, err = s.createNamed(ctx, c, obj.DeepCopyObject().(Object), a.Name, guards)
		if err == nil || !apierrors.IsAlreadyExists(err) {
			return out, err
		}
	}
	return nil, err
}

// createNamed tries to create the object under one name: system fields, strategy, validation, commit. requested is the
// name that the client sent. It is empty if the name is generated.
func (s *Registry) createNamed(ctx context.Context, c *Creation, obj Object, requested string, guards []storage.Guard) (
	*storage.Object, error) {
	fillSystemFields(obj, s.Now())
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(names.SimpleNameGenerator.GenerateName(obj.GetGenerateName()))
	}
	revision := obj.GetResourceVersion()
	if w := c.Resource.Strategy.EarlyWarnings; w != nil {
		for _, message := range w(obj) {
			c.Warn.Add(message)
		}
	}
	return s.withHooks(ctx, c.Request, candidate{obj: obj, guards: guards}, nil,
		func(next candidate) (*storage.Object, error) { return s.storeNew(ctx, c, next, requested, revision) })
}

// storeNew prepares, validates, admits and commits a new object. requested and revision are the name and the
// resourceVersion that the client sent.
func (s *Registry) storeNew(ctx context.Context, c *Creation, next candidate, requested, revision string) (
	out *storage.Object, err error) {
	prepareCreate(c.Resource, next.obj)
	if f := c.Resource.Strategy.Requester; f != nil {
		f(next.obj, c.User.Name, c.User.UID, c.User.Groups, c.User.Extra)
	}
	if err := validateNew(c.Resource, next.obj); err != nil {
		return nil, err
	}
	c.warnOf(next.obj, nil)
	if c.MayCreate != nil {
		if err := c.MayCreate(); err != nil {
			return nil, err
		}
	}
	a := c.attributes(admission.Create, next.obj, nil, c.Options)
	a.Validated = next.validated
	// A plugin may have changed the name (AS pkg/registry/rest/create.go: AdmissionToValidateObjectFunc).
	a.Name = cmp.Or(requested, next.obj.GetName())
	defer func() { reportFailure(a, err) }()
	if err := s.Admission.Validate(ctx, a); err != nil {
		return nil, err
	}
	if n, err := strconv.ParseUint(revision, 10, 64); err == nil && n != 0 && !c.DryRun {
		return nil, status.ErrCreateRevision
	}
	return s.insert(ctx, c, next)
}

// insert commits a new object if no object has its key.
func (s *Registry) insert(ctx context.Context, c *Creation, next candidate) (*storage.Object, error) {
	next.obj.SetResourceVersion("")
	next.obj.SetSelfLink("")
	value, err := encode(c.Resource, next.obj)
	if err != nil {
		return nil, err
	}
	key := Target{Resource: c.Resource, Namespace: c.Namespace, Name: next.obj.GetName()}.Key(s.Root)
	out := s.decoded(c.Resource, key, value, 0)
	if c.DryRun {
		cur, err := s.Load(ctx, key)
		if err != nil || cur == nil {
			return out, err
		}
		return nil, c.exists(next.obj, cur)
	}
	t := storage.Txn{Key: key, Value: value, Guards: next.guards}
	out, err = s.put(ctx, c.Resource, t, next.obj, c.Manager, out)
	var conflict *storage.ConflictError
	if errors.As(err, &conflict) {
		if conflict.Guard != nil { // the caller that set the guard retries
			return nil, err
		}
		return nil, c.exists(next.obj, s.Decoder.Decode(conflict.Current))
	}
	return out, err
}

// exists returns the error 0-03 or, for a generated name, 0-04.
func (c *Creation) exists(obj Object, cur *storage.Object) error {
	var err *apierrors.StatusError
	if obj.GetGenerateName() != "" {
		err = apierrors.NewGenerateNameConflict(c.Resource.GroupResource(), obj.GetName(), 1)
	} else {
		err = apierrors.NewAlreadyExists(c.Resource.GroupResource(), obj.GetName())
	}
	if cur.Meta.Deleting() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}
