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

// env validates environment variables (core ValidateEnv).
func (r *Rules) env(vars []corev1.EnvVar, at *field.Path) (errs field.ErrorList) {
	for i := range vars {
		v, here := &vars[i], at.Index(i)
		if v.Name == "" {
			errs = append(errs, check.RequireAll(here, "name", "")...)
		} else {
			errs = append(errs, check.Apply(v.Name, here.Child("name"), utilvalidation.IsRelaxedEnvVarName)...)
		}
		errs = append(errs, r.envSource(v, here.Child("valueFrom"))...)
	}
	return errs
}

// envFields are the fields that a variable can refer to.
var envFields = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

func (r *Rules) envSource(v *corev1.EnvVar, at *field.Path) (errs field.ErrorList) {
	s := v.ValueFrom
	if s == nil {
		return nil
	}
	found := 0
	if s.FieldRef != nil {
		found++
		errs = append(errs, fieldRef(s.FieldRef, envFields, at.Child("fieldRef"))...)
	}
	if s.ResourceFieldRef != nil {
		found++
		errs = append(errs, resourceRef(s.ResourceFieldRef, at.Child("resourceFieldRef"), false)...)
	}
	if s.ConfigMapKeyRef != nil {
		found++
		errs = append(errs, keyRef(s.ConfigMapKeyRef.Name, s.ConfigMapKeyRef.Key, at.Child("configMapKeyRef"))...)
	}
	if s.SecretKeyRef != nil {
		found++
		errs = append(errs, keyRef(s.SecretKeyRef.Name, s.SecretKeyRef.Key, at.Child("secretKeyRef"))...)
	}
	if s.FileKeyRef != nil {
		found++
		errs = append(errs, fileRef(s.FileKeyRef, at.Child("fileKeyRef"))...)
	}
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
	errs := check.DNSSubdomain(name, at.Child("name"))
	if key == "" {
		return append(errs, check.RequireAll(at, "key", "")...)
	}
	return append(errs, check.Apply(key, at.Child("key"), utilvalidation.IsConfigMapKey)...)
}

// fileRef requires a key in a file that an init container writes (core validateFileKeySelector).
func fileRef(f *corev1.FileKeySelector, at *field.Path) field.ErrorList {
	errs := check.RequireAll(at, "key", f.Key)
	if f.Key != "" {
		errs = check.Apply(f.Key, at.Child("key"), utilvalidation.IsRelaxedEnvVarName)
	}
	errs = append(errs, check.RequireAll(at, "volumeName", f.VolumeName)...)
	errs = append(errs, check.NonEmpty(f.VolumeName, at.Child("volumeName"), check.DNSLabel)...)
	errs = append(errs, check.RequireAll(at, "path", f.Path)...)
	return append(errs, NoBacksteps(f.Path, at.Child("path"))...)
}

// envFrom validates sources of variables (core ValidateEnvFrom). An error has the path of the whole source.
func envFrom(sources []corev1.EnvFromSource, at *field.Path) (errs field.ErrorList) {
	for i := range sources {
		s, here := &sources[i], at.Index(i)
		if s.Prefix != "" {
			errs = append(errs, check.Apply(s.Prefix, here.Child("prefix"), utilvalidation.IsRelaxedEnvVarName)...)
		}
		found := 0
		if s.ConfigMapRef != nil {
			found++
			errs = append(errs, sourceName(s.ConfigMapRef.Name, here.Child("configMapRef"))...)
		}
		if s.SecretRef != nil {
			found++
			errs = append(errs, sourceName(s.SecretRef.Name, here.Child("secretRef"))...)
		}
		switch {
		case found == 0:
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"))
		case found > 1:
			errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// sourceName also accepts a prefix of a name.
func sourceName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return check.RequireAll(at, "name", "")
	}
	return check.Apply(name, at.Child("name"), func(v string) []string {
		return apivalidation.NameIsDNSSubdomain(v, true)
	})
}

// knownFields are those of core ConvertDownwardAPIFieldLabel.
var knownFields = append(
	[]string{"metadata.annotations", "metadata.labels", "spec.restartPolicy", "spec.schedulerName", "status.phase"},
	envFields...,
)

// fieldRef requires one of the fields, or one label or annotation.
func fieldRef(f *corev1.ObjectFieldSelector, fields []string, at *field.Path) field.ErrorList {
	if f.APIVersion == "" {
		return check.RequireAll(at, "apiVersion", "")
	}
	if f.FieldPath == "" {
		return check.RequireAll(at, "fieldPath", "")
	}
	path, key, subscripted := subscript(f.FieldPath)
	name := path
	switch {
	case f.APIVersion != "v1":
		return conversionFault(f, "unsupported pod version: "+f.APIVersion, at)
	case subscripted:
		// As upstream: the conversion accepts annotations and labels with any key, and other paths only without one.
		if path != "metadata.annotations" && path != "metadata.labels" {
			return conversionFault(f, "field label does not support subscript: "+f.FieldPath, at)
		}
	case path == "spec.host":
		name = "spec.nodeName"
	case !slices.Contains(knownFields, path):
		return conversionFault(f, "field label not supported: "+f.FieldPath, at)
	}
	switch {
	case subscripted && path == "metadata.annotations":
		return check.QualifiedName(strings.ToLower(key), at)
	case subscripted:
		return check.QualifiedName(key, at)
	case !slices.Contains(fields, name):
		return field.ErrorList{field.NotSupported(at.Child("fieldPath"), name, fields)}
	}
	return nil
}

func conversionFault(f *corev1.ObjectFieldSelector, text string, at *field.Path) field.ErrorList {
	return field.ErrorList{field.Invalid(at.Child("fieldPath"), f.FieldPath, "error converting fieldPath: "+text)}
}

// subscript splits path['key'].
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

// containerResources are the resources of a container that its variables and files can refer to.
var containerResources = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage",
	"requests.memory",
}

func hugePageRef(name string) bool {
	return strings.HasPrefix(name, "requests.hugepages-") || strings.HasPrefix(name, "limits.hugepages-")
}

// resourceRef requires a container's request or limit; a volume must name the container.
func resourceRef(f *corev1.ResourceFieldSelector, at *field.Path, inVolume bool) (errs field.ErrorList) {
	switch {
	case inVolume && f.ContainerName == "":
		errs = check.RequireAll(at, "containerName", "")
	case f.Resource == "":
		errs = check.RequireAll(at, "resource", "")
	case !slices.Contains(containerResources, f.Resource) && !hugePageRef(f.Resource):
		errs = field.ErrorList{field.NotSupported(at.Child("resource"), f.Resource, containerResources)}
	}
	return append(errs, divisor(f.Resource, f.Divisor, at.Child("divisor"))...)
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
	if slices.Contains(strings.Split(units, ", "), q.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, text)}
}
