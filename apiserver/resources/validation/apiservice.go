package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// apiService judges, of metadata, that the name follows from the spec; that it can be one is the
// entry's rule (KA pkg/apis/apiregistration/validation:ValidateAPIService).
func apiService(s *apiregistrationv1.APIService) (errs field.ErrorList) {
	at, spec, meta := field.NewPath("spec"), &s.Spec, field.NewPath("metadata")
	required := spec.Version + "." + spec.Group
	for _, n := range []struct{ field, name string }{{"generateName", s.GenerateName}, {"name", s.Name}} {
		if n.name != "" && n.name != required && len(path.IsValidPathSegmentName(n.name)) == 0 {
			errs = append(errs, field.Invalid(meta.Child(n.field), n.name, fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", required)))
		}
	}
	if spec.Group == "" && spec.Version != "v1" {
		errs = append(errs, field.Required(at.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	}
	if spec.Group != "" {
		errs = append(errs, subdomain(spec.Group, at.Child("group"))...)
	}
	errs = append(errs, judge(spec.Version, at.Child("version"), utilvalidation.IsDNS1035Label)...)
	if p := spec.GroupPriorityMinimum; p <= 0 || p > 20000 {
		errs = append(errs, field.Invalid(at.Child("groupPriorityMinimum"), p, "must be positive and less than 20000"))
	}
	if p := spec.VersionPriority; p <= 0 || p > 1000 {
		errs = append(errs, field.Invalid(at.Child("versionPriority"), p, "must be positive and less than 1000"))
	}
	if spec.Service == nil {
		return append(errs, localService(spec, at)...)
	}
	return append(errs, remoteService(spec, at)...)
}

func localService(spec *apiregistrationv1.APIServiceSpec, at *field.Path) (errs field.ErrorList) {
	if len(spec.CABundle) != 0 {
		errs = append(errs, field.Invalid(at.Child("caBundle"), fmt.Sprintf("%d bytes", len(spec.CABundle)), "local APIServices may not have a caBundle"))
	}
	if spec.InsecureSkipTLSVerify {
		errs = append(errs, field.Invalid(at.Child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify"))
	}
	return errs
}

func remoteService(spec *apiregistrationv1.APIServiceSpec, at *field.Path) field.ErrorList {
	errs := given(at.Child("service"), "namespace", spec.Service.Namespace, "name", spec.Service.Name)
	// The internal type's port is a number; one that the client left out was defaulted.
	port := int32(0)
	if spec.Service.Port != nil {
		port = *spec.Service.Port
	}
	if texts := utilvalidation.IsValidPortNum(int(port)); texts != nil {
		errs = append(errs, field.Invalid(at.Child("service", "port"), port, "port is not valid: "+strings.Join(texts, ", ")))
	}
	if spec.InsecureSkipTLSVerify && len(spec.CABundle) > 0 {
		errs = append(errs, field.Invalid(at.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present"))
	}
	return errs
}

func apiServiceUpdate(s, _ *apiregistrationv1.APIService) field.ErrorList { return apiService(s) }

var apiServiceStates = []apiregistrationv1.ConditionStatus{apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown}

func apiServiceStatus(s, _ *apiregistrationv1.APIService) (errs field.ErrorList) {
	for i, c := range invalid.Each(s.Status.Conditions, &errs) {
		errs = append(errs, oneOf(c.Status, field.NewPath("status", "conditions").Index(i).Child("status"), apiServiceStates)...)
	}
	return errs
}
