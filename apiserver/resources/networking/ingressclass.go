package networking

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func ingressClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "ingressclasses", New: entry.New[networkingv1.IngressClass],
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultIngressClass),
			Validate:   entry.ValidateChange(validateIngressClass),
		},
		Table: ingressClassTable(),
	}
}

// defaultIngressClass sets the scope of its parameters to Cluster.
func defaultIngressClass(c *networkingv1.IngressClass) {
	if c.Spec.Parameters != nil {
		check.SetDefault(&c.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}

const maxIngressController = 250

var parameterScopes = []string{
	networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace,
}

func validateIngressClass(c, old *networkingv1.IngressClass) (errs field.ErrorList) {
	at := field.NewPath("spec")
	if old != nil {
		errs = check.Immutable(c.Spec.Controller, old.Spec.Controller, at.Child("controller"))
	}
	errs = append(errs, check.Needed(c.Spec.Controller, at.Child("controller"), controllerName)...)
	return append(errs, check.Optional(c.Spec.Parameters, at.Child("parameters"), classParameters)...)
}

func controllerName(name string, at *field.Path) field.ErrorList {
	return append(check.MaxBytes(len(name), maxIngressController, at), utilvalidation.IsDomainPrefixedPath(at, name)...)
}

func classParameters(p *networkingv1.IngressClassParametersReference, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Given(p.APIGroup, at.Child("apiGroup"), check.DNSSubdomain)...)
	errs = append(errs, check.PathSegment(p.Kind, at.Child("kind"))...)
	errs = append(errs, check.PathSegment(p.Name, at.Child("name"))...)
	errs = append(errs, check.Must(p.Scope, at.Child("scope"), "", check.Among(parameterScopes...))...)
	ns := at.Child("namespace")
	switch check.ValueOf(p.Scope) {
	case networkingv1.IngressClassParametersReferenceScopeNamespace:
		errs = append(errs, check.Must(p.Namespace, ns, "`parameters.scope` is set to 'Namespace'", check.DNSLabel)...)
	case networkingv1.IngressClassParametersReferenceScopeCluster:
		errs = append(errs, check.Forbid(p.Namespace != nil, ns, "`parameters.scope` is set to 'Cluster'")...)
	}
	return errs
}

func ingressClassTable() entry.Table {
	columns := []entry.Column{
		entry.NameColumn,
		entry.Text("Controller", "Controller that is responsible for handling this class"),
		entry.Text("Parameters", "A reference to a resource with additional parameters"),
		entry.AgeColumn,
	}
	return entry.TableOf(columns, func(c *networkingv1.IngressClass, now time.Time) []any {
		name, parameters := c.Name, entry.None
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			name += " (default)"
		}
		if p := c.Spec.Parameters; p != nil {
			parameters = p.Kind
			if p.APIGroup != nil {
				parameters += "." + *p.APIGroup
			}
			parameters += "/" + p.Name
		}
		return []any{name, c.Spec.Controller, parameters, entry.AgeOf(&c.ObjectMeta, now)}
	})
}
