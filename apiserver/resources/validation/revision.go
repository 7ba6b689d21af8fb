package validation

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func controllerRevision(r *appsv1.ControllerRevision) (errs field.ErrorList) {
	const missing = "data is mandatory"
	if at := field.NewPath("data"); len(r.Data.Raw) == 0 {
		errs = append(errs, field.Required(at, missing))
	} else {
		errs = append(errs, jsonObject(r.Data.Raw, missing, field.Required(at, "data must be a valid JSON object"), at)...)
	}
	return append(errs, apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))...)
}

// jsonObject wants the text of a JSON object; missing is said of null, and other says what is wrong
// with anything else.
func jsonObject(text []byte, missing string, other *field.Error, at *field.Path) field.ErrorList {
	var v any
	err := json.Unmarshal(text, &v)
	_, is := v.(map[string]any)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, "<value omitted>", "error parsing data as JSON: "+err.Error())}
	case v == nil:
		return field.ErrorList{field.Required(at, missing)}
	case !is:
		return field.ErrorList{other}
	}
	return nil
}

// controllerRevisionUpdate keeps the data as it was: it is what a controller rolls back to.
func controllerRevisionUpdate(r, old *appsv1.ControllerRevision) field.ErrorList {
	errs := apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	return append(errs, apivalidation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))...)
}
