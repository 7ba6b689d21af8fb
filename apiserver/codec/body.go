package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// MaxBody is the maximum size of a request's body in bytes (0-14).
const MaxBody = 3 * 1024 * 1024

// TooLarge returns the error 413 for a body that exceeds MaxBody.
func TooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxBody))
}

// The supported media types, in the order of preference.
const (
	MediaJSON     = "application/json"
	MediaYAML     = "application/yaml"
	MediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// Body is the body of a request, with its media type and the option fieldValidation.
type Body struct {
	Bytes []byte
	Media string
	// Strictness is the option fieldValidation: Strict, Warn or Ignore.
	Strictness string
}

// NewBody returns a body with the option fieldValidation. The default is Warn.
func NewBody(data []byte, media, fieldValidation string) Body {
	return Body{Bytes: data, Media: media, Strictness: cmp.Or(fieldValidation, metav1.FieldValidationWarn)}
}

// Decode decodes a body, which must have the kind and version of want. It calls warn with strict errors for warnings.
func Decode(b Body, want schema.GroupVersionKind, coerce Coercion, warn func(string)) (runtime.Object, error) {
	obj, got, err := DecodeAny(b, want, coerce)
	if strict, ok := runtime.AsStrictDecodingError(err); ok && b.Strictness != metav1.FieldValidationStrict {
		if b.Strictness == metav1.FieldValidationWarn {
			for _, e := range strict.Errors() {
				WarnStrict(e.Error(), warn)
			}
		}
		err = nil
	}
	// Upstream decodes a body of a kind that is no longer served.
	retired := coerce == nil && runtime.IsNotRegisteredError(err) && got != nil && resources.Retired(*got)
	if err != nil && !retired {
		return nil, decodeError(err, want.Kind, got, b.Bytes)
	}
	// For a custom resource, the validation reports a wrong kind.
	if !resources.Same(got.GroupKind(), want.GroupKind()) && coerce == nil {
		return nil, decodeError(unknownConversion(*got, want), want.Kind, got, b.Bytes)
	}
	if got.GroupVersion() != want.GroupVersion() {
		return nil, status.BadRequest("the API version in the data (%s) does not match the expected API version (%s)",
			got.GroupVersion(), want.GroupVersion())
	}
	return obj, nil
}

// WarnStrict warns of strict decoding errors, one warning for each error that the YAML parser reports (B-71).
func WarnStrict(text string, warn func(string)) {
	_, lines, found := strings.Cut(text, "yaml: unmarshal errors:\n")
	if !found {
		warn(text)
		return
	}
	for line := range strings.SplitSeq(lines, "\n") {
		warn(strings.TrimSpace(line))
	}
}

// InternalPackage returns the name of upstream's package for the internal types of a group. The error message for a
// body of another kind contains it.
func InternalPackage(group string) string {
	if group == "" || group == "events.k8s.io" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// Coercion is resources.Resource.Coerce of a custom resource. It is nil for kinds with a Go type.
type Coercion func(obj runtime.Object) (unknown []string, err error)

// CoercionOf returns the Coercion of a custom resource, or nil for other kinds.
func CoercionOf(res *resources.Resource) Coercion {
	if !res.Custom {
		return nil
	}
	return res.Coerce
}

// codecs returns the decoders of all media types for objects of built-in kinds.
var codecs = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(resources.Scheme()) })

// decoder returns the decoder of a body's media type.
func decoder(b Body) runtime.Decoder {
	info, _ := runtime.SerializerInfoForMediaType(codecs().SupportedMediaTypes(), b.Media)
	if b.Strictness == metav1.FieldValidationIgnore {
		return info.Serializer
	}
	return info.StrictSerializer
}

// DecodeAny decodes a body of any kind, and returns its kind.
func DecodeAny(
	b Body, want schema.GroupVersionKind, coerce Coercion,
) (obj runtime.Object, got *schema.GroupVersionKind, err error) {
	checked, err := CheckCost(b)
	if err != nil {
		return nil, nil, err
	}
	// A body may omit a built-in kind, but not a custom one: upstream decodes that into an object without a default
	// kind.
	var into runtime.Object
	if coerce != nil {
		into = &unstructured.Unstructured{}
	}
	decode := func(b Body) (err error) {
		obj, got, err = decoder(b).Decode(b.Bytes, &want, into)
		return err
	}
	if coerce == nil {
		err = CheckQuantities(checked, decode)
	}
	if err == nil {
		err = decode(b)
	}
	switch {
	case coerce != nil && (err == nil || runtime.IsStrictDecodingError(err)):
		obj, err = coerced(obj, coerce, err)
	case err == nil && b.Media == MediaProtobuf:
		err = checkJSON(obj)
	}
	return obj, got, err
}

// coerced coerces a custom resource, and adds the unknown fields to the strict errors of its decoding.
func coerced(obj runtime.Object, coerce Coercion, err error) (runtime.Object, error) {
	unknown, failed := coerce(obj)
	if failed != nil {
		return nil, failed
	}
	var strict []error
	if e, ok := runtime.AsStrictDecodingError(err); ok {
		strict = e.Errors()
	}
	for _, path := range unknown {
		strict = append(strict, fmt.Errorf("unknown field %q", path))
	}
	if len(strict) > 0 {
		err = runtime.NewStrictDecodingError(strict)
	}
	return obj, err
}

// checkJSON returns an error for an object from protobuf that can't be stored as JSON: one with a time after the year
// 9999, or with raw bytes that are not JSON.
func checkJSON(obj runtime.Object) error {
	data, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, reflect.New(reflect.TypeOf(obj).Elem()).Interface())
}

// CheckCost returns an error for a body that is too expensive to decode, or the body with YAML as JSON.
func CheckCost(b Body) (Body, error) {
	switch {
	case b.Media == MediaProtobuf:
		_, err := checkNesting(b.Bytes)
		return b, err
	case b.Media == MediaYAML && !json.Valid(b.Bytes):
		if err := checkAliases(b.Bytes); err != nil {
			return b, err
		}
		j, err := yaml.YAMLToJSON(b.Bytes)
		if err != nil {
			return b, err
		}
		b.Bytes, b.Media = j, MediaJSON
	}
	_, err := measure(b.Bytes)
	return b, err
}

// CountValues returns an upper bound of the number of values in a body. It does not parse JSON and YAML, but counts
// commas, opening brackets and, in YAML, lines.
func CountValues(b Body) int {
	if b.Media == MediaProtobuf {
		n, _ := checkNesting(b.Bytes) // the decoder returns the error
		return n
	}
	n := bytes.Count(b.Bytes, []byte{','}) + bytes.Count(b.Bytes, []byte{'{'}) + bytes.Count(b.Bytes, []byte{'['})
	if strings.HasSuffix(b.Media, "yaml") {
		n += bytes.Count(b.Bytes, []byte{'\n'})
	}
	return n
}

// decodeError returns the error for a body that can't be decoded.
func decodeError(err error, kind string, got *schema.GroupVersionKind, data []byte) error {
	if errors.Is(err, errValues) {
		return err
	}
	if runtime.IsNotRegisteredError(err) && got != nil {
		// The message contains the name of the scheme, which must be that of upstream's.
		err = NotRegistered(*got)
	}
	if got != nil && got.Kind != "" {
		return Unconvertible(*got, kind, err)
	}
	return status.BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summary(data))
}

// Unconvertible returns the error for an object that can't be converted to another kind or version.
func Unconvertible(got schema.GroupVersionKind, kind string, err error) error {
	return status.BadRequest("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err)
}

// SchemeName is the name of each of upstream's schemes in error messages.
const SchemeName = "pkg/runtime/scheme.go:111"

// NotRegistered returns the error for an unknown kind.
func NotRegistered(gvk schema.GroupVersionKind) error {
	return runtime.NewNotRegisteredErrForKind(SchemeName, gvk)
}

func unknownConversion(got, want schema.GroupVersionKind) error {
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, got.Kind,
		InternalPackage(want.Group), want.Kind)
}

// summary returns the first 30 bytes of a body: as text if it begins like JSON, otherwise in hexadecimal.
func summary(data []byte) string {
	if len(data) == 0 {
		return "<empty>"
	}
	format, more := "%x%s", ""
	if data[0] == '{' {
		format = "%s%s"
	}
	if len(data) > 30 {
		data, more = data[:30], " ..."
	}
	return fmt.Sprintf(format, data, more)
}

// DecodeStored decodes the JSON of a stored or cached object, and returns the object in its stored version.
func DecodeStored(res *resources.Resource, data []byte) (runtime.Object, error) {
	if res.Custom {
		u := &unstructured.Unstructured{}
		err := u.UnmarshalJSON(data)
		if err == nil && res.Restore != nil {
			err = res.Restore(u)
		}
		return u, err
	}
	if res.ToStored != nil { // the bytes may be of either version
		return res.DecodeStored(data)
	}
	gvk := res.Stored
	if gvk.Empty() { // not a stored resource
		gvk = res.GroupVersionKind()
	}
	obj, err := resources.Scheme().New(gvk)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
	}
	return obj, err
}

// EncodeStored encodes an object as kube-apiserver stores it in JSON, but without the newline at the end. The caller
// must clear the object's resourceVersion first.
func EncodeStored(res *resources.Resource, obj runtime.Object) (value []byte, err error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if res.ToStored != nil {
			if obj, err = res.ToStored(u); err != nil {
				return nil, err
			}
		}
		return json.Marshal(obj.(*unstructured.Unstructured).Object)
	}
	if res.Written != nil {
		if obj, err = res.Written.To(obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(res.WrittenKind())
	value, err = json.Marshal(obj)
	if err == nil && bytes.Contains(value, lateYear) {
		if _, err := DecodeStored(res, value); err != nil {
			return nil, status.BadRequest("the object can't be read again: %v", err)
		}
	}
	return value, err
}

// lateYear is the beginning of a time in the year 10000, which can't be decoded. A time of the year 9999 in another
// time zone may become such a time when it is encoded.
var lateYear = []byte(`"10000-01-01T`)

// ProtobufPrefix is the prefix of protobuf bodies.
var ProtobufPrefix = []byte("k8s\x00")
