package customresource

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	first  = metav1.Time{Time: time.Unix(1, 0)}
	second = metav1.Time{Time: time.Unix(2, 0)}
)

func definition(
	name string, names apiextensionsv1.CustomResourceDefinitionNames) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: names}}
}

func verdicts(d *apiextensionsv1.CustomResourceDefinition) (texts []string) {
	for _, c := range d.Status.Conditions {
		texts = append(texts, string(c.Type)+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return texts
}

func TestNamesInUseConflictUntilFreed(t *testing.T) {
	apples := Decide(definition("apples.example.com", apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList", ShortNames: []string{"ap"},
	}), nil, first)
	if apples == nil || !apihelpers.IsCRDConditionTrue(apples, apiextensionsv1.Established) ||
		Decide(apples, nil, second) != nil {
		t.Fatalf("%+v", apples)
	}
	for _, c := range []struct {
		name  string
		names apiextensionsv1.CustomResourceDefinitionNames
		want  string
	}{
		{
			"plural",
			apiextensionsv1.CustomResourceDefinitionNames{Plural: "ap", Singular: "pear", Kind: "Pear", ListKind: "PearList"},
			`NamesAccepted False PluralConflict: "ap" is already in use`,
		},
		{"singular", apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "pears", Singular: "apples", Kind: "Pear", ListKind: "PearList",
		}, `NamesAccepted False SingularConflict: "apples" is already in use`},
		{"short", apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "pears", Singular: "pear", ShortNames: []string{"p", "apple", "ap"}, Kind: "Pear", ListKind: "PearList",
		},
			`NamesAccepted False ShortNamesConflict: ["apple" is already in use, "ap" is already in use]`},
		{"kind", apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "pears", Singular: "pear", Kind: "AppleList", ListKind: "PearList",
		}, `NamesAccepted False KindConflict: "AppleList" is already in use`},
		{
			"list kind",
			apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "pear", Kind: "Pear", ListKind: "Apple"},
			`NamesAccepted False ListKindConflict: "Apple" is already in use`,
		},
	} {
		pears := Decide(definition("pears.example.com", c.names), []*apiextensionsv1.CustomResourceDefinition{apples}, first)
		want := []string{c.want, "Established False NotAccepted: not all names are accepted"}
		if diff := cmp.Diff(want, verdicts(pears)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		// A name is accepted if it is free in another group, or after the other CRD was removed.
		elsewhere := apples.DeepCopy()
		elsewhere.Spec.Group = "other.com"
		for _, others := range [][]*apiextensionsv1.CustomResourceDefinition{nil, {elsewhere}} {
			freed := Decide(pears, others, second)
			want := []string{
				"NamesAccepted True NoConflicts: no conflicts found",
				"Established True InitialNamesAccepted: the initial names have been accepted",
			}
			if diff := cmp.Diff(want, verdicts(freed)); diff != "" || freed.Status.Conditions[0].LastTransitionTime != second {
				t.Errorf("%s, freed: %s", c.name, diff)
			}
		}
	}
}

// TestEstablishedStays: if new names are in use by another CRD, the old names stay.
func TestEstablishedStays(t *testing.T) {
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList",
	}
	apples := Decide(definition("apples.example.com", names), nil, first)
	names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "pears", Singular: "pear", Kind: "Pear", ListKind: "PearList", ShortNames: []string{"p"},
	}
	pears := Decide(definition("pears.example.com", names), []*apiextensionsv1.CustomResourceDefinition{apples}, first)
	pears.Spec.Names.ShortNames = []string{"apple"}
	pears = Decide(pears, []*apiextensionsv1.CustomResourceDefinition{apples, pears}, second)
	if diff := cmp.Diff([]string{"p"}, pears.Status.AcceptedNames.ShortNames); diff != "" ||
		apihelpers.IsCRDConditionTrue(pears, apiextensionsv1.NamesAccepted) ||
		!apihelpers.IsCRDConditionTrue(pears, apiextensionsv1.Established) {
		t.Errorf("%s %v", diff, verdicts(pears))
	}
	if got := Entries(pears, nil); len(got) != 0 { // no versions here
		t.Errorf("%v", got)
	}
}

// TestProtectedGroupsHaveApprovalCondition: CRDs in Kubernetes' own groups have a condition for their approval.
func TestProtectedGroupsHaveApprovalCondition(t *testing.T) {
	const missing = `protected groups must have approval annotation "api-approved.kubernetes.io"`
	for _, c := range []struct{ group, annotation, want string }{
		{"example.com", "", ""},
		{
			"a.k8s.io", "", "False MissingAnnotation: " + missing + ", see https://github.com/kubernetes/enhancements/pull/1111",
		},
		{
			"kubernetes.io", "https://github.com/kubernetes/kubernetes/pull/1",
			"True ApprovedAnnotation: approved in https://github.com/kubernetes/kubernetes/pull/1",
		},
		{"a.k8s.io", "unapproved, a test", `False UnapprovedAnnotation: not approved: "unapproved, a test"`},
		{"a.k8s.io", "whatever", "False InvalidAnnotation: " + missing +
			` with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`},
	} {
		d := definition("apples."+c.group, apiextensionsv1.CustomResourceDefinitionNames{
			Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList",
		})
		d.Spec.Group = c.group
		d.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: c.annotation}
		d = Decide(d, nil, first)
		want := []string{
			"NamesAccepted True NoConflicts: no conflicts found",
			"Established True InitialNamesAccepted: the initial names have been accepted",
		}
		if c.want != "" {
			want = append(want, "KubernetesAPIApprovalPolicyConformant "+c.want)
		}
		if diff := cmp.Diff(want, verdicts(d)); diff != "" {
			t.Errorf("%s %q: %s", c.group, c.annotation, diff)
		}
	}
}

// TestNonStructuralSchemaHasCondition: a CRD that an older server accepted has it until the CRD is corrected.
func TestNonStructuralSchemaHasCondition(t *testing.T) {
	d := definition("apples.example.com", apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList",
	})
	d.Spec.PreserveUnknownFields = true
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {}},
			}}}}
	d = Decide(d, nil, first)
	const want = "NonStructuralSchema True Violations: [spec.preserveUnknownFields: Invalid value: true: must be false, " +
		"spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields, " +
		"spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]"
	if got := verdicts(d); len(got) != 3 || got[2] != want {
		t.Fatalf("%q", got)
	}
	d.Spec.PreserveUnknownFields = false
	s := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	s.Type, s.Properties = "object", nil
	if d = Decide(d, nil, second); d == nil || apihelpers.FindCRDCondition(d, apiextensionsv1.NonStructuralSchema) != nil {
		t.Errorf("%v", d)
	}
}
