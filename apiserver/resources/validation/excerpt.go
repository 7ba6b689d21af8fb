package validation

import (
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// mostEntries is how many entries of a list of a definition are validated before its errors are counted.
const mostEntries = 2 * invalid.MaxErrors

// excerptFirst finds the errors of a definition. The library that does so collects those of all entries of its lists,
// and for each version looks at all of them. So lists are cut first; all of them are looked at unless what is left has
// errors enough. Schemas are never cut, as one part of them is about another: all of their errors are collected.
func excerptFirst(in *apiextensions.CustomResourceDefinition, find func(*apiextensions.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	x := excerpt{}
	cut := x.definition(in)
	if !x.cut {
		return find(in)
	}
	errs := slices.DeleteFunc(find(cut), func(e *field.Error) bool { return !certain(e.Field) })
	if invalid.Enough(errs) {
		return errs[:invalid.MaxErrors]
	}
	return find(in)
}

// certain says that an error in an excerpt is one of the whole, too: it isn't about a list as such, nor does it compare
// the stored versions with those that are left.
func certain(path string) bool {
	if strings.HasPrefix(path, "status.storedVersions") {
		return false
	}
	for _, list := range []string{"versions", "shortNames", "categories", "additionalPrinterColumns", "selectableFields", "conversionReviewVersions"} {
		if strings.HasSuffix(path, "."+list) {
			return false
		}
	}
	return true
}

// excerpt cuts lists and remembers whether one was long.
type excerpt struct{ cut bool }

func (x *excerpt) definition(in *apiextensions.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	out := *in
	x.names(&out.Spec.Names)
	x.names(&out.Status.AcceptedNames)
	out.Spec.AdditionalPrinterColumns = shorter(x, out.Spec.AdditionalPrinterColumns)
	out.Spec.SelectableFields = shorter(x, out.Spec.SelectableFields)
	if c := out.Spec.Conversion; c != nil {
		short := *c
		short.ConversionReviewVersions = shorter(x, c.ConversionReviewVersions)
		out.Spec.Conversion = &short
	}
	out.Spec.Versions = slices.Clone(shorter(x, out.Spec.Versions))
	for i := range out.Spec.Versions {
		v := &out.Spec.Versions[i]
		v.AdditionalPrinterColumns = shorter(x, v.AdditionalPrinterColumns)
		v.SelectableFields = shorter(x, v.SelectableFields)
	}
	return &out
}

func (x *excerpt) names(n *apiextensions.CustomResourceDefinitionNames) {
	n.ShortNames, n.Categories = shorter(x, n.ShortNames), shorter(x, n.Categories)
}

// shorter returns the first entries of a list.
func shorter[T any](x *excerpt, list []T) []T {
	if len(list) <= mostEntries {
		return list
	}
	x.cut = true
	return list[:mostEntries:mostEntries]
}
