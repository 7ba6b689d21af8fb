package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/finalizers"
)

// wipeSystemFields resets the fields of a new object that a client can't set.
func wipeSystemFields(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// fillSystemFields sets the uid and creationTimestamp of a new object.
func fillSystemFields(m metav1.Object, now time.Time) {
	m.SetCreationTimestamp(metav1.Time{Time: now.UTC().Truncate(time.Second)})
	m.SetUID(uuid.NewUUID())
}

// metadataPath is the field path of metadata in errors.
var metadataPath = field.NewPath("metadata")

// validateMeta applies the kind's rules for metadata on create: the name is required, the rules for names and
// generateName, the namespace and, for core-validated kinds, the rule for finalizers without a
// prefix.
func validateMeta(res *resources.Resource, m Object) field.ErrorList {
	if res.Strategy.Metadata.Plain {
		return nil
	}
	errs := apivalidation.ValidateObjectMetaAccessor(m, res.Namespaced, res.NameRule(m), metadataPath)
	if res.Strategy.Metadata.Custom {
		return errs
	}
	return append(errs, validateFinalizerNames(m)...)
}

// standardFinalizers need no prefix.
var standardFinalizers = map[string]bool{"kubernetes": true, finalizers.Orphan: true, finalizers.Foreground: true}

// validateFinalizerNames returns an error for each finalizer without a domain that is not one of Kubernetes'.
func validateFinalizerNames(m metav1.Object) (errs field.ErrorList) {
	for i, f := range m.GetFinalizers() {
		if !strings.Contains(f, "/") && !standardFinalizers[f] {
			errs = append(errs, field.Invalid(metadataPath.Child("finalizers").Index(i), f,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// validateNew validates a new object: first by the kind's own rules and, if these report nothing, by the generic rules
// for metadata. If declarative validation reports an error for a field, the same error of validateMeta is
// dropped (V-036).
func validateNew(res *resources.Resource, obj Object) error {
	errs := validateMeta(res, obj)
	if res.Strategy.Validate != nil {
		own := res.Strategy.Validate(obj, nil)
		errs = slices.DeleteFunc(errs, func(meta *field.Error) bool {
			return slices.ContainsFunc(own, func(e *field.Error) bool {
				return e.IsBeta() && e.Type == meta.Type && e.Field == meta.Field
			})
		})
		errs = append(errs, own...)
	}
	if len(errs) == 0 {
		errs = apivalidation.ValidateObjectMetaAccessor(
			obj, res.Namespaced, path.ValidatePathSegmentName, metadataPath,
		)
	}
	return invalidObject(res, obj, errs)
}

// validateChange validates an update by the generic rules for metadata and by the kind's own rules (A-20, B-16). Owners
// may change at any time (B-18). The kind's own rules include those for metadata, so causes are repeated.
func validateChange(t Target, obj, old Object) field.ErrorList {
	res, sub := t.Resource, t.Subresource
	errs := validateMetaChange(t, obj, old)
	switch {
	case sub != nil && sub.ValidateUpdate != nil:
		errs = append(errs, sub.ValidateUpdate(obj, old)...)
	case sub == nil:
		if n := res.Strategy.Metadata.Again; n > 0 {
			errs = append(errs, slices.Repeat(validateMeta(res, obj), n)...)
		}
		if res.Strategy.Validate != nil {
			errs = append(errs, res.Strategy.Validate(obj, old)...)
		}
	}
	return errs
}

// validateMetaChange applies the rules for metadata that all kinds share.
func validateMetaChange(t Target, m, old Object) field.ErrorList {
	res := t.Resource
	errs := apivalidation.ValidateObjectMetaAccessor(m, res.Namespaced, path.ValidatePathSegmentName, metadataPath)
	fixed := apivalidation.ValidateObjectMetaAccessorUpdate(m, old, metadataPath) // B-12 to B-15: immutable fields
	errs = append(errs, fixed...)
	if !res.Strategy.Metadata.Plain {
		errs = append(errs, fixed...) // upstream checks them twice and reports them twice
		if !res.Strategy.Metadata.Custom {
			errs = append(errs, validateFinalizerNames(m)...)
		}
	}
	return errs
}

// invalidObject returns the error 422 for an object. The error names the kind, not the resource (0-06).
func invalidObject(res *resources.Resource, m metav1.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return invalid.New(res.GroupVersionKind().GroupKind(), m.GetName(), errs)
}

// inherit copies from the old object the fields that a client can't change: identity and lifecycle (B-10, B-11).
func inherit(m, old metav1.Object) {
	if m.GetUID() == "" {
		m.SetUID(old.GetUID())
	}
	if t := old.GetCreationTimestamp(); !t.IsZero() {
		m.SetCreationTimestamp(t)
	}
	if old.GetDeletionTimestamp() != nil {
		m.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil && m.GetDeletionGracePeriodSeconds() == nil {
		m.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// lifecycleOf returns the part of an object that package finalizers needs.
func lifecycleOf(res *resources.Resource, obj Object) finalizers.Object {
	o := finalizers.Object{
		UID: string(obj.GetUID()), ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(),
		Finalizers: obj.GetFinalizers(), GracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
	}
	if t := obj.GetDeletionTimestamp(); t != nil {
		o.Deletion = t.Time
	}
	if res.Delete.SpecFinalizers != nil {
		o.SpecFinalizers = res.Delete.SpecFinalizers(obj)
	}
	return o
}

// applyVerdict sets an object's metadata to that of the verdict.
func applyVerdict(m metav1.Object, v finalizers.Verdict) {
	m.SetFinalizers(nil) // an empty list is stored as none
	if len(v.Finalizers) > 0 {
		m.SetFinalizers(v.Finalizers)
	}
	m.SetDeletionTimestamp(nil)
	if !v.Deletion.IsZero() {
		m.SetDeletionTimestamp(&metav1.Time{Time: v.Deletion})
	}
	m.SetDeletionGracePeriodSeconds(v.GracePeriodSeconds)
	m.SetGeneration(v.Generation)
}

// DedupOwners removes duplicate owner references and warns.
func DedupOwners(m metav1.Object, afterAdmission bool, warn func(string)) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return
	}
	var kept []metav1.OwnerReference
	var dups []string
	seen := map[string]bool{}
	for _, r := range refs {
		key, _ := json.Marshal(r) // can't fail: it has only strings and booleans
		if seen[string(key)] {
			dups = append(dups, string(r.UID)) // one for each reference that is removed
			continue
		}
		seen[string(key)] = true
		kept = append(kept, r)
	}
	if len(dups) == 0 {
		return
	}
	m.SetOwnerReferences(kept)
	when := ""
	if afterAdmission {
		when = " after mutating admission happens"
	}
	warn(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; "+
		"API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; "+
		"please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(dups, ", ")))
}
