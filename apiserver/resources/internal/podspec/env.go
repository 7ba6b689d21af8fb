package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// validateEnv validates environment variables (core ValidateEnv).
func validateEnv(vars []corev1.EnvVar, at *field.Path) (errs field.ErrorList) {
	for i := range vars {
		v, here := &vars[i], at.Index(i)
		errs = append(errs, check.Needed(v.Name, here.Child("name"), envName)...)
		errs = append(errs, envSource(v, here.Child("valueFrom"))...)
	}
	return errs
}

func envName(name string, at *field.Path) field.ErrorList {
	return check.Apply(name, at, utilvalidation.IsRelaxedEnvVarName)
}

// envFields are the fields that a variable can refer to.
var envFields = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

func envSource(v *corev1.EnvVar, at *field.Path) (errs field.ErrorList) {
	s := v.ValueFrom
	if s == nil {
		return nil
	}
	errs, found := validateEach([]alternative{
		alternativeOf("fieldRef", s.FieldRef, fieldRef(envFields)),
		alternativeOf("resourceFieldRef", s.ResourceFieldRef, resourceRef),
		alternativeOf("configMapKeyRef", s.ConfigMapKeyRef,
			func(k *corev1.ConfigMapKeySelector, at *field.Path) field.ErrorList { return keyRef(k.Name, k.Key, at) }),
		alternativeOf("secretKeyRef", s.SecretKeyRef,
			func(k *corev1.SecretKeySelector, at *field.Path) field.ErrorList { return keyRef(k.Name, k.Key, at) }),
		alternativeOf("fileKeyRef", s.FileKeyRef, fileRef),
	}, at)
	switch {
	case found == 0:
		errs = append(errs, field.Invalid(
			at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
		))
	case v.Value != "":
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case found > 1:
		errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// keyRef requires the name and the key of a config map or secret.
func keyRef(name, key string, at *field.Path) field.ErrorList {
	return append(check.DNSSubdomain(name, at.Child("name")), check.Needed(key, at.Child("key"),
		func(key string, at *field.Path) field.ErrorList {
			return check.Apply(key, at, utilvalidation.IsConfigMapKey)
		})...)
}

// fileRef requires a key in a file that an init container writes (core validateFileKeySelector).
func fileRef(f *corev1.FileKeySelector, at *field.Path) field.ErrorList {
	errs := check.Needed(f.Key, at.Child("key"), envName)
	errs = append(errs, check.Needed(f.VolumeName, at.Child("volumeName"), check.DNSLabel)...)
	return append(errs, check.Needed(f.Path, at.Child("path"), NoBacksteps)...)
}

// envFrom validates sources of variables (core ValidateEnvFrom). The path of an error is that of the whole source.
func envFrom(sources []corev1.EnvFromSource, at *field.Path) (errs field.ErrorList) {
	for i := range sources {
		s, here := &sources[i], at.Index(i)
		errs = append(errs, check.NonEmpty(s.Prefix, here.Child("prefix"), envName)...)
		found := 0
		if s.ConfigMapRef != nil {
			found++
			errs = append(errs, check.Needed(s.ConfigMapRef.Name, here.Child("configMapRef", "name"), namePrefix)...)
		}
		if s.SecretRef != nil {
			found++
			errs = append(errs, check.Needed(s.SecretRef.Name, here.Child("secretRef", "name"), namePrefix)...)
		}
		errs = append(errs, check.Reject(found == 0, at, "", "must specify one of: `configMapRef` or `secretRef`")...)
		errs = append(errs, check.Reject(found > 1, at, "", "may not have more than one field specified at a time")...)
	}
	return errs
}

// namePrefix requires a name or a prefix of a name.
func namePrefix(name string, at *field.Path) field.ErrorList {
	return check.Apply(name, at, func(v string) []string { return apivalidation.NameIsDNSSubdomain(v, true) })
}

// knownFields are those of core ConvertDownwardAPIFieldLabel.
var knownFields = append(
	[]string{"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase"},
	envFields...,
)

// fieldRef returns a rule that requires one of the fields, or one label or annotation.
func fieldRef(fields []string) func(*corev1.ObjectFieldSelector, *field.Path) field.ErrorList {
	return func(f *corev1.ObjectFieldSelector, at *field.Path) field.ErrorList {
		if f.APIVersion == "" {
			return check.RequireAll(at, "apiVersion", "")
		}
		if f.FieldPath == "" {
			return check.RequireAll(at, "fieldPath", "")
		}
		path, key, subscripted := subscript(f.FieldPath)
		if path == "spec.host" && !subscripted {
			path = "spec.nodeName"
		}
		switch {
		case f.APIVersion != "v1":
			return conversionFault(f, "unsupported pod version: "+f.APIVersion, at)
		case subscripted && path == "metadata.annotations":
			return check.QualifiedName(strings.ToLower(key), at)
		case subscripted && path == "metadata.labels":
			return check.QualifiedName(key, at)
		case subscripted:
			return conversionFault(f, "field label does not support subscript: "+f.FieldPath, at)
		case !slices.Contains(knownFields, path):
			return conversionFault(f, "field label not supported: "+f.FieldPath, at)
		}
		return check.OneOf(path, at.Child("fieldPath"), fields)
	}
}

func conversionFault(f *corev1.ObjectFieldSelector, text string, at *field.Path) field.ErrorList {
	return field.ErrorList{field.Invalid(at.Child("fieldPath"), f.FieldPath, "error converting fieldPath: "+text)}
}

// subscript splits a path of the form path['key'].
func subscript(p string) (path, key string, ok bool) {
	inner, ok := strings.CutSuffix(p, "']")
	if !ok {
		return p, "", false
	}
	path, key, ok = strings.Cut(inner, "['")
	if !ok || path == "" {
		return p, "", false
	}
	return path, key, true
}

// containerResources are the resources of a container to which its variables and files can refer.
var containerResources = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
	"requests.memory",
}

func hugePageRef(name string) bool {
	return strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
}

// resourceRef requires a request or limit of a container.
func resourceRef(f *corev1.ResourceFieldSelector, at *field.Path) (errs field.ErrorList) {
	if !hugePageRef(f.Resource) {
		errs = check.Required(f.Resource, at.Child("resource"), containerResources)
	}
	return append(errs, divisor(f.Resource, f.Divisor, at.Child("divisor"))...)
}

// resourceRefInVolume applies resourceRef to a file, which must also name the container.
func resourceRefInVolume(f *corev1.ResourceFieldSelector, at *field.Path) field.ErrorList {
	if f.ContainerName != "" {
		return resourceRef(f, at)
	}
	return append(check.RequireAll(at, "containerName", ""), divisor(f.Resource, f.Divisor, at.Child("divisor"))...)
}

// byteDivisors are the divisors for bytes.
const byteDivisors = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"

// divisor requires a divisor that is valid for the resource.
func divisor(name string, q resource.Quantity, at *field.Path) field.ErrorList {
	if q.IsZero() {
		return nil
	}
	var text string
	units := byteDivisors
	switch _, kind, _ := strings.Cut(name, "."); {
	case hugePageRef(name):
		text = "only divisor's values " + byteDivisors + " are supported with the hugepages resource"
	case !slices.Contains(containerResources, name):
		return nil
	case kind == "cpu":
		units, text = "1m, 1", "only divisor's values 1m and 1 are supported with the cpu resource"
	case kind == "memory":
		text = "only divisor's values " + byteDivisors + " are supported with the memory resource"
	default:
		text = "only divisor's values " + byteDivisors + " are supported with the local ephemeral storage resource"
	}
	return check.Reject(!slices.Contains(strings.Split(units, ", "), q.String()), at, name, text)
}
