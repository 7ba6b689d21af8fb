package controllers

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/loopback"
)

// TestMigrationObstacle: only a resource that is not served is waited for.
func TestMigrationObstacle(t *testing.T) {
	now := time.Unix(1000, 0)
	migratable := &loopback.Type{}
	migratable.Collection, migratable.Verbs = "c", []string{"list", "update", "patch"}
	for _, c := range []struct {
		entry *loopback.Type
		age   time.Duration
		fails bool
		wait  time.Duration
	}{
		{migratable, 0, false, 0},
		{migratable, time.Hour, false, 0},
		{&loopback.Type{}, 0, true, 0},
		{nil, 0, false, time.Minute},
		{nil, 59 * time.Second, false, time.Second},
		{nil, time.Minute, true, 0},
	} {
		m := &storagemigrationv1.StorageVersionMigration{}
		m.CreationTimestamp = metav1.NewTime(now.Add(-c.age))
		if failure, wait := migrationObstacle(c.entry, m, now); (failure != "") != c.fails || wait != c.wait {
			t.Errorf("%v after %v: %q, %v", c.entry, c.age, failure, wait)
		}
	}
}

// TestDefinitionMattersOnlyWithMigration: an event of a definition matters only while a migration is of its resource.
func TestDefinitionMattersOnlyWithMigration(t *testing.T) {
	widgets := groupResource{Group: "example.com", Resource: "widgets"}
	known := migrationResources{"m": widgets, "n": widgets, "pods": {Resource: "pods"}}
	for definition, want := range map[string]bool{
		"widgets.example.com": true, "gadgets.example.com": false, "widgets.example": false, "pods": false,
	} {
		if r, ok := known.defined(definition); ok != want || ok && r != widgets {
			t.Errorf("%s: %v, %v", definition, r, ok)
		}
	}
}

// TestOlderObjects: resource versions are compared as numbers.
func TestOlderObjects(t *testing.T) {
	nine, ten, eleven := &loopback.Object{Revision: 9}, &loopback.Object{Revision: 10}, &loopback.Object{Revision: 11}
	got, err := olderObjects([]*loopback.Object{nine, ten, eleven}, "10")
	if !slices.Equal(got, []*loopback.Object{nine, ten}) || err != nil {
		t.Error(err, got)
	}
	if _, err := olderObjects([]*loopback.Object{nine}, "x"); err == nil {
		t.Error("x is no resource version")
	}
}

// TestOpen: the migration that runs is first, then the others by age and name; those that have ended are omitted.
func TestOpenMigrations(t *testing.T) {
	at := func(name string, second int64, conditions ...storagemigrationv1.MigrationConditionType) *migration {
		m := &migration{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}}
		for _, c := range conditions {
			setMigrationCondition(m, c, metav1.ConditionTrue, "", "", time.Unix(0, 0))
		}
		return m
	}
	var got []string
	for _, m := range openMigrations([]*migration{
		at("b", 7), at("a", 7), at("old", 5), at("running", 8, storagemigrationv1.MigrationRunning),
		at("failed", 1, storagemigrationv1.MigrationFailed), at("done", 1, storagemigrationv1.MigrationSucceeded),
	}) {
		got = append(got, m.Name)
	}
	if d := cmp.Diff([]string{"running", "old", "a", "b"}, got); d != "" {
		t.Error(d)
	}
}

// TestStoredVersionsAfterMigration: the stored versions are the storage version, unless the definition has changed
// since the migration began.
func TestStoredVersionsAfterMigration(t *testing.T) {
	d := &definition{}
	d.Generation = 3
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2", Storage: true}}
	d.Status.StoredVersions = []string{"v1", "v2"}
	now := time.Unix(1000, 0)
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{conditionMigrating(d, &migration{}, now)}
	for _, c := range []struct {
		generation int64
		success    bool
		message    string
		stored     []string
	}{
		{3, true, "The migration has succeeded and the stored versions have been updated", []string{"v2"}},
		{3, false, "The migration has failed", []string{"v2"}},
		{4, true, "The migration has succeeded but the stored versions have not been updated due to a " +
			"generation mismatch", []string{"v1", "v2"}},
		{4, false, "The migration has failed", []string{"v1", "v2"}},
	} {
		d.Generation = c.generation
		got, stored := conditionMigrated(d, c.success, now)
		if diff := cmp.Diff(c.stored, stored); diff != "" || got.Message != c.message || got.Status != "False" {
			t.Errorf("generation %d, success %v: %v %s", c.generation, c.success, got, diff)
		}
	}
}

// TestErrors: after an error that may pass the migration starts again, what was changed or deleted needs no rewrite,
// and any other error ends the migration.
func TestMigrationErrors(t *testing.T) {
	r := schema.GroupResource{Resource: "things"}
	for _, c := range []struct {
		err           error
		passing, gone bool
	}{
		{apierrors.NewTooManyRequests("busy", 20), true, false},
		{apierrors.NewInternalError(errors.New("not now")), true, false},
		{apierrors.NewConflict(r, "a", errors.New("changed")), false, true},
		{apierrors.NewNotFound(r, "a"), false, true},
		{apierrors.NewForbidden(r, "a", errors.New("no")), false, false},
	} {
		if isRetriable(c.err) != c.passing || needsNoRewrite(c.err) != c.gone {
			t.Errorf("%v: may pass %v, gone %v", c.err, isRetriable(c.err), needsNoRewrite(c.err))
		}
	}
}
