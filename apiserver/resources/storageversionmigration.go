package resources

import (
	"strings"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// storageVersionMigrations returns the entry of StorageVersionMigration (V-004). The kind is stored as v1beta1, so that
// a server of the previous minor version, which has no v1, can read it.
func storageVersionMigrations() *entry.Resource {
	return &entry.Resource{
		Plural: "storageversionmigrations", New: entry.New[storagemigrationv1.StorageVersionMigration],
		Storage: entry.Storage{
			Stored:     storagemigrationv1beta1.SchemeGroupVersion.WithKind("StorageVersionMigration"),
			ToStored:   entry.Recast[storagemigrationv1beta1.StorageVersionMigration],
			FromStored: entry.Recast[storagemigrationv1.StorageVersionMigration],
		},
		Served: entry.Served{Optional: []entry.Version{
			{GroupVersion: storagemigrationv1beta1.SchemeGroupVersion,
				New: entry.New[storagemigrationv1beta1.StorageVersionMigration]},
		}},
		Strategy: entry.Strategy{
			Conditional: true,
			Metadata:    entry.Metadata{Again: 1},
			Validate:    entry.ValidateChange(validateMigration),
		},
		Subresources: entry.StatusOf(
			entry.KeepMeta[*storagemigrationv1.StorageVersionMigration], validateMigrationStatus),
		Table: entry.Printed([]entry.Column{
			entry.Text("Name", entry.MetaDocs["name"]), entry.Text("Resource", "Fully qualified resource to migrate"),
		}, func(m *storagemigrationv1.StorageVersionMigration) []any {
			return []any{m.Name, m.Spec.Resource.String()}
		}),
	}
}

// validateMigration requires a resource, and a group that is valid in an APIService. The core group is empty (K
// pkg/apis/storagemigration/validation: ValidateStorageVersionMigration).
func validateMigration(m, old *storagemigrationv1.StorageVersionMigration) (errs field.ErrorList) {
	at, r := field.NewPath("spec", "resource"), m.Spec.Resource
	if r.Resource == "" {
		errs = append(errs, field.Required(at.Child("resource"), "resource is required to be set"))
	} else {
		errs = append(errs, joined(r.Resource, at.Child("resource"), utilvalidation.IsDNS1035Label)...)
	}
	if r.Group != "" {
		errs = append(errs, joined(r.Group, at.Child("group"), utilvalidation.IsDNS1123Subdomain)...)
	}
	if old != nil {
		errs = append(errs, check.Immutable(m.Spec, old.Spec, field.NewPath("spec"))...)
	}
	return errs
}

// joined returns all errors of a value as one error.
func joined(value string, at *field.Path, is func(string) []string) field.ErrorList {
	texts := is(value)
	return check.Reject(len(texts) > 0, at, value, strings.Join(texts, ","))
}

// validateMigrationStatus rejects a status that contradicts or undoes the end of a migration (K
// pkg/apis/storagemigration/validation: ValidateStorageVersionMigrationStatusUpdate). A migration whose resource is not
// served has no resource version. It must be able to fail: K test/e2e/apimachinery/storage_version_migration.go sets a
// condition of such a migration.
func validateMigrationStatus(m, old *storagemigrationv1.StorageVersionMigration) (errs field.ErrorList) {
	at, s := field.NewPath("status"), &m.Status
	revision, conditions := at.Child("resourceVersion"), at.Child("conditions")
	if _, err := resourceversion.CompareResourceVersion(s.ResourceVersion, s.ResourceVersion); err != nil &&
		s.ResourceVersion != "" {
		errs = append(errs, field.Invalid(revision, s.ResourceVersion, err.Error()))
	}
	errs = append(errs, v1validation.ValidateConditions(s.Conditions, conditions)...)
	if was := old.Status.ResourceVersion; was != "" && was != s.ResourceVersion {
		errs = append(errs, field.Invalid(revision, s.ResourceVersion, "field is immutable"))
	}
	wrong := func(is bool, why string) {
		errs = append(errs, check.Reject(is, conditions, s.Conditions, why)...)
	}
	succeeded, failed := migrationIs(m, storagemigrationv1.MigrationSucceeded), migrationIs(m, storagemigrationv1.MigrationFailed)
	running := migrationIs(m, storagemigrationv1.MigrationRunning)
	wrong(succeeded && failed, "Both success and failed conditions cannot be true at the same time")
	wrong(succeeded && running, "Running condition cannot be true when success condition is true")
	wrong(failed && running, "Running condition cannot be true when failed condition is true")
	wrong(migrationIs(old, storagemigrationv1.MigrationSucceeded) && !succeeded,
		"Success condition cannot be set to false once it is true")
	wrong(migrationIs(old, storagemigrationv1.MigrationFailed) && !failed,
		"Failed condition cannot be set to false once it is true")
	return errs
}

// migrationIs reports whether a migration has the condition with the status True.
func migrationIs(m *storagemigrationv1.StorageVersionMigration, t storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(t))
}
