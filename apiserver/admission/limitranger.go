package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kubecascade/kubecascade/usage"
)

// LimitRanger sets the namespace's default requests and limits in containers, and rejects pods and claims that exceed
// its limits (K plugin/pkg/admission/limitranger).
//
// Upstream returns the errors of a container in map order. Here they are ordered by the name of the resource.
type LimitRanger struct {
	// Ranges returns the limit ranges of a namespace. Callers must not change them.
	Ranges func(ctx context.Context, namespace string) ([]*corev1.LimitRange, error)
}

// limitAnnotation lists the values that the plugin has set.
const limitAnnotation = "kubernetes.io/limit-ranger"

// Admit sets the defaults of pods.
func (l *LimitRanger) Admit(ctx context.Context, a *Attributes) error {
	pod, ok := a.Object.(*corev1.Pod)
	if !ok || a.Operation != Create {
		return nil
	}
	return l.each(ctx, a, func(r *corev1.LimitRange) error {
		defaultResources(pod, r)
		return nil
	})
}

// Validate validates pods and claims.
func (l *LimitRanger) Validate(ctx context.Context, a *Attributes) error {
	switch obj := a.Object.(type) {
	case *corev1.Pod:
		return l.each(ctx, a, func(r *corev1.LimitRange) error { return limitPod(&obj.Spec, r) })
	case *corev1.PersistentVolumeClaim:
		return l.each(ctx, a, func(r *corev1.LimitRange) error { return limitClaim(obj.Spec.Resources.Requests, r) })
	}
	return nil
}

// each calls limit with every limit range that applies to a request, until one returns an error.
func (l *LimitRanger) each(ctx context.Context, a *Attributes, limit func(*corev1.LimitRange) error) error {
	if !limited(a) {
		return nil
	}
	ranges, err := l.Ranges(ctx, a.Namespace)
	if err != nil {
		return fmt.Errorf("looking up limit ranges of %s: %w", a.Namespace, err)
	}
	for _, r := range ranges {
		if err := limit(r); err != nil {
			return Forbidden(a, err)
		}
	}
	return nil
}

// limited reports whether the request is subject to limits. Only a resize can change a pod's resources, and an object
// that is being deleted has no limits (SupportsAttributes, runLimitFunc).
func limited(a *Attributes) bool {
	if a.Operation != Create && a.Operation != Update {
		return false
	}
	if a.Old != nil {
		if m, err := meta.Accessor(a.Old); err == nil && m.GetDeletionTimestamp() != nil {
			return false
		}
	}
	if _, pod := a.Object.(*corev1.Pod); pod && a.Operation == Update {
		return a.Subresource == "resize"
	}
	return a.Subresource == ""
}

// defaultResources sets the missing requests and limits of a pod's containers, and lists them in an annotation.
func defaultResources(pod *corev1.Pod, r *corev1.LimitRange) {
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range r.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			override(limits, item.Default)
			override(requests, item.DefaultRequest)
		}
	}
	var notes []string
	each := func(list []corev1.Container, kind string) {
		for i := range list {
			res := &list[i].Resources
			for _, part := range []struct {
				name     string
				list     *corev1.ResourceList
				defaults corev1.ResourceList
			}{{"request", &res.Requests, requests}, {"limit", &res.Limits, limits}} {
				if set := fillIn(part.list, part.defaults); len(set) > 0 {
					notes = append(notes, fmt.Sprintf("%s %s for %s %s", strings.Join(set, ", "), part.name, kind, list[i].Name))
				}
			}
		}
	}
	each(pod.Spec.Containers, "container")
	each(pod.Spec.InitContainers, "init container")
	if len(notes) == 0 {
		return
	}
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, limitAnnotation, "LimitRanger plugin set: "+strings.Join(notes, "; "))
}

func override(list, with corev1.ResourceList) {
	for name, q := range with {
		list[name] = q.DeepCopy()
	}
}

// fillIn adds the missing defaults to list, and returns their names in order.
func fillIn(list *corev1.ResourceList, defaults corev1.ResourceList) (set []string) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	for name, q := range defaults {
		if _, ok := (*list)[name]; !ok {
			(*list)[name] = q.DeepCopy()
			set = append(set, string(name))
		}
	}
	slices.Sort(set)
	return set
}

// limitPod validates each container and the pod as a whole.
func limitPod(s *corev1.PodSpec, r *corev1.LimitRange) error {
	var errs []error
	for _, item := range r.Spec.Limits {
		switch item.Type {
		case corev1.LimitTypeContainer:
			for _, list := range [][]corev1.Container{s.Containers, s.InitContainers} {
				for i := range list {
					errs = append(errs, within(&item, list[i].Resources.Requests, list[i].Resources.Limits)...)
				}
			}
		case corev1.LimitTypePod:
			errs = append(errs, within(&item, usage.Requests(s), usage.Limits(s))...)
		}
	}
	return utilerrors.NewAggregate(errs)
}

// limitClaim validates the requests of a claim. Claims have no limits.
func limitClaim(requests corev1.ResourceList, r *corev1.LimitRange) error {
	var errs []error
	for _, item := range r.Spec.Limits {
		if item.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		for _, name := range usage.Names(item.Min) {
			errs = append(errs, bounded(-1, item.Type, name, item.Min[name], amounts{"request", requests}))
		}
		for _, name := range usage.Names(item.Max) {
			errs = append(errs, bounded(1, item.Type, name, item.Max[name], amounts{"request", requests}))
		}
	}
	return utilerrors.NewAggregate(errs)
}

// within validates requests and limits against one item. The result may contain nils.
func within(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) (errs []error) {
	request, limit := amounts{"request", requests}, amounts{"limit", limits}
	for _, name := range usage.Names(item.Min) {
		errs = append(errs, bounded(-1, item.Type, name, item.Min[name], request, limit))
	}
	for _, name := range usage.Names(item.Max) {
		errs = append(errs, bounded(1, item.Type, name, item.Max[name], limit, request))
	}
	for _, name := range usage.Names(item.MaxLimitRequestRatio) {
		errs = append(errs, inRatio(item.Type, name, item.MaxLimitRequestRatio[name], requests, limits))
	}
	return errs
}

// amounts are requests or limits. kind is their name in messages.
type amounts struct {
	kind string
	list corev1.ResourceList
}

// bounded returns an error if an amount is less than a minimum (beyond is -1) or greater than a maximum (beyond is 1).
// The first list must have an amount.
func bounded(
	beyond int, t corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, lists ...amounts,
) error {
	which := "minimum"
	if beyond > 0 {
		which = "maximum"
	}
	rule := fmt.Sprintf("%s %s usage per %s is %s", which, name, t, bound.String())
	for i, l := range lists {
		q, given := l.list[name]
		switch {
		case !given && i == 0:
			return fmt.Errorf("%s.  No %s is specified", rule, l.kind)
		case given && q.Cmp(bound) == beyond:
			return fmt.Errorf("%s, but %s is %s", rule, l.kind, q.String())
		}
	}
	return nil
}

func inRatio(
	t corev1.LimitType, name corev1.ResourceName, most resource.Quantity, requests, limits corev1.ResourceList,
) error {
	request, requested := requests[name]
	limit, limited := limits[name]
	r, l := precise(request, limit, most)
	rule := fmt.Sprintf("%s max limit to request ratio per %s is %s", name, t, most.String())
	switch {
	case !requested || r == 0:
		return fmt.Errorf("%s, but no request is specified or request is 0", rule)
	case !limited || l == 0:
		return fmt.Errorf("%s, but no limit is specified or limit is 0", rule)
	}
	ratio := float64(l) / float64(r)
	// Ratios are computed in thousandths, as in upstream, so that 0.3 is three times 0.1.
	if most.Value() <= resource.MaxMilliValue && ratio*1000 > float64(most.MilliValue()) ||
		most.Value() > resource.MaxMilliValue && ratio > float64(most.Value()) {
		return fmt.Errorf("%s, but provided ratio is %f", rule, ratio)
	}
	return nil
}

// precise returns a and b in thousandths if all three quantities are small enough, otherwise their values.
func precise(a, b, c resource.Quantity) (int64, int64) {
	for _, q := range []resource.Quantity{a, b, c} {
		if q.Value() > resource.MaxMilliValue {
			return a.Value(), b.Value()
		}
	}
	return a.MilliValue(), b.MilliValue()
}
