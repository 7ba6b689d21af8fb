package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Scaling returns the new Scale for the current one.
type Scaling func(*autoscalingv1.Scale, *fieldmanager.Scaling) (*autoscalingv1.Scale, error)

// GetScale returns the Scale of an object. The table of types has the paths of the Scale's fields, so GetScale works
// for custom resources, too. The object must have a number of replicas.
func (s *Registry) GetScale(ctx context.Context, t Target, revision string) (*autoscalingv1.Scale, error) {
	cur, err := s.Get(ctx, t, revision)
	if r := t.Subresource.Absent; err != nil && !r.Empty() && apierrors.IsNotFound(status.Error(err)) {
		// K pkg/registry/apps/deployment/storage/storage.go: ScaleREST.Get
		return nil, apierrors.NewNotFound(r, t.Name)
	}
	if err != nil {
		return nil, err
	}
	obj, err := Decode(t.Resource, cur)
	if err != nil {
		return nil, err
	}
	sc, found, err := t.scaleOf(obj)
	if err == nil && !found {
		err = apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist",
			"."+t.Subresource.ScalePaths.Replicas))
	}
	return sc, err
}

// Scale writes an object's number of replicas and returns the new Scale. The change has no manager, because next sets
// the managedFields.
func (s *Registry) Scale(ctx context.Context, c *Change, next Scaling) (*autoscalingv1.Scale, error) {
	shape := &scaleShape{t: c.Target}
	by := rules{plugins: &s.Admission, validate: validateChange, shape: shape}
	out, err := s.update(ctx, c, by, func(old Object) (Object, error) {
		shape.changed = nil
		return s.scaled(c.Target, old, next)
	})
	if err != nil {
		return nil, err
	}
	obj, err := Decode(c.Resource, out)
	if err != nil {
		return nil, err
	}
	sc, _, err := c.scaleOf(obj)
	if err != nil {
		return nil, status.BadRequest("%v", err)
	}
	return sc, nil
}

// ReplacedScale returns the Scaling of a PUT with the body sc.
func (s *Registry) ReplacedScale(r *Request, sc *autoscalingv1.Scale, manager string) Scaling {
	return func(cur *autoscalingv1.Scale, fields *fieldmanager.Scaling) (*autoscalingv1.Scale, error) {
		if sc.UID != "" && sc.UID != cur.UID { // B-44
			return nil, r.precondition(s.Root, "UID", sc.UID, cur.UID)
		}
		return fields.Update(cur, sc.DeepCopy(), manager), nil
	}
}

// PatchedScale returns the Scaling of a PATCH.
func (t Target) PatchedScale(p codec.Patch) Scaling {
	return func(cur *autoscalingv1.Scale, fields *fieldmanager.Scaling) (*autoscalingv1.Scale, error) {
		if p.Kind == types.ApplyYAMLPatchType {
			sc, err := fields.Apply(cur, p.Bytes, p.Manager, p.Force, p.Strictness, p.Warn)
			if err != nil {
				return nil, err
			}
			return sc, t.matches(sc)
		}
		obj, err := p.Apply(cur, t.Subresource.Kind, nil)
		if err != nil {
			return nil, err
		}
		sc := obj.(*autoscalingv1.Scale)
		if err := fieldmanager.CheckEntries(sc); err != nil {
			return nil, err
		}
		sc = fields.Update(cur, sc, p.Manager)
		return sc, t.matches(sc)
	}
}

// noReplicas is the number of replicas in the current Scale if the object has none. A write must replace it.
const noReplicas = math.MinInt32

// scaled returns the object with the replicas of its new Scale (AX pkg/registry/customresource/etcd.go and K
// pkg/registry/apps/deployment/storage/storage.go: scaleUpdatedObjectInfo).
func (s *Registry) scaled(t Target, old Object, next Scaling) (Object, error) {
	cur, found, err := t.scaleOf(old)
	if err != nil {
		return nil, err
	}
	if !found {
		cur.Spec.Replicas = noReplicas
	}
	fields, err := s.Fields.Scaling(t.Resource, old)
	if err != nil {
		return nil, err
	}
	cur.SetManagedFields(fields.Shown())
	sc, err := next(cur, fields)
	if err != nil {
		return nil, err
	}
	entries, err := fields.Entries(sc)
	if err != nil {
		return nil, err
	}
	if err := t.checkScale(sc, old.GetUID()); err != nil {
		return nil, err
	}
	obj, err := t.withReplicas(old, sc.Spec.Replicas)
	if err != nil {
		return nil, err
	}
	if sc.ResourceVersion != "" {
		obj.SetResourceVersion(sc.ResourceVersion)
	}
	obj.SetManagedFields(entries)
	return obj, nil
}

// withReplicas returns the object with the number of replicas. It may modify and return old.
func (t Target) withReplicas(old Object, n int32) (Object, error) {
	content, err := contentOf(old)
	if err != nil {
		return nil, err
	}
	path := strings.Split(t.Subresource.ScalePaths.Replicas, ".")
	if err := unstructured.SetNestedField(content, int64(n), path...); err != nil || t.Resource.Custom {
		return old, err // content is the content of old
	}
	next := reflect.New(reflect.TypeOf(old).Elem()).Interface().(Object)
	return next, runtime.DefaultUnstructuredConverter.FromUnstructured(content, next)
}

// checkScale validates a new Scale: its metadata, which is not stored, and its number of replicas. A patch that sets
// another uid gets the conflict here, because it has no precondition (B-57; K registry/apps/deployment/storage). For a
// custom resource, only the object is validated, not the metadata of the Scale.
func (t Target) checkScale(sc *autoscalingv1.Scale, uid types.UID) error {
	if sc.Spec.Replicas == noReplicas {
		return status.BadRequest("the spec replicas field %q cannot be empty", "."+t.Subresource.ScalePaths.Replicas)
	}
	if t.Resource.Custom {
		return nil
	}
	errs := apivalidation.ValidateObjectMetaAccessor(
		&sc.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, metadataPath)
	errs = append(errs, validateFinalizerNames(sc)...)
	if sc.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), sc.Spec.Replicas,
			"must be greater than or equal to 0"))
	}
	if len(errs) > 0 {
		return invalid.New(t.Subresource.Kind.GroupKind(), t.Name, errs)
	}
	if sc.UID != "" && sc.UID != uid {
		scales := schema.GroupResource{Group: t.Resource.Group, Resource: t.Resource.Plural + "/scale"}
		return apierrors.NewConflict(scales, t.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sc.UID, uid))
	}
	return nil
}

// contentOf returns an object as a tree of JSON values.
func contentOf(obj Object) (map[string]any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// scaleOf returns the Scale of an object, and reports whether the object has a number of replicas.
func (t Target) scaleOf(obj Object) (sc *autoscalingv1.Scale, found bool, err error) {
	p, kind := t.Subresource.ScalePaths, t.Subresource.Kind
	content, err := contentOf(obj)
	if err != nil {
		return nil, false, err
	}
	sc = &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: kind.Kind, APIVersion: kind.GroupVersion().String()},
		ObjectMeta: metav1.ObjectMeta{Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp()},
	}
	if sc.Spec.Replicas, found, err = replicasAt(content, p.Replicas); err != nil {
		return nil, false, err
	}
	if sc.Status.Replicas, _, err = replicasAt(content, p.StatusReplicas); err != nil {
		return nil, false, err
	}
	sc.Status.Selector, err = selectorAt(content, p.Selector)
	return sc, found, err
}

func replicasAt(content map[string]any, path string) (n int32, found bool, err error) {
	number, found, err := unstructured.NestedInt64(content, strings.Split(path, ".")...)
	return int32(number), found, err
}

// selectorAt returns a selector as a string. The stored selector is a string (custom resources), a set of labels
// (replication controllers) or a LabelSelector.
func selectorAt(content map[string]any, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...)
	if !found || err != nil {
		return "", err
	}
	if selector, ok := v.(string); ok {
		return selector, nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	set := map[string]string{}
	if json.Unmarshal(data, &set) == nil {
		return labels.Set(set).String(), nil
	}
	var ls metav1.LabelSelector
	if err := json.Unmarshal(data, &ls); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	sel, err := metav1.LabelSelectorAsSelector(&ls)
	if err != nil {
		return "", err
	}
	return sel.String(), nil
}

// scaleShape implements admission.Shape for one attempt: webhooks and policies get the object's Scale (L-17).
type scaleShape struct {
	t Target
	// changed is the Scale after the last change, or nil without a change.
	changed *autoscalingv1.Scale
}

// Show implements admission.Shape.
func (s *scaleShape) Show(obj runtime.Object) (runtime.Object, error) {
	sc, _, err := s.t.scaleOf(obj.(Object))
	return sc, err
}

// Put implements admission.Shape. Only the number of replicas is stored.
func (s *scaleShape) Put(obj, shown runtime.Object) error {
	sc := shown.(*autoscalingv1.Scale)
	next, err := s.t.withReplicas(obj.DeepCopyObject().(Object), sc.Spec.Replicas)
	if err == nil {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(next).Elem())
		s.changed = sc
	}
	return err
}

// Check implements admission.Shape. It validates the changed Scale like one that a client sends, because upstream
// validates the Scale after mutation (K pkg/registry/apps/deployment/storage/storage.go: scaleUpdatedObjectInfo).
func (s *scaleShape) Check(obj runtime.Object) error {
	if s.changed == nil {
		return nil
	}
	to := obj.(Object)
	if s.changed.ResourceVersion != "" {
		to.SetResourceVersion(s.changed.ResourceVersion)
	}
	return s.t.checkScale(s.changed, to.GetUID())
}
