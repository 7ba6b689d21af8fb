package fieldmanager

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Apply merges an apply document into live, and returns the result in the stored version, with its managedFields. live
// is in the stored or the served version, and is not modified. It is nil if the document creates the object. strictness
// is the option fieldValidation. If it is Warn, warn is called with each strict error of the document (B-71).
//
// The caller rejects the uid of a document that creates an object (B-58).
//
// Errors: 409 Conflict for fields that other managers own, unless force is set; 400 BadRequest for a document that is
// not YAML, has another kind, or has managedFields (B-60). The error for a document that does not match the kind's
// schema has no Status, so clients get a 500.
func (m *Managers) Apply(res *resources.Resource, sub string, live runtime.Object, document []byte, manager string,
	force bool, strictness string, warn func(string)) (runtime.Object, error) {
	e, err := m.endpoint(res, sub)
	if err != nil {
		return nil, err
	}
	return e.apply(live, document, manager, force, strictness, warn)
}

func (e *endpoint) apply(live runtime.Object, document []byte, manager string, force bool, strictness string,
	warn func(string)) (runtime.Object, error) {
	config, plain, err := decodeApplied(document, e.res.Custom)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	if live == nil {
		// kube-apiserver stores these fields, and the next update removes the object. Here they are removed, as in a
		// POST (A-43, J-02).
		unstructured.RemoveNestedField(config.Object, "metadata", "deletionTimestamp")
		unstructured.RemoveNestedField(config.Object, "metadata", "deletionGracePeriodSeconds")
	}
	was, err := e.live(live, config)
	if err != nil {
		return nil, err
	}
	obj, err := e.fields.Apply(was, config, manager, force)
	if err != nil {
		return nil, sorted(err)
	}
	if plain {
		return obj, nil
	}
	if err := validateFields(document, strictness, warn); err != nil {
		return nil, err
	}
	return obj, nil
}

// decodeApplied decodes a document. plain is true if it is JSON without duplicate fields. JSON, which clients send, is
// not parsed as YAML, because that takes several times as long.
func decodeApplied(document []byte, custom bool) (config *unstructured.Unstructured, plain bool, err error) {
	config = &unstructured.Unstructured{Object: map[string]any{}}
	if json.Valid(document) {
		strict, err := kjson.UnmarshalStrict(document, &config.Object)
		if err == nil && !custom { // as in YAML, numbers are floats
			config.Object = map[string]any{}
			err = json.Unmarshal(document, &config.Object)
		}
		return config, len(strict) == 0, err
	}
	if err = yaml.Unmarshal(document, &config.Object); err == nil && custom {
		err = integers(document, config)
	}
	return config, false, err
}

// integers decodes the document again, with integers as int64: the YAML library decodes all numbers as float64.
func integers(document []byte, config *unstructured.Unstructured) error {
	data, err := yaml.YAMLToJSON(document)
	if err != nil {
		return err
	}
	config.Object = map[string]any{}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, &config.Object)
}

// validateFields returns or warns of the strict errors of a document. It runs after the merge, whose errors come first
// (AS handlers/patch.go:applyPatcher.applyPatchToCurrentObject).
func validateFields(document []byte, strictness string, warn func(string)) error {
	if strictness != metav1.FieldValidationStrict && strictness != metav1.FieldValidationWarn {
		return nil
	}
	err := yaml.UnmarshalStrict(document, &map[string]any{})
	switch {
	case err == nil:
	case strictness == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	default:
		warn(err.Error())
	}
	return nil
}

// sorted sorts the causes of a conflict by manager, like its message. Upstream has them in map order.
func sorted(err error) error {
	var conflict *apierrors.StatusError
	if errors.As(err, &conflict) && conflict.ErrStatus.Details != nil {
		slices.SortStableFunc(conflict.ErrStatus.Details.Causes,
			func(a, b metav1.StatusCause) int { return strings.Compare(a.Message, b.Message) })
	}
	return err
}
