package apiserver

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/objectmeta"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// maxBody bounds a request's body (0-14).
const maxBody = 3 * 1024 * 1024

// readBody returns the whole body, which intake has read, or the error with which it can't be read.
func readBody(r *http.Request) ([]byte, error) {
	switch b := r.Body.(type) {
	case nil:
		return nil, nil
	case *readAlready:
		return b.data, nil
	}
	return gather(r.Body, r.ContentLength, func(int) bool { return true })
}

func tooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
}

// body is a request's object with how it is to be read.
type body struct {
	bytes []byte
	media string
	// strictness is fieldValidation: Strict, Warn or Ignore.
	strictness string
}

// newBody is a body whose strictness is that of the options; by default it warns.
func newBody(data []byte, media, fieldValidation string) body {
	if fieldValidation == "" {
		fieldValidation = metav1.FieldValidationWarn
	}
	return body{bytes: data, media: media, strictness: fieldValidation}
}

// decodeBody reads a body that must be of the kind want; it returns the object in that version.
func decodeBody(b body, want schema.GroupVersionKind, coerce coercion, warn func(string)) (runtime.Object, error) {
	obj, got, err := decodeAny(b, want, coerce)
	if err != nil && runtime.IsStrictDecodingError(err) {
		switch b.strictness {
		case metav1.FieldValidationWarn:
			strict, _ := runtime.AsStrictDecodingError(err)
			for _, e := range strict.Errors() {
				warnStrict(e.Error(), warn)
			}
			err = nil
		case metav1.FieldValidationIgnore:
			err = nil
		}
	}
	if err != nil && !(coerce == nil && retired(err, got)) {
		return nil, decodeError(err, want.Kind, got, b.bytes)
	}
	if !resources.Same(got.GroupKind(), want.GroupKind()) && coerce == nil { // of a custom resource its own rules say so
		err := fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, got.Kind, internalPackage(want.Group), want.Kind)
		return nil, decodeError(err, want.Kind, got, b.bytes)
	}
	if got.GroupVersion() != want.GroupVersion() {
		return nil, status.BadRequest("the API version in the data (%s) does not match the expected API version (%s)", got.GroupVersion(), want.GroupVersion())
	}
	return obj, nil
}

// retired reports whether a body couldn't be decoded because its kind, which upstream decodes and converts, is served
// no more. What is wrong with such a body besides isn't found.
func retired(err error, got *schema.GroupVersionKind) bool {
	return runtime.IsNotRegisteredError(err) && got != nil && resources.Retired(*got)
}

// warnStrict warns of a fault that isn't fatal, line by line where YAML's reader has found several (B-71).
func warnStrict(text string, warn func(string)) {
	for _, head := range []string{"yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"} {
		lines, found := strings.CutPrefix(text, head)
		if !found {
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			warn(strings.TrimSpace(line))
		}
		return
	}
	warn(text)
}

// internalPackage is the name of the package that upstream keeps a group's internal types in; it
// shows in the text for a body of another kind.
func internalPackage(group string) string {
	if group == "" || group == "events.k8s.io" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// coercion is resources.Resource.Coerce; nil for kinds with a Go type.
type coercion func(obj runtime.Object) (unknown []string, err error)

// decoding is how a body is read.
type decoding struct {
	media  string
	strict bool
}

// decoders read the objects of built-in kinds. To make one takes a third of the time that it needs for a small object.
var decoders = sync.OnceValue(func() map[decoding]runtime.Decoder {
	scheme, all := resources.Scheme(), map[decoding]runtime.Decoder{}
	for _, strict := range []bool{false, true} {
		all[decoding{mediaProtobuf, strict}] = protobuf.NewSerializer(scheme, scheme)
		for _, media := range []string{mediaJSON, mediaYAML} {
			all[decoding{media, strict}] = jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme,
				jsonserializer.SerializerOptions{Yaml: media == mediaYAML, Strict: strict})
		}
	}
	return all
})

func decodeAny(b body, want schema.GroupVersionKind, coerce coercion) (runtime.Object, *schema.GroupVersionKind, error) {
	if err := checkCost(b); err != nil {
		return nil, nil, err
	}
	if coerce != nil {
		return decodeCustom(b, want, coerce)
	}
	if err := checkQuantities(b, want); err != nil {
		return nil, nil, err
	}
	obj, got, err := decoders()[decoding{b.media, b.strictness != metav1.FieldValidationIgnore}].Decode(b.bytes, &want, nil)
	if err == nil && b.media == mediaProtobuf {
		err = checkJSON(obj)
	}
	return obj, got, err
}

// checkJSON refuses what came in protobuf and has no JSON, which is what is stored: a time after the year
// 9999, raw bytes that are no JSON.
func checkJSON(obj runtime.Object) error {
	data, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, reflect.New(reflect.TypeOf(obj).Elem()).Interface())
}

// checkCost refuses a body that only looks as if it were quickly read.
func checkCost(b body) error {
	switch b.media {
	case mediaYAML:
		return checkYAML(b.bytes)
	case mediaProtobuf:
		return checkNesting(bytes.TrimPrefix(b.bytes, protobufPrefix))
	}
	return checkWork(b.bytes)
}

// decodeCustom reads an unstructured object.
func decodeCustom(b body, want schema.GroupVersionKind, coerce coercion) (runtime.Object, *schema.GroupVersionKind, error) {
	data := b.bytes
	var strict []error
	if b.media == mediaYAML {
		j, err := yaml.YAMLToJSONStrict(data)
		if err != nil {
			strict = append(strict, err)
			if j, err = yaml.YAMLToJSON(data); err != nil {
				return nil, nil, err
			}
		}
		data = j
	}
	meta, err := jsonserializer.DefaultMetaFactory.Interpret(data)
	if err != nil {
		return nil, nil, err
	}
	got := *meta
	if got.Kind == "" {
		got.Kind = want.Kind
	}
	if got.Version == "" {
		got.Group, got.Version = want.Group, want.Version
	}
	m := map[string]any{}
	dups, err := kjson.UnmarshalStrict(data, &m)
	if err != nil {
		return nil, &got, err
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(got)
	strict = append(strict, dups...)
	if got == want {
		unknown, err := coerce(u)
		if err != nil {
			return nil, &got, err
		}
		for _, path := range unknown {
			strict = append(strict, fmt.Errorf("unknown field %q", path))
		}
	}
	if len(strict) > 0 {
		return u, &got, runtime.NewStrictDecodingError(strict)
	}
	return u, &got, nil
}

// decodeError words what could not be read.
func decodeError(err error, kind string, got *schema.GroupVersionKind, data []byte) error {
	if runtime.IsNotRegisteredError(err) && got != nil {
		// The scheme's name stands in the text, and upstream's is this one.
		err = errors.New(notRegistered(*got))
	}
	if got != nil && got.Kind != "" {
		return status.BadRequest("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, kind, err)
	}
	return status.BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summary(data))
}

// schemeName is what all of upstream's schemes are called.
const schemeName = "pkg/runtime/scheme.go:111"

func notRegistered(gvk schema.GroupVersionKind) string {
	return fmt.Sprintf("no kind %q is registered for version %q in scheme %q", gvk.Kind, gvk.GroupVersion(), schemeName)
}

// summary shows the first 30 bytes of a body, as text if it looks like JSON.
func summary(data []byte) string {
	const most = 30
	cut := data
	more := ""
	if len(cut) > most {
		cut, more = cut[:most], " ..."
	}
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		return string(cut) + more
	}
	return hex.EncodeToString(cut) + more
}

// decodeStored reads an object from the JSON it is stored or cached as, into the stored version.
func decodeStored(res *resources.Resource, data []byte) (runtime.Object, error) {
	if res.Custom {
		u := &unstructured.Unstructured{}
		err := u.UnmarshalJSON(data)
		if err == nil && res.Restore != nil {
			err = res.Restore(u)
		}
		return u, err
	}
	if res.ToStored != nil { // the bytes may be of either version
		obj, err := res.Decode(data)
		if err != nil {
			return nil, err
		}
		if res.Direct {
			return obj, nil
		}
		return res.ToStored(obj)
	}
	gvk := res.Stored
	if gvk.Empty() { // it isn't stored
		gvk = res.GroupVersionKind()
	}
	obj, err := resources.Scheme().New(gvk)
	if err != nil {
		return nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(takeMetadata(data, obj), obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// takeMetadata reads a new object's metadata without reflection and returns the JSON of what is left to read, in
// which a second metadata is merged with the first as usual. It is all of data if metadata isn't written as it is
// stored, or if something is wrong with it.
func takeMetadata(data []byte, obj runtime.Object) []byte {
	a, ok := obj.(metav1.ObjectMetaAccessor)
	if !ok {
		return data
	}
	meta, ok := a.GetObjectMeta().(*metav1.ObjectMeta)
	if !ok {
		return data
	}
	from, to := storage.Member(data, "metadata") // it is valid JSON up to there
	if to == 0 || !objectmeta.Decode(data[from:to], meta) {
		return data
	}
	return slices.Concat(data[:from], []byte("{}"), data[to:])
}

// encodeStored is the inverse: kube-apiserver's JSON storage format, without a newline. The
// object's resourceVersion must have been cleared.
func encodeStored(res *resources.Resource, obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if res.ToStored != nil {
			stored, err := res.ToStored(u)
			if err != nil {
				return nil, err
			}
			u = stored.(*unstructured.Unstructured)
		}
		return json.Marshal(u.Object)
	}
	if res.Direct && res.ToStored != nil {
		var err error
		if obj, err = res.ToStored(obj); err != nil {
			return nil, err
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(res.Stored)
	value, err := json.Marshal(obj)
	// JSON that came inside of protobuf has not been counted with what is around it. Less than two
	// brackets a level can't be too deep.
	if err == nil && len(value) > 2*maxDepth && !json.Valid(value) {
		return nil, status.BadRequest("the object is nested deeper than %d levels", maxDepth)
	}
	if err == nil && bytes.Contains(value, lateYear) {
		if _, err := decodeStored(res, value); err != nil {
			return nil, status.BadRequest("the object can't be read again: %v", err)
		}
	}
	return value, err
}

// lateYear begins the one day after the year 9999 that a time which can be read may be in, by another zone than
// that in which it is written. Then it can't be read any more.
var lateYear = []byte(`"10000-01-01T`)

// maxDepth is how deep decoders of JSON go.
const maxDepth = 10000

// protobufPrefix begins protobuf bodies.
var protobufPrefix = []byte("k8s\x00")

// writeStatus answers with a Status in the form that the client accepts; where that is none that a
// Status has, in indented JSON (AS responsewriters: WriteObjectNegotiated).
func writeStatus(w http.ResponseWriter, r *http.Request, code int, st *metav1.Status) {
	f, err := offer{binary: true}.negotiate(r)
	var data []byte
	switch {
	case err != nil:
		f.media = mediaJSON
		data, err = json.MarshalIndent(st, "", "  ")
	case f.media == mediaProtobuf:
		data, err = runtime.Encode(protobuf.NewSerializer(resources.Scheme(), resources.Scheme()), st)
	case f.media == mediaYAML:
		data, err = yaml.Marshal(st)
	default:
		data, err = json.Marshal(st)
		data = indent(append(data, '\n'), f.pretty)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", f.media)
	w.WriteHeader(code)
	w.Write(data)
}
