package usage

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Write is a write that is checked against quotas.
type Write struct {
	Resource    schema.GroupResource
	Subresource string
	// Object is the new state, Old the stored one, nil for a create. They are of the stored version's type.
	Object, Old runtime.Object
	// Now is the time that determines whether a terminating pod should be gone.
	Now time.Time
}

// Counts reports whether the write can change the usage (Evaluator.Handles).
func (w Write) Counts() bool {
	create := w.Old == nil
	switch w.Resource {
	case pods:
		switch w.Subresource {
		case "":
			return create || terminating(w.Old.(*corev1.Pod)) != terminating(w.Object.(*corev1.Pod))
		case "resize":
			return !create
		}
		return false
	case services, claims:
		return w.Subresource == "" || w.Subresource == "status" && !create
	case devices:
		return w.Subresource == ""
	}
	return create && w.Subresource == "" && !Ignored(w.Resource)
}

// CheckRequest returns the usage that a write adds to each quota, by the quota's name; quotas without additional usage
// are omitted. The error names the quota that denies the write, or the reason why a quota can't be checked (AS
// pkg/admission/plugin/resourcequota/controller.go: CheckRequest). Quotas are checked in the given order.
func CheckRequest(quotas []*corev1.ResourceQuota, w Write) (map[string]corev1.ResourceList, error) {
	if !w.Counts() {
		return nil, nil
	}
	k := kindOf(w.Resource)
	var matching []*corev1.ResourceQuota
	for _, q := range quotas {
		limited := k.of(Names(q.Status.Hard))
		if len(limited) == 0 || !k.within(&q.Spec, w.Object) {
			continue
		}
		if err := k.missing(limited, w.Object); err != nil {
			return nil, fmt.Errorf("failed quota: %s: %w", q.Name, err)
		}
		for _, name := range limited {
			if _, ok := q.Status.Used[name]; !ok {
				return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, joined(limited))
			}
		}
		matching = append(matching, q)
	}
	if len(matching) == 0 {
		return nil, nil
	}
	return k.checkRequest(matching, w)
}

// checkRequest checks the quotas that match the object.
func (k kind) checkRequest(matching []*corev1.ResourceQuota, w Write) (map[string]corev1.ResourceList, error) {
	whole := k.usage(w.Object, w.Now)
	out := map[string]corev1.ResourceList{}
	for _, q := range matching {
		had := corev1.ResourceList{}
		if w.Old != nil && k.within(&q.Spec, w.Old) {
			had = k.usage(w.Old, w.Now)
		}
		added := Only(more(whole, had), Names(q.Status.Hard))
		if len(added) == 0 {
			continue
		}
		if w.Subresource != "status" {
			if err := exceeds(q, added); err != nil {
				return nil, err
			}
		}
		out[q.Name] = added
	}
	return out, nil
}

func exceeds(q *corev1.ResourceQuota, added corev1.ResourceList) error {
	var over []corev1.ResourceName
	for _, name := range Names(added) {
		sum := q.Status.Used[name].DeepCopy()
		sum.Add(added[name])
		if sum.Cmp(q.Status.Hard[name]) > 0 {
			over = append(over, name)
		}
	}
	if len(over) == 0 {
		return nil
	}
	return fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
		q.Name, printed(Only(added, over)), printed(Only(q.Status.Used, over)), printed(Only(q.Status.Hard, over)))
}

// Add returns the sum of the usage and an addition.
func Add(used, added corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	add(out, used)
	add(out, added)
	return out
}

// Subtract returns the usage without an addition, for names that are still counted, and at least zero.
func Subtract(used, added corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range used {
		rest := q.DeepCopy()
		rest.Sub(added[name])
		if rest.Sign() < 0 {
			rest = number(0)
		}
		out[name] = rest
	}
	return out
}
