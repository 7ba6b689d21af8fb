package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Migration is the kind.
type Migration = storagemigrationv1.StorageVersionMigration

// The reasons of conditions (K migrationrunner.go, storageversionmigrator.go).
const (
	reasonRunning   = "MigrationRunning"
	reasonCompleted = "MigrationCompleted"
	reasonSucceeded = "StorageVersionMigrationSucceeded"
	reasonFailed    = "StorageVersionMigrationFailed"
)

// patience is how long a migration waits for its resource to be served (K storageversionmigrator.go: sync).
const patience = time.Minute

func is(m *Migration, t storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(t))
}

func ended(m *Migration) bool {
	return is(m, storagemigrationv1.MigrationSucceeded) || is(m, storagemigrationv1.MigrationFailed)
}

// open returns the migrations that have not ended: first the one that runs, then the others by age, and by name if they
// were created in the same second (K migrationrunner.go: manageAdmission).
func open(all []*Migration) []*Migration {
	left := slices.DeleteFunc(slices.Clone(all), ended)
	slices.SortFunc(left, func(a, b *Migration) int {
		return cmp.Or(waits(a)-waits(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name))
	})
	return left
}

// waits is 0 for a migration that runs, else 1.
func waits(m *Migration) int {
	if is(m, storagemigrationv1.MigrationRunning) {
		return 0
	}
	return 1
}

// Target reports whether the objects of a resource can be migrated.
type Target uint8

// The kinds of targets.
const (
	// Unserved: there is no such resource.
	Unserved Target = iota
	// Fixed: it can't be listed and patched.
	Fixed
	// Migratable: its objects can be rewritten.
	Migratable
)

// obstacle returns why a migration fails before it touches an object, or how long it waits; neither if it can go on.
func obstacle(t Target, m *Migration, now time.Time) (failure string, wait time.Duration) {
	switch end := m.CreationTimestamp.Add(patience); {
	case t == Migratable:
		return "", 0
	case t == Fixed:
		return "the resource can't be listed, updated and patched", 0
	case now.Before(end):
		return "", end.Sub(now)
	}
	return "unable to obtain GVR from discovery", 0
}

// Item is an object of the resource.
type Item struct{ Namespace, Name, ResourceVersion string }

// older returns the items that are not newer than a resource version.
func older(items []Item, than string) ([]Item, error) {
	var out []Item
	for _, i := range items {
		c, err := resourceversion.CompareResourceVersion(i.ResourceVersion, than)
		if err != nil {
			return nil, err
		}
		if c <= 0 {
			out = append(out, i)
		}
	}
	return out, nil
}

// gone reports whether an object needs no rewrite because it was changed, deleted, or created again.
func gone(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// passing reports whether an error may pass (K storageversionmigrator.go: isRetriableError).
func passing(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err)
}

// set sets a condition. It reports whether that changed something.
func set(m *Migration, t storagemigrationv1.MigrationConditionType, status metav1.ConditionStatus,
	reason, message string, now time.Time) bool {
	return meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: string(t), Status: status,
		LastTransitionTime: metav1.NewTime(now), Reason: reason, Message: message})
}

// begun makes a migration the one that runs.
func begun(m *Migration, now time.Time) {
	set(m, storagemigrationv1.MigrationRunning, metav1.ConditionTrue, reasonRunning, "The migration is running", now)
}

// interrupted notes how far a migration that runs has come, and the error after which it starts again.
func interrupted(m *Migration, left, total int, err error, now time.Time) (changed bool) {
	return set(m, storagemigrationv1.MigrationRunning, metav1.ConditionTrue, reasonRunning, fmt.Sprintf(
		"The migration is running; %d of %d objects remain, and it starts again after an error: %v", left, total, err), now)
}

// succeeded ends a migration of a number of objects.
func succeeded(m *Migration, total int, now time.Time) {
	completed(m, now)
	set(m, storagemigrationv1.MigrationSucceeded, metav1.ConditionTrue, reasonSucceeded,
		fmt.Sprintf("The migration has succeeded; number of objects: %d", total), now)
}

// failed ends a migration with an error (K storageversionmigrator.go: failMigration).
func failed(m *Migration, why string, now time.Time) {
	completed(m, now)
	set(m, storagemigrationv1.MigrationFailed, metav1.ConditionTrue, reasonFailed,
		"migration encountered unhandled error: "+why, now)
}

// completed ends the running of a migration that ran: the API allows no other condition to be true beside it.
func completed(m *Migration, now time.Time) {
	if meta.FindStatusCondition(m.Status.Conditions, string(storagemigrationv1.MigrationRunning)) != nil {
		set(m, storagemigrationv1.MigrationRunning, metav1.ConditionFalse, reasonCompleted,
			"The migration has completed", now)
	}
}

// Definition is the kind of the definitions of custom resources.
type Definition = apiextensionsv1.CustomResourceDefinition

// migrating returns the condition of a definition whose objects the migration begins to rewrite (K migrationrunner.go:
// markAsActive).
func migrating(d *Definition, m *Migration, now time.Time) apiextensionsv1.CustomResourceDefinitionCondition {
	return apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.StorageMigrating,
		Status: apiextensionsv1.ConditionTrue, LastTransitionTime: metav1.NewTime(now), Reason: reasonRunning,
		Message: "Migration " + m.Name + " is running", ObservedGeneration: d.Generation}
}

// migrated returns the condition of a definition after a migration, and the versions that objects may be stored in
// since. They are only the present one if the definition has not changed since the migration began, even if it has
// failed (K migrationrunner.go: finishCRDMigration; migrationrunner_test.go).
func migrated(d *Definition, success bool, now time.Time) (
	c apiextensionsv1.CustomResourceDefinitionCondition, stored []string,
) {
	c = apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.StorageMigrating,
		Status: apiextensionsv1.ConditionFalse, LastTransitionTime: metav1.NewTime(now), Reason: "MigrationFailed",
		Message: "The migration has failed", ObservedGeneration: d.Generation}
	same := slices.ContainsFunc(d.Status.Conditions, func(o apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return o.Type == apiextensionsv1.StorageMigrating && o.ObservedGeneration == d.Generation
	})
	stored = d.Status.StoredVersions
	if same {
		stored = nil
		for _, v := range d.Spec.Versions {
			if v.Storage {
				stored = append(stored, v.Name)
			}
		}
	}
	if success {
		c.Reason = "MigrationSucceeded"
		c.Message = "The migration has succeeded but the stored versions have not been updated due to a generation mismatch"
		if same {
			c.Message = "The migration has succeeded and the stored versions have been updated"
		}
	}
	return c, stored
}
