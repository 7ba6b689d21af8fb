package loopback_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers"
)

const migrations = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"

// migrated creates a migration of a resource and waits until it has ended; outcome is the type of the condition.
func migrated(
	t *testing.T, s *apiservertest.Server, name, group, resource, outcome string,
) *storagemigrationv1.StorageVersionMigration {
	t.Helper()
	w := s.Watch(migrations + "?watch=1")
	do(t, s, "POST", migrations,
		fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"resource":{"group":%q,"resource":%q}}}`, name, group, resource))
	data, err := shows(t, w, name, fmt.Sprintf(`"status":"True","type":%q`, outcome)).MarshalJSON()
	m := new(storagemigrationv1.StorageVersionMigration)
	if err == nil {
		err = json.Unmarshal(data, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// conditionsOf are those of a migration, without their times.
func conditionsOf(m *storagemigrationv1.StorageVersionMigration) (out []string) {
	for _, c := range m.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return out
}

// TestMigrations (V-087), over HTTP: objects that are stored in an older version are stored in the newest, the others
// are not written, and the definition no longer names the older version.
func TestMigrations(t *testing.T) {
	const n = 7
	s, _ := moved(t, n)
	starts(t, s, "storage-version-migrator-controller")
	do(t, s, "POST", v2widgets, widget("v2", "new", `"host":"x","port":1`))
	revision := func(name string) string { return s.Do("GET", v2widgets+"/"+name, nil).Object().GetResourceVersion() }
	before, fresh := revision("w0000"), revision("new")
	m := migrated(t, s, "m", "example.com", "widgets", "Succeeded")
	if d := cmp.Diff([]string{"Running=False MigrationCompleted: The migration has completed",
		fmt.Sprintf(
			"Succeeded=True StorageVersionMigrationSucceeded: The migration has succeeded; number of objects: %d", n+1),
	}, conditionsOf(m)); d != "" {
		t.Error(d)
	}
	if m.Status.ResourceVersion == "" || revision("w0000") == before || revision("new") != fresh {
		t.Errorf("at %s: the old one is at %s, was at %s; the new one is at %s, was at %s", m.Status.ResourceVersion,
			revision("w0000"), before, revision("new"), fresh)
	}
	var d apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(s.Do("GET", definitions+"/widgets.example.com", nil).Body, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"v2"}, d.Status.StoredVersions); diff != "" {
		t.Error(diff)
	}
	if got := definitionConditions(&d)[apiextensionsv1.StorageMigrating]; got !=
		"False MigrationSucceeded: The migration has succeeded and the stored versions have been updated" {
		t.Error(got)
	}
	if definitionConditions(&d)[apiextensionsv1.Established] == "" {
		t.Errorf("lost: %v", d.Status.Conditions)
	}

	after := revision("w0000")
	migrated(t, s, "again", "example.com", "widgets", "Succeeded")
	if got := revision("w0000"); got != after {
		t.Errorf("what is stored in the newest version was written at %s", got)
	}
	for _, f := range s.Do("GET", v2widgets+"/w0000", nil).Object().GetManagedFields() {
		if f.Manager == controllers.MigrationManager {
			t.Errorf("a patch without a change owns %s", f.FieldsV1)
		}
	}
}

func definitionConditions(
	d *apiextensionsv1.CustomResourceDefinition) map[apiextensionsv1.CustomResourceDefinitionConditionType]string {
	out := map[apiextensionsv1.CustomResourceDefinitionConditionType]string{}
	for _, c := range d.Status.Conditions {
		out[c.Type] = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	return out
}

// TestMigrationFails (V-087): a resource that can't be patched ends a migration. The next one of a resource begins when
// the first is deleted.
func TestMigrationFails(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "storage-version-migrator-controller")
	m := migrated(t, s, "reviews", "authentication.k8s.io", "tokenreviews", "Failed")
	if d := cmp.Diff([]string{
		"Running=False MigrationCompleted: The migration has completed",
		"Failed=True StorageVersionMigrationFailed: migration encountered unhandled error: " +
			"the resource can't be listed, updated and patched",
	}, conditionsOf(m)); d != "" || m.Status.ResourceVersion != "" {
		t.Errorf("%q %s", m.Status.ResourceVersion, d)
	}
	w := s.Watch(migrations + "?watch=1")
	create := func(name string) {
		do(t, s, "POST", migrations, fmt.Sprintf(
			`{"metadata":{"name":%q},"spec":{"resource":{"group":"example.com","resource":"widgets"}}}`, name))
	}
	create("a")
	shows(t, w, "a", `"status":"True","type":"Running"`)
	create("b")
	do(t, s, "DELETE", migrations+"/a", "")
	shows(t, w, "b", `"status":"True","type":"Running"`)
}

// TestMigrationWaits (V-087): the definition of a migration's resource may be created after it.
func TestMigrationWaits(t *testing.T) {
	s := defined(t, nil)
	starts(t, s, "storage-version-migrator-controller")
	w := s.Watch(migrations + "?watch=1")
	do(t, s, "POST", migrations,
		`{"metadata":{"name":"early"},"spec":{"resource":{"group":"example.com","resource":"widgets"}}}`)
	shows(t, w, "early", `"message":"The migration is running"`)
	define(t, s, widgets("widgets", "Widget", version("v1", true, size, "")))
	shows(t, w, "early", `number of objects: 0`)
}

// TestMigrationUnreadable (V-087): an object that can't be read is not passed over. The migration continues, and names
// the object.
func TestMigrationUnreadable(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const key = "/registry/configmaps/default/garbage"
	s.Put(t, key, "garbage")
	starts(t, s, "storage-version-migrator-controller")
	w := s.Watch(migrations + "?watch=1")
	do(t, s, "POST", migrations, `{"metadata":{"name":"m"},"spec":{"resource":{"group":"","resource":"configmaps"}}}`)
	shows(t, w, "m", "1 of 1 objects remain. It will continue after this error: Internal error occurred: reading "+key)
}
