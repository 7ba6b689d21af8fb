package custom

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	first  = metav1.Time{Time: time.Unix(1, 0)}
	second = metav1.Time{Time: time.Unix(2, 0)}
)

func definition(name string, names apiextensionsv1.CustomResourceDefinitionNames) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: names}}
}

func verdicts(d *apiextensionsv1.CustomResourceDefinition) (texts []string) {
	for _, c := range d.Status.Conditions {
		texts = append(texts, string(c.Type)+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return texts
}

func TestJudge(t *testing.T) {
	apples := Judge(definition("apples.example.com", apiextensionsv1.CustomResourceDefinitionNames{Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList", ShortNames: []string{"ap"}}), nil, first)
	if apples == nil || !True(apples, apiextensionsv1.Established) || Judge(apples, nil, second) != nil {
		t.Fatalf("%+v", apples)
	}
	for _, c := range []struct {
		name  string
		names apiextensionsv1.CustomResourceDefinitionNames
		want  string
	}{
		{"plural", apiextensionsv1.CustomResourceDefinitionNames{Plural: "ap", Singular: "pear", Kind: "Pear", ListKind: "PearList"}, `NamesAccepted False PluralConflict: "ap" is already in use`},
		{"singular", apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "apples", Kind: "Pear", ListKind: "PearList"}, `NamesAccepted False SingularConflict: "apples" is already in use`},
		{"short", apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "pear", ShortNames: []string{"p", "apple", "ap"}, Kind: "Pear", ListKind: "PearList"},
			`NamesAccepted False ShortNamesConflict: ["apple" is already in use, "ap" is already in use]`},
		{"kind", apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "pear", Kind: "AppleList", ListKind: "PearList"}, `NamesAccepted False KindConflict: "AppleList" is already in use`},
		{"list kind", apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "pear", Kind: "Pear", ListKind: "Apple"}, `NamesAccepted False ListKindConflict: "Apple" is already in use`},
	} {
		pears := Judge(definition("pears.example.com", c.names), []*apiextensionsv1.CustomResourceDefinition{apples}, first)
		want := []string{c.want, "Established False NotAccepted: not all names are accepted"}
		if diff := cmp.Diff(want, verdicts(pears)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		// What is free in another group, or when the other has gone, is accepted.
		elsewhere := apples.DeepCopy()
		elsewhere.Spec.Group = "other.com"
		for _, others := range [][]*apiextensionsv1.CustomResourceDefinition{nil, {elsewhere}} {
			freed := Judge(pears, others, second)
			want := []string{"NamesAccepted True NoConflicts: no conflicts found", "Established True InitialNamesAccepted: the initial names have been accepted"}
			if diff := cmp.Diff(want, verdicts(freed)); diff != "" || freed.Status.Conditions[0].LastTransitionTime != second {
				t.Errorf("%s, freed: %s", c.name, diff)
			}
		}
	}
}

// TestEstablishedStays: new names that are taken leave the old ones in use.
func TestEstablishedStays(t *testing.T) {
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "apples", Singular: "apple", Kind: "Apple", ListKind: "AppleList"}
	apples := Judge(definition("apples.example.com", names), nil, first)
	names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "pears", Singular: "pear", Kind: "Pear", ListKind: "PearList", ShortNames: []string{"p"}}
	pears := Judge(definition("pears.example.com", names), []*apiextensionsv1.CustomResourceDefinition{apples}, first)
	pears.Spec.Names.ShortNames = []string{"apple"}
	pears = Judge(pears, []*apiextensionsv1.CustomResourceDefinition{apples, pears}, second)
	if diff := cmp.Diff([]string{"p"}, pears.Status.AcceptedNames.ShortNames); diff != "" || True(pears, apiextensionsv1.NamesAccepted) || !True(pears, apiextensionsv1.Established) {
		t.Errorf("%s %v", diff, verdicts(pears))
	}
	if got := Entries(pears); len(got) != 0 { // no versions here
		t.Errorf("%v", got)
	}
}
