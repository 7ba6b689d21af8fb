package validation

import (
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// sealedText is why an object with `immutable` keeps its content.
const sealedText = "field is immutable when `immutable` is set"

// dataKeys judges a bag's keys.
func dataKeys[V any](bag map[string]V, at *field.Path) (errs field.ErrorList) {
	for _, key := range invalid.Each(sorted(bag), &errs) {
		errs = append(errs, judge(key, at.Key(key), utilvalidation.IsConfigMapKey)...)
	}
	return errs
}

func configMap(m *corev1.ConfigMap) (errs field.ErrorList) {
	data, size := field.NewPath("data"), 0
	for _, key := range invalid.Each(sorted(m.Data), &errs) {
		errs = append(errs, judge(key, data.Key(key), utilvalidation.IsConfigMapKey)...)
		if _, twice := m.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(data.Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(m.Data[key])
	}
	errs = append(errs, dataKeys(m.BinaryData, field.NewPath("binaryData"))...)
	for _, value := range m.BinaryData {
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func configMapUpdate(m, old *corev1.ConfigMap) (errs field.ErrorList) {
	if isTrue(old.Immutable) {
		errs = append(errs, sealed(m.Immutable,
			// Upstream defaults only this one to an empty map.
			kept{"data", apiequality.Semantic.DeepEqual(m.Data, old.Data)},
			kept{"binaryData", reflect.DeepEqual(m.BinaryData, old.BinaryData)})...)
	}
	return append(errs, configMap(m)...)
}

// kept is a field of a sealed object and whether it stayed.
type kept struct {
	name string
	kept bool
}

// sealed refuses changes of an object that was immutable.
func sealed(immutable *bool, parts ...kept) (errs field.ErrorList) {
	if !isTrue(immutable) {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), sealedText))
	}
	for _, p := range invalid.Each(parts, &errs) {
		if !p.kept {
			errs = append(errs, field.Forbidden(field.NewPath(p.name), sealedText))
		}
	}
	return errs
}

func isTrue(b *bool) bool { return b != nil && *b }

func secret(s *corev1.Secret) field.ErrorList {
	data, size := field.NewPath("data"), 0
	errs := dataKeys(s.Data, data)
	for _, value := range s.Data {
		size += len(value)
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return append(errs, secretOfType(s, data)...)
}

// secretOfType wants what the secret's type promises.
func secretOfType(s *corev1.Secret, data *field.Path) (errs field.ErrorList) {
	missing := func(key string) {
		errs = append(errs, field.Required(data.Key(key), ""))
	}
	has := func(key string) bool { _, ok := s.Data[key]; return ok }
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, secretJSON(s, corev1.DockerConfigKey, data)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, secretJSON(s, corev1.DockerConfigJsonKey, data)...)
	case corev1.SecretTypeBasicAuth:
		if !has(corev1.BasicAuthUsernameKey) && !has(corev1.BasicAuthPasswordKey) {
			missing(corev1.BasicAuthUsernameKey)
			missing(corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			missing(corev1.SSHAuthPrivateKey)
		}
	case corev1.SecretTypeTLS:
		for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if !has(key) {
				missing(key)
			}
		}
	}
	return errs
}

func secretJSON(s *corev1.Secret, key string, data *field.Path) field.ErrorList {
	text, ok := s.Data[key]
	if !ok {
		return field.ErrorList{field.Required(data.Key(key), "")}
	}
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(data.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

func secretUpdate(s, old *corev1.Secret) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
	if isTrue(old.Immutable) {
		errs = append(errs, sealed(s.Immutable, kept{"data", reflect.DeepEqual(s.Data, old.Data)})...)
	}
	return append(errs, secret(s)...)
}
