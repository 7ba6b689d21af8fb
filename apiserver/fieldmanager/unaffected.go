package fieldmanager

import (
	"bytes"
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mostManagers is the maximum number of entries for updates before a field manager merges the oldest (apimachinery
// managedfields/internal: DefaultMaxUpdateManagers).
const mostManagers = 10

// splitEntries separates the entries that a write by the manager may change from the unaffected ones, which contain
// none of the differing fields. No entry is unaffected if the field manager has to see all of them, as it does to merge
// the oldest ones.
func splitEntries(
	entries []metav1.ManagedFieldsEntry, manager string, names []string,
) (affected, unaffected []metav1.ManagedFieldsEntry) {
	if len(entries) >= mostManagers {
		return entries, nil
	}
	for _, e := range entries {
		if e.FieldsV1 == nil || e.Manager == manager || named(e.FieldsV1.GetRawBytes(), names) {
			affected = append(affected, e)
		} else {
			unaffected = append(unaffected, e)
		}
	}
	return affected, unaffected
}

// standIn is an entry for an object whose entries are all unaffected: a field manager does not track objects without
// entries. No client's manager has the name, as its character is not printable.
func standIn(version string) metav1.ManagedFieldsEntry {
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes([]byte(`{"f:-":{}}`))
	return metav1.ManagedFieldsEntry{Manager: "\x00", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version,
		FieldsType: "FieldsV1", FieldsV1: fields}
}

// named reports whether FieldsV1 contains any of the names.
func named(raw []byte, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(raw, []byte(name)) })
}

// ordered sorts entries as a field manager does (apimachinery managedfields/internal: sortEncodedManagedFields).
func ordered(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	slices.SortStableFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion),
			cmp.Compare(a.Subresource, b.Subresource))
	})
	return entries
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// ofVersion reports whether all entries have the version.
func ofVersion(entries []metav1.ManagedFieldsEntry, version string) bool {
	return !slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion != version })
}
