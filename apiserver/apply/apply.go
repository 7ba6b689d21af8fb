package apply

import (
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

// Apply merges an apply document into live and returns the result in the stored version, with its
// managedFields. live is of the stored or the served version and isn't changed; nil means that
// the document creates the object. strictness is the request's fieldValidation, and warn is called
// with each error of the document under Warn (B-71).
//
// The uid of a document that creates is left for the caller to reject (B-58).
//
// It returns 409 Conflict for fields that others own unless force, 400 BadRequest for a document
// that is no YAML, of another kind, or with managedFields (B-60), and errors without a status, that
// clients see as 500, for a document that doesn't suit the kind's schema.
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
	config := &unstructured.Unstructured{Object: map[string]any{}}
	err := yaml.Unmarshal(document, &config.Object)
	if err == nil && e.res.Custom {
		err = integers(document, config)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if live == nil {
		// kube-apiserver would store these, and the next update would remove the object; they are
		// wiped and has no owner, as with a POST (A-43, J-02).
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
	if err := validateFields(document, strictness, warn); err != nil {
		return nil, err
	}
	return obj, nil
}

// integers reads the document once more, with whole numbers as such: no Go type makes them of what
// the YAML library takes all numbers for.
func integers(document []byte, config *unstructured.Unstructured) error {
	data, err := yaml.YAMLToJSON(document)
	if err != nil {
		return err
	}
	config.Object = map[string]any{}
	return kjson.UnmarshalCaseSensitivePreserveInts(data, &config.Object)
}

// validateFields looks for what a lenient reading passes over. It comes after the merge, whose errors go
// first (AS handlers/patch.go:applyPatcher.applyPatchToCurrentObject).
func validateFields(document []byte, strictness string, warn func(string)) error {
	if strictness != metav1.FieldValidationStrict && strictness != metav1.FieldValidationWarn {
		return nil
	}
	err := yaml.UnmarshalStrict(document, &map[string]any{})
	switch {
	case err == nil:
	case strictness == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
	default:
		warn(err.Error())
	}
	return nil
}

// sorted orders the causes of a conflict by manager, as its message is; upstream leaves that to
// the order of a map.
func sorted(err error) error {
	var conflict *apierrors.StatusError
	if errors.As(err, &conflict) && conflict.ErrStatus.Details != nil {
		slices.SortStableFunc(conflict.ErrStatus.Details.Causes,
			func(a, b metav1.StatusCause) int { return strings.Compare(a.Message, b.Message) })
	}
	return err
}
