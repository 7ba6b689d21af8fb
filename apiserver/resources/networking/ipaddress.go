package networking

import (
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func ipAddresses() *entry.Resource {
	return &entry.Resource{
		Plural: "ipaddresses", New: entry.New[networkingv1.IPAddress],
		ShortNames: []string{"ip"},
		Strategy: entry.Strategy{
			Validate: entry.Validate(validateIPAddress),
		},
		Table: ipAddressTable(),
	}
}

func validateIPAddress(a *networkingv1.IPAddress) (errs field.ErrorList) {
	at, p := field.NewPath("spec", "parentRef"), a.Spec.ParentRef
	if p == nil {
		return nil
	}
	errs = append(errs, check.NonEmpty(p.Group, at.Child("group"), check.DNSSubdomain)...)
	errs = append(errs, check.PathSegment(p.Resource, at.Child("resource"))...)
	errs = append(errs, check.PathSegment(p.Name, at.Child("name"))...)
	return append(errs, check.PathSegment(p.Namespace, at.Child("namespace"))...)
}

// ipAddressTable has cells with an age, but no column for it, as upstream's printIPAddress. kubectl ignores the age.
func ipAddressTable() entry.Table {
	return entry.TableOf([]entry.Column{
		entry.NameColumn, entry.Text("ParentRef", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"]),
	}, func(a *networkingv1.IPAddress, now time.Time) []any {
		parent := entry.None
		if ref := a.Spec.ParentRef; ref != nil {
			gr := schema.GroupResource{Group: ref.Group, Resource: ref.Resource}
			parent = strings.ToLower(gr.String())
			if ref.Namespace != "" {
				parent += "/" + ref.Namespace
			}
			parent += "/" + ref.Name
		}
		return []any{a.Name, parent, entry.AgeOf(&a.ObjectMeta, now)}
	})
}
