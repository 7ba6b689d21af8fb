package core

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func configMaps() *entry.Resource {
	return &entry.Resource{
		Plural: "configmaps", New: entry.New[corev1.ConfigMap], Namespaced: true,
		ShortNames: []string{"cm"},
		Strategy: entry.Strategy{
			Metadata: entry.Metadata{Again: 1},
			Validate: entry.ValidateChange(validateConfigMap),
		},
		Table: entry.Listed([]entry.Column{entry.Text("Data", corev1.ConfigMap{}.SwaggerDoc()["data"])},
			func(c *corev1.ConfigMap) []any { return []any{int64(len(c.Data) + len(c.BinaryData))} }),
	}
}

func validateConfigMap(m, old *corev1.ConfigMap) (errs field.ErrorList) {
	if old != nil && check.IsTrue(old.Immutable) {
		errs = sealed(m.Immutable,
			// Upstream treats nil and empty maps as equal only for this field.
			kept{"data", apiequality.Semantic.DeepEqual(m.Data, old.Data)},
			kept{"binaryData", reflect.DeepEqual(m.BinaryData, old.BinaryData)})
	}
	data, size := field.NewPath("data"), 0
	for _, key := range check.Sorted(m.Data) {
		errs = append(errs, check.Apply(key, data.Key(key), utilvalidation.IsConfigMapKey)...)
		if _, twice := m.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(data.Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(m.Data[key])
	}
	errs = append(errs, dataKeys(m.BinaryData, field.NewPath("binaryData"))...)
	for _, value := range m.BinaryData {
		size += len(value)
	}
	return append(errs, check.MaxBytes(size, corev1.MaxSecretSize, field.NewPath(""))...)
}
