package apiserver

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
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

	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/patch"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// serveScale reads and writes an object's number of replicas as a Scale. Where the numbers stand
// is in the table, so it serves custom resources as well.
func (s *Server) serveScale(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	var next scaling
	switch q.verb {
	case "get":
		o, err := s.registry.Get(q.r.Context(), &q.Operation, queryOf(q.r).Get("resourceVersion"))
		if err != nil {
			return err
		}
		obj, err := q.Decode(o)
		if err != nil {
			return err
		}
		return q.answerScale(x, obj)
	case "update":
		next, err = q.replaceScale()
	default:
		next, err = q.patchScale()
	}
	if err != nil {
		return err
	}
	q.Tracked = true
	out, err := s.registry.Update(q.r.Context(), &q.Operation, func(old registry.Object) (registry.Object, error) { return q.scaled(old, next) })
	if err != nil {
		return err
	}
	obj, err := q.Decode(out)
	if err != nil {
		return err
	}
	sc, _, err := scaleOf(q.Subresource.ScalePaths, obj)
	if err != nil {
		return status.BadRequest("%v", err)
	}
	return q.answerOther(x, http.StatusOK, sc)
}

// answerScale shows an object that is read. Its number of replicas has to be there.
func (q *request) answerScale(x *render.Rendering, obj registry.Object) error {
	sc, found, err := scaleOf(q.Subresource.ScalePaths, obj)
	if err == nil && !found {
		err = apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", "."+q.Subresource.ScalePaths.Replicas))
	}
	if err != nil {
		return err
	}
	return q.answerOther(x, http.StatusOK, sc)
}

// scaling makes a new Scale out of the one that is shown now.
type scaling func(*autoscalingv1.Scale, *apply.Scaling) (*autoscalingv1.Scale, error)

// replaceScale is PUT: the body is the new Scale.
func (q *request) replaceScale() (scaling, error) {
	b, o, err := q.replacement()
	if err != nil {
		return nil, err
	}
	q.DryRun, q.Manager = registry.IsDryRun(o.DryRun), q.managerOr(o.FieldManager)
	obj, err := q.other(b, render.ScaleKind)
	if err != nil && q.Resource.Custom {
		// Upstream looks for the kind where there are none to word the error (AS handlers/rest.go:
		// transformDecodeError with AX pkg/apiserver/customresource_handler.go: newUnstructuredObjectTyper).
		return nil, status.BadRequest("no kind is registered for the type v1.Scale in scheme %q", codec.SchemeName)
	}
	if err != nil {
		return nil, err
	}
	sc := obj.(*autoscalingv1.Scale)
	if err := registry.MatchNamespace(q.Resource, sc, q.Namespace); err != nil {
		return nil, err
	}
	if err := codec.CheckManagers(sc); err != nil {
		return nil, err
	}
	return func(cur *autoscalingv1.Scale, fields *apply.Scaling) (*autoscalingv1.Scale, error) {
		if sc.UID != "" && sc.UID != cur.UID { // B-44
			return nil, q.UidPrecondition(q.s.registry.Root, sc, cur.UID)
		}
		return fields.Update(cur, sc.DeepCopy(), q.Manager), nil
	}, q.CheckName(sc)
}

// patchScale is PATCH of the Scale that is shown now.
func (q *request) patchScale() (scaling, error) {
	p, err := q.patch()
	if err != nil {
		return nil, err
	}
	return func(cur *autoscalingv1.Scale, fields *apply.Scaling) (*autoscalingv1.Scale, error) {
		sc, err := q.patchedScale(cur, fields, &p)
		if err != nil {
			return nil, err
		}
		if err := registry.MatchNamespace(q.Resource, sc, q.Namespace); err != nil { // B-62
			return nil, err
		}
		return sc, q.CheckName(sc)
	}, nil
}

func (q *request) patchedScale(cur *autoscalingv1.Scale, fields *apply.Scaling, p *patch.Patch) (*autoscalingv1.Scale, error) {
	if p.Kind == types.ApplyYAMLPatchType {
		return fields.Apply(cur, p.Bytes, q.Manager, p.Force, p.Strictness, p.Warn)
	}
	obj, err := p.Apply(cur, render.ScaleKind, nil)
	if err != nil {
		return nil, err
	}
	if err := codec.CheckManagers(obj.(*autoscalingv1.Scale)); err != nil {
		return nil, err
	}
	return fields.Update(cur, obj.(*autoscalingv1.Scale), q.Manager), nil
}

// noReplicas is the number that a Scale shows to a write if the object has none: the write has to bring one.
const noReplicas = math.MinInt32

// scaled writes a Scale's replicas into the object it belongs to (AX pkg/registry/customresource/etcd.go and K
// pkg/registry/apps/deployment/storage/storage.go: scaleUpdatedObjectInfo).
func (q *request) scaled(old registry.Object, next scaling) (registry.Object, error) {
	cur, found, err := scaleOf(q.Subresource.ScalePaths, old)
	if err != nil {
		return nil, err
	}
	if !found {
		cur.Spec.Replicas = noReplicas
	}
	fields, err := q.s.registry.Fields.Scaling(q.Resource, old)
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
	if err := q.checkScale(sc, old.GetUID()); err != nil {
		return nil, err
	}
	obj, err := q.withReplicas(old, sc.Spec.Replicas)
	if err != nil {
		return nil, err
	}
	if sc.ResourceVersion != "" {
		obj.SetResourceVersion(sc.ResourceVersion)
	}
	obj.SetManagedFields(entries)
	return obj, nil
}

func (q *request) withReplicas(old registry.Object, n int32) (registry.Object, error) {
	content, err := contentOf(old)
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(content, int64(n), strings.Split(q.Subresource.ScalePaths.Replicas, ".")...); err != nil {
		return nil, err
	}
	return q.FromContent(content)
}

// checkScale validates a new Scale: its metadata, of which nothing is stored, and its number; a patch that
// names a uid is told so here, as it has no precondition (B-57; K registry/apps/deployment/storage). A custom
// resource's is validated with the object, and its metadata isn't.
func (q *request) checkScale(sc *autoscalingv1.Scale, uid types.UID) error {
	if sc.Spec.Replicas == noReplicas {
		return status.BadRequest("the spec replicas field %q cannot be empty", "."+q.Subresource.ScalePaths.Replicas)
	}
	if q.Resource.Custom {
		return nil
	}
	errs := invalid.Metadata(&sc.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, registry.MetadataPath)
	errs = append(errs, registry.ValidateFinalizerNames(sc)...)
	if sc.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), sc.Spec.Replicas, "must be greater than or equal to 0"))
	}
	if len(errs) > 0 {
		return invalid.New(render.ScaleKind.GroupKind(), q.Name, errs)
	}
	if sc.UID != "" && sc.UID != uid {
		return apierrors.NewConflict(schema.GroupResource{Group: q.Resource.Group, Resource: q.Resource.Plural + "/scale"}, q.Name,
			//lint:ignore ST1005 it is what clients see
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", sc.UID, uid))
	}
	return nil
}

// contentOf is an object as a tree of JSON values.
func contentOf(obj registry.Object) (map[string]any, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// scaleOf shows an object as a Scale, and reports whether the object has a number of replicas.
func scaleOf(p resources.ScalePaths, obj registry.Object) (sc *autoscalingv1.Scale, found bool, err error) {
	content, err := contentOf(obj)
	if err != nil {
		return nil, false, err
	}
	sc = &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: render.ScaleKind.Kind, APIVersion: render.ScaleKind.GroupVersion().String()},
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

// selectorAt prints what a selector may be: a string (custom resources), a set of labels
// (replication controllers) or a LabelSelector.
func selectorAt(content map[string]any, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...)
	if !found || err != nil {
		return "", err
	}
	if text, ok := v.(string); ok {
		return text, nil
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
