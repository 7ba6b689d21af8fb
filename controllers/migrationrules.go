package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

// migration is a short name of the kind.
type migration = storagemigrationv1.StorageVersionMigration

// The reasons of conditions (K migrationrunner.go, storageversionmigrator.go).
const (
	reasonMigrationRunning   = "MigrationRunning"
	reasonMigrationCompleted = "MigrationCompleted"
	reasonMigrationSucceeded = "StorageVersionMigrationSucceeded"
	reasonMigrationFailed    = "StorageVersionMigrationFailed"
)

// migrationPatience is the time for which a migration waits until its resource is served (K storageversionmigrator.go:
// sync).
const migrationPatience = time.Minute

func migrationIs(m *migration, t storagemigrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(t))
}

func migrationEnded(m *migration) bool {
	return migrationIs(m, storagemigrationv1.MigrationSucceeded) || migrationIs(m, storagemigrationv1.MigrationFailed)
}

// openMigrations returns the migrations that have not ended: first the one that runs, then the others by age, and by
// name if they were created in the same second (K migrationrunner.go: manageAdmission).
func openMigrations(all []*migration) []*migration {
	left := slices.DeleteFunc(slices.Clone(all), migrationEnded)
	runs := func(m *migration) bool { return migrationIs(m, storagemigrationv1.MigrationRunning) }
	slices.SortFunc(left, func(a, b *migration) int {
		return cmp.Or(workload.FalseFirst(!runs(a), !runs(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name))
	})
	return left
}

// migrationObstacle returns the reason why a migration fails before it rewrites an object, or the time that it must
// wait; neither if it can continue. e is the entry of the resource; nil if it is not served.
func migrationObstacle(e *loopback.Type, m *migration, now time.Time) (failure string, wait time.Duration) {
	switch end := m.CreationTimestamp.Add(migrationPatience); {
	case e != nil && e.Collection != "" && e.Has("list") && e.Has("update") && e.Has("patch"):
		return "", 0
	case e != nil:
		return "the resource can't be listed, updated and patched", 0
	case now.Before(end):
		return "", end.Sub(now)
	}
	return "unable to obtain GVR from discovery", 0
}

// olderObjects returns the objects that are not newer than a resource version.
func olderObjects(all []*loopback.Object, than string) (out []*loopback.Object, err error) {
	for _, o := range all {
		c, err := resourceversion.CompareResourceVersion(strconv.FormatInt(o.Revision, 10), than)
		if err != nil {
			return nil, err
		}
		if c <= 0 {
			out = append(out, o)
		}
	}
	return out, nil
}

// needsNoRewrite reports whether an object needs no rewrite because it was changed, deleted, or created again.
func needsNoRewrite(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// isRetriable reports whether an error may be temporary (K storageversionmigrator.go: isRetriableError).
func isRetriable(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err)
}

// setMigrationCondition sets a condition. It reports whether that changed something.
func setMigrationCondition(m *migration, t storagemigrationv1.MigrationConditionType, status metav1.ConditionStatus,
	reason, message string, now time.Time) bool {
	return meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: string(t), Status: status,
		LastTransitionTime: metav1.NewTime(now), Reason: reason, Message: message})
}

// setRunning sets the condition of a migration that runs. It reports whether that changed something.
func setRunning(m *migration, message string, now time.Time) bool {
	return setMigrationCondition(m, storagemigrationv1.MigrationRunning, metav1.ConditionTrue, reasonMigrationRunning,
		message, now)
}

// interruptMigration records the progress of a migration that runs, and the error because of which it is retried.
func interruptMigration(m *migration, left, total int, err error, now time.Time) (changed bool) {
	return setRunning(m, fmt.Sprintf(
		"The migration is running; %d of %d objects remain. It will continue after this error: %v",
		left, total, err), now)
}

// succeedMigration ends a migration of a number of objects.
func succeedMigration(m *migration, total int, now time.Time) {
	completeMigration(m, now)
	setMigrationCondition(m, storagemigrationv1.MigrationSucceeded, metav1.ConditionTrue, reasonMigrationSucceeded,
		fmt.Sprintf("The migration has succeeded; number of objects: %d", total), now)
}

// failMigration ends a migration with an error (K storageversionmigrator.go: failMigration).
func failMigration(m *migration, why string, now time.Time) {
	completeMigration(m, now)
	setMigrationCondition(m, storagemigrationv1.MigrationFailed, metav1.ConditionTrue, reasonMigrationFailed,
		"migration encountered unhandled error: "+why, now)
}

// completeMigration sets the condition Running of a migration to false, because the API does not allow that another
// condition is true while Running is.
func completeMigration(m *migration, now time.Time) {
	if meta.FindStatusCondition(m.Status.Conditions, string(storagemigrationv1.MigrationRunning)) != nil {
		setMigrationCondition(m, storagemigrationv1.MigrationRunning, metav1.ConditionFalse, reasonMigrationCompleted,
			"The migration has completed", now)
	}
}

// definition is a short name of the kind.
type definition = apiextensionsv1.CustomResourceDefinition

// conditionMigrating returns the condition of a definition whose objects the migration begins to rewrite (K
// migrationrunner.go: markAsActive).
func conditionMigrating(d *definition, m *migration, now time.Time) apiextensionsv1.CustomResourceDefinitionCondition {
	return apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.StorageMigrating,
		Status: apiextensionsv1.ConditionTrue, LastTransitionTime: metav1.NewTime(now), Reason: reasonMigrationRunning,
		Message: "Migration " + m.Name + " is running", ObservedGeneration: d.Generation}
}

// conditionMigrated returns the condition of a definition after a migration, and the versions in which objects may be
// stored after it. If the definition has not changed since the migration began, that is the present storage version
// alone, even if the migration has failed (K migrationrunner.go: finishCRDMigration; migrationrunner_test.go).
func conditionMigrated(d *definition, success bool, now time.Time) (
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
