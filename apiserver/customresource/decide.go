package customresource

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// SetCondition sets a condition in the CRD's status. If its status does not change, its time stays.
func SetCondition(
	d *apiextensionsv1.CustomResourceDefinition, c apiextensionsv1.CustomResourceDefinitionCondition, now metav1.Time,
) {
	old := apihelpers.FindCRDCondition(d, c.Type)
	if old == nil {
		c.LastTransitionTime = now
		d.Status.Conditions = append(d.Status.Conditions, c)
		return
	}
	if c.LastTransitionTime = old.LastTransitionTime; old.Status != c.Status {
		c.LastTransitionTime = now
	}
	*old = c
}

// Decide computes a CRD's accepted names and conditions from the CRDs of its group (AX pkg/controller/status,
// establish, apiapproval, nonstructuralschema). It returns nil if nothing changes. It combines several steps of
// upstream's controllers: a CRD whose names are free is accepted and established at once (F-12).
func Decide(
	d *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now metav1.Time,
) *apiextensionsv1.CustomResourceDefinition {
	out := d.DeepCopy()
	if !reflect.DeepEqual(d.Spec.Names, d.Status.AcceptedNames) ||
		apihelpers.FindCRDCondition(d, apiextensionsv1.NamesAccepted) == nil {
		acceptNames(out, others, now)
	}
	if apihelpers.IsCRDConditionTrue(out, apiextensionsv1.NamesAccepted) &&
		!apihelpers.IsCRDConditionTrue(out, apiextensionsv1.Established) && out.DeletionTimestamp == nil {
		SetCondition(out, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established,
			Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted",
			Message: "the initial names have been accepted"}, now)
	}
	setApproval(out, now)
	setStructure(out, now)
	if reflect.DeepEqual(out.Status, d.Status) {
		return nil
	}
	return out
}

// acceptNames accepts the names that are free.
func acceptNames(
	d *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition, now metav1.Time,
) {
	names, kinds := taken(d, others)
	want, have := d.Spec.Names, &d.Status.AcceptedNames
	verdict := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.NamesAccepted,
		Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found"}
	reject := func(reason string, err error) {
		verdict.Status, verdict.Reason, verdict.Message = apiextensionsv1.ConditionFalse, reason, err.Error()
	}
	accept := func(want string, have *string, used map[string]bool, reason string) {
		if want != *have && used[want] {
			reject(reason, inUse(want))
			return
		}
		*have = want
	}
	accept(want.Plural, &have.Plural, names, "PluralConflict")
	accept(want.Singular, &have.Singular, names, "SingularConflict")
	var errs []error
	for _, s := range want.ShortNames {
		if !slices.Contains(have.ShortNames, s) && names[s] {
			errs = append(errs, inUse(s))
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		reject("ShortNamesConflict", err)
	} else {
		have.ShortNames = want.ShortNames
	}
	accept(want.Kind, &have.Kind, kinds, "KindConflict")
	accept(want.ListKind, &have.ListKind, kinds, "ListKindConflict")
	have.Categories = want.Categories
	SetCondition(d, verdict, now)
	if apihelpers.FindCRDCondition(d, apiextensionsv1.Established) == nil {
		SetCondition(d, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established,
			Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted"}, now)
	}
}

func inUse(name string) error { return fmt.Errorf("%q is already in use", name) }

// taken returns the names and kinds of a group that are in use, including those of d.
func taken(
	d *apiextensionsv1.CustomResourceDefinition, others []*apiextensionsv1.CustomResourceDefinition,
) (names, kinds map[string]bool) {
	names, kinds = map[string]bool{}, map[string]bool{}
	for _, o := range append(slices.Clip(others), d) {
		if o.Spec.Group != d.Spec.Group || o != d && o.Name == d.Name {
			continue
		}
		a := o.Status.AcceptedNames
		for _, n := range append([]string{a.Plural, a.Singular}, a.ShortNames...) {
			names[n] = true
		}
		kinds[a.Kind], kinds[a.ListKind] = true, true
	}
	delete(names, "")
	delete(kinds, "")
	return names, kinds
}
