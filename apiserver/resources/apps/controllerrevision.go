package apps

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func controllerRevisions() *entry.Resource {
	return &entry.Resource{
		Plural: "controllerrevisions", New: entry.New[appsv1.ControllerRevision], Namespaced: true,
		Strategy: entry.Strategy{
			Validate: entry.ValidateChange(validateControllerRevision),
		},
		Table: controllerRevisionTable(),
	}
}

// validateControllerRevision makes the data immutable, because a controller may roll back to it.
func validateControllerRevision(r, old *appsv1.ControllerRevision) (errs field.ErrorList) {
	const missing = "data is mandatory"
	at, revision := field.NewPath("data"), apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	switch {
	case old != nil:
		return append(revision, check.Immutable(r.Data, old.Data, at)...)
	case len(r.Data.Raw) == 0:
		errs = append(errs, field.Required(at, missing))
	default:
		errs = check.JSONObject(r.Data.Raw, missing, field.Required(at, "data must be a valid JSON object"), at)
	}
	return append(errs, revision...)
}

func controllerRevisionTable() entry.Table {
	return entry.Listed([]entry.Column{
		entry.Text("Controller", "Controller of the object"),
		entry.Text("Revision", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]),
	}, func(r *appsv1.ControllerRevision) []any {
		controller := entry.None
		if ref := metav1.GetControllerOfNoCopy(r); ref != nil {
			gk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
			controller = strings.ToLower(gk.String()) + "/" + ref.Name
		}
		return []any{controller, r.Revision}
	})
}
