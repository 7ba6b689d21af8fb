package resources

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func apiServices(clock entry.Clock) *entry.Resource {
	return &entry.Resource{
		Plural: "apiservices", New: entry.New[apiregistrationv1.APIService],
		Categories: entry.APIExtensions,
		Storage:    entry.Storage{Collection: "apiregistration.k8s.io/apiservices"},
		Strategy: entry.Strategy{
			Conditional: true,
			Name:        path.ValidatePathSegmentName,
			Metadata:    entry.Metadata{Custom: true},
			Default:     entry.Default(defaultAPIService),
			Prepare:     entry.Prepare(func(obj *apiregistrationv1.APIService) { createAPIService(clock, obj) }, nil),
			Validate:    entry.Validate(validateAPIService),
		},
		Subresources: entry.StatusOf(keepAPIServiceStatus, validateAPIServiceStatus),
		Table:        apiServiceTable(),
	}
}

// createAPIService sets the condition Available for versions that the server itself serves.
func createAPIService(now entry.Clock, a *apiregistrationv1.APIService) {
	a.Status = apiregistrationv1.APIServiceStatus{}
	if a.Spec.Service == nil {
		a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
			Type:               apiregistrationv1.Available,
			Status:             apiregistrationv1.ConditionTrue,
			LastTransitionTime: now(),
			Reason:             "Local",
			Message:            "Local APIServices are always available",
		}}
	}
}

func defaultAPIService(a *apiregistrationv1.APIService) {
	if a.Spec.Service != nil {
		check.SetDefault(&a.Spec.Service.Port, 443)
	}
}

// keepAPIServiceStatus restores the metadata that a write of the status can't change (B-41).
func keepAPIServiceStatus(a, old *apiregistrationv1.APIService) {
	a.Labels, a.Annotations = old.Labels, old.Annotations
	a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
}

// validateAPIService requires the name VERSION.GROUP of the spec. The entry's rule validates the form of the
// name (KA pkg/apis/apiregistration/validation:ValidateAPIService).
func validateAPIService(s *apiregistrationv1.APIService) (errs field.ErrorList) {
	at, spec, meta := field.NewPath("spec"), &s.Spec, field.NewPath("metadata")
	required := spec.Version + "." + spec.Group
	for _, n := range []struct{ field, name string }{{"generateName", s.GenerateName}, {"name", s.Name}} {
		if n.name != "" && n.name != required && len(path.IsValidPathSegmentName(n.name)) == 0 {
			errs = append(
				errs,
				field.Invalid(meta.Child(n.field), n.name, fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", required)),
			)
		}
	}
	if spec.Group == "" && spec.Version != "v1" {
		errs = append(errs, field.Required(at.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	}
	errs = append(errs, check.NonEmpty(spec.Group, at.Child("group"), check.DNSSubdomain)...)
	errs = append(errs, check.Apply(spec.Version, at.Child("version"), utilvalidation.IsDNS1035Label)...)
	errs = append(errs, check.Reject(spec.GroupPriorityMinimum <= 0 || spec.GroupPriorityMinimum > 20000,
		at.Child("groupPriorityMinimum"), spec.GroupPriorityMinimum, "must be positive and less than 20000")...)
	errs = append(errs, check.Reject(spec.VersionPriority <= 0 || spec.VersionPriority > 1000, at.Child("versionPriority"),
		spec.VersionPriority, "must be positive and less than 1000")...)
	if spec.Service == nil {
		return append(errs, localService(spec, at)...)
	}
	return append(errs, remoteService(spec, at)...)
}

func localService(spec *apiregistrationv1.APIServiceSpec, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Reject(len(spec.CABundle) != 0, at.Child("caBundle"),
		fmt.Sprintf("%d bytes", len(spec.CABundle)), "local APIServices may not have a caBundle")...)
	return append(errs, check.Reject(spec.InsecureSkipTLSVerify, at.Child("insecureSkipTLSVerify"), true,
		"local APIServices may not have insecureSkipTLSVerify")...)
}

func remoteService(spec *apiregistrationv1.APIServiceSpec, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at.Child("service"), "namespace", spec.Service.Namespace, "name", spec.Service.Name)
	// The port of the internal type is not a pointer. Defaulting has set a missing port.
	port := check.ValueOf(spec.Service.Port)
	if texts := utilvalidation.IsValidPortNum(int(port)); texts != nil {
		errs = append(errs, field.Invalid(at.Child("service", "port"), port, "port is not valid: "+strings.Join(texts, ", ")))
	}
	return append(errs, check.Reject(spec.InsecureSkipTLSVerify && len(spec.CABundle) > 0,
		at.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present")...)
}

var apiServiceStates = []apiregistrationv1.ConditionStatus{
	apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown,
}

func validateAPIServiceStatus(s, _ *apiregistrationv1.APIService) (errs field.ErrorList) {
	for i, c := range s.Status.Conditions {
		errs = append(errs, check.OneOf(c.Status, field.NewPath("status", "conditions").Index(i).Child("status"),
			apiServiceStates)...)
	}
	return errs
}

func apiServiceTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Service", "The reference to the service that hosts this API endpoint."),
		entry.Text("Available", "Whether this service is available."),
	}, func(s *apiregistrationv1.APIService) []any {
		service := "Local"
		if ref := s.Spec.Service; ref != nil {
			service = ref.Namespace + "/" + ref.Name
		}
		return []any{service, available(s.Status.Conditions)}
	})
}

func available(conditions []apiregistrationv1.APIServiceCondition) string {
	for _, c := range conditions {
		switch {
		case c.Type != apiregistrationv1.Available:
		case c.Status != apiregistrationv1.ConditionTrue && c.Reason != "":
			return fmt.Sprintf("%s (%s)", c.Status, c.Reason)
		default:
			return string(c.Status)
		}
	}
	return "Unknown"
}
