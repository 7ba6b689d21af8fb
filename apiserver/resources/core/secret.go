package core

import (
	"crypto/tls"
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func secrets() *entry.Resource {
	doc := corev1.Secret{}.SwaggerDoc()
	return &entry.Resource{
		Plural: "secrets", New: entry.New[corev1.Secret], Namespaced: true,
		Strategy: entry.Strategy{
			Metadata: entry.Metadata{Again: 1},
			Default:  entry.Default(defaultSecret),
			Validate: entry.ValidateChange(validateSecret),
			Warnings: entry.Warn(secretWarnings),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "type", Unset: "Opaque"}}},
		Table: entry.Listed([]entry.Column{entry.Text("Type", doc["type"]), entry.Text("Data", doc["data"])},
			func(s *corev1.Secret) []any { return []any{string(s.Type), int64(len(s.Data))} }),
	}
}

// foldStrings copies stringData to data.
func foldStrings(s *corev1.Secret) {
	if len(s.StringData) > 0 && s.Data == nil {
		s.Data = make(map[string][]byte, len(s.StringData))
	}
	for key, text := range s.StringData {
		s.Data[key] = []byte(text)
	}
	s.StringData = nil
}

func defaultSecret(s *corev1.Secret) {
	check.FillDefault(&s.Type, corev1.SecretTypeOpaque)
	foldStrings(s)
}

// secretWarnings returns the errors of a TLS key pair as warnings, with the messages of crypto/tls.
func secretWarnings(s, _ *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func validateSecret(s, old *corev1.Secret) (errs field.ErrorList) {
	if old != nil {
		errs = check.Immutable(s.Type, old.Type, field.NewPath("type"))
		if check.IsTrue(old.Immutable) {
			errs = append(errs, sealed(s.Immutable, kept{"data", reflect.DeepEqual(s.Data, old.Data)})...)
		}
	}
	data, size := field.NewPath("data"), 0
	errs = append(errs, dataKeys(s.Data, data)...)
	for _, value := range s.Data {
		size += len(value)
	}
	errs = append(errs, check.MaxBytes(size, corev1.MaxSecretSize, data)...)
	return append(errs, secretOfType(s, data)...)
}

// secretOfType requires the keys of the secret's type.
func secretOfType(s *corev1.Secret, data *field.Path) (errs field.ErrorList) {
	missing := func(key string) {
		errs = append(errs, field.Required(data.Key(key), ""))
	}
	has := func(key string) bool { _, ok := s.Data[key]; return ok }
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		errs = append(errs, check.Present(s.Annotations[corev1.ServiceAccountNameKey] != "",
			field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")...)
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
