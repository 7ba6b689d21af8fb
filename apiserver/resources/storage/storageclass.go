package storage

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func storageClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "storageclasses", New: entry.New[storagev1.StorageClass],
		ShortNames: []string{"sc"},
		Strategy: entry.Strategy{
			Default:  entry.Default(defaultStorageClass),
			Validate: entry.Validate(validateStorageClass),
			Warnings: entry.Warn(storageClassWarnings),
		},
		Delete: entry.Deletion{Returned: true},
		Table:  storageClassTable(),
	}
}

func defaultStorageClass(c *storagev1.StorageClass) {
	check.SetDefault(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
	check.SetDefault(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
}

func storageClassWarnings(c, _ *storagev1.StorageClass) []string {
	var texts []string
	for i, t := range c.AllowedTopologies {
		for j, e := range t.MatchLabelExpressions {
			if why, ok := check.DeprecatedLabels[e.Key]; ok {
				at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key")
				texts = append(texts, fmt.Sprintf("%s: %s", at, why))
			}
		}
	}
	return texts
}

var (
	classReclaimPolicies = []corev1.PersistentVolumeReclaimPolicy{
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain,
	}
	bindingModes = []storagev1.VolumeBindingMode{
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer,
	}
)

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	errs := check.NonEmpty(c.Provisioner, field.NewPath("provisioner"), provisioner)
	errs = append(errs, parameters(c.Parameters, true, field.NewPath("parameters"))...)
	errs = append(errs, check.NonEmpty(check.ValueOf(c.ReclaimPolicy), field.NewPath("reclaimPolicy"),
		check.Among(classReclaimPolicies...))...)
	errs = append(errs, check.Must(c.VolumeBindingMode, field.NewPath("volumeBindingMode"), "",
		check.Among(bindingModes...))...)
	return append(errs, topologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
}

// topologies validates each term and rejects duplicates. Upstream also compares each term with len(terms) empty terms,
// so it reports an empty term once for each term.
func topologies(terms []corev1.TopologySelectorTerm, at *field.Path) (errs field.ErrorList) {
	same := map[string]int{topologyID(nil): len(terms)}
	for i, term := range terms {
		at := at.Index(i).Child("matchLabelExpressions")
		values := map[string]map[string]bool{}
		for j, r := range term.MatchLabelExpressions {
			at := at.Index(j)
			errs = append(errs, check.Present(len(r.Values) > 0, at.Child("values"), "")...)
			has := check.Unique[string]{}
			errs = append(errs, check.All(r.Values, at.Child("values"), has.Add)...)
			errs = append(errs, metav1validation.ValidateLabelName(r.Key, at.Child("key"))...)
			if _, again := values[r.Key]; again {
				errs = append(errs, field.Duplicate(at.Child("key"), r.Key))
			}
			values[r.Key] = has
		}
		id := topologyID(values)
		for range make([]struct{}, same[id]) {
			errs = append(errs, field.Duplicate(at, ""))
		}
		same[id]++
	}
	return errs
}

// topologyID returns a string that is equal for terms with the same keys and values.
func topologyID(values map[string]map[string]bool) string {
	var b strings.Builder
	for _, key := range check.Sorted(values) {
		fmt.Fprintf(&b, "%q:%q,", key, check.Sorted(values[key]))
	}
	return b.String()
}

// The annotations of the default StorageClass.
const (
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

func storageClassTable() entry.Table {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	t := entry.Listed([]entry.Column{
		entry.Text("Provisioner", doc["provisioner"]),
		entry.Text("ReclaimPolicy", doc["reclaimPolicy"]),
		entry.Text("VolumeBindingMode", doc["volumeBindingMode"]),
		entry.Text("AllowVolumeExpansion", doc["allowVolumeExpansion"]),
	}, func(c *storagev1.StorageClass) []any {
		return []any{
			c.Provisioner,
			string(entry.ValueOr(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)),
			string(entry.ValueOr(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)),
			entry.ValueOr(c.AllowVolumeExpansion, false), // a boolean, although its column is a string
		}
	})
	t.Default = effectiveDefault
	return t
}

// effectiveDefault returns the index of the newest class that is marked as default. The name decides between classes of
// the same age. Claims without a class get this class (V-104; storage/util: GetDefaultClass).
func effectiveDefault(all []runtime.Object) int {
	found := -1
	var newest *storagev1.StorageClass
	for i, obj := range all {
		c := entry.As[*storagev1.StorageClass](obj)
		if c.Annotations[defaultClass] != "true" && c.Annotations[betaDefaultClass] != "true" {
			continue
		}
		if newest == nil || newer(c, newest) {
			found, newest = i, c
		}
	}
	return found
}

func newer(a, b *storagev1.StorageClass) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}
