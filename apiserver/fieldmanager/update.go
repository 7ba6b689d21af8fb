package fieldmanager

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Manager returns the field manager of a write. It is the option fieldManager. Without it, it is the part of the user
// agent before the first slash, without unprintable characters and truncated to the maximum length of a manager's name
// . Without both it is "unknown" (AM pkg/util/managedfields/internal/buildmanagerinfo.go: buildManagerInfo).
func Manager(fieldManager, userAgent string) string {
	if fieldManager != "" {
		return fieldManager
	}
	program, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, r := range program {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return cmp.Or(b.String(), "unknown")
}

// Update records the changes of a create, an update, or a patch other than an apply in obj's managedFields, and returns
// obj. live is the stored object, or nil on create. obj and live are in the stored or the served version. sub is the
// written subresource, or empty. After an error obj has the managedFields of live (V-091).
func (m *Managers) Update(res *resources.Resource, sub string, live, obj runtime.Object,
	manager string) runtime.Object {
	o, ok := obj.(object)
	if !ok {
		return obj
	}
	e, err := m.endpoint(res, sub)
	if err == nil {
		err = e.update(live, o, manager)
	}
	if err != nil {
		o.SetManagedFields(entriesOf(live))
	}
	return obj
}

// entriesOf returns the managedFields of an object, or nil.
func entriesOf(obj runtime.Object) []metav1.ManagedFieldsEntry {
	if o, ok := obj.(object); ok {
		return o.GetManagedFields()
	}
	return nil
}

func (e *endpoint) update(live runtime.Object, obj object, manager string) error {
	was, err := e.live(live, obj)
	if err != nil {
		return err
	}
	if err := checkLists(was.versioned, obj); err != nil {
		return err
	}
	_, err = e.fields.Update(was, obj, manager)
	return err
}

// live returns the stored object with its conversion to the served version. The conversion has no managedFields, so
// that they are not converted with the object, unless an entry claims them.
func (e *endpoint) live(live runtime.Object, obj metav1.Object) (*view, error) {
	stored, ok := live.(object)
	if !ok {
		return &view{e.empty, e.empty}, nil
	}
	versioned, err := e.convert.ConvertToVersion(stored, e.res.GroupVersion())
	if err != nil {
		return nil, err
	}
	if entries := stored.GetManagedFields(); len(entries) > 0 && !claimed(entries) && !claimed(obj.GetManagedFields()) {
		versioned = shallow(versioned)
		versioned.(metav1.Object).SetManagedFields(nil)
	}
	return &view{stored, versioned}, nil
}

// claimed reports whether an entry may own managedFields themselves. Only a client can send such an entry, and it is
// gone after the next change.
func claimed(entries []metav1.ManagedFieldsEntry) bool {
	for i := range entries {
		if f := entries[i].FieldsV1; f != nil {
			raw := f.GetRawBytes()
			if bytes.Contains(raw, []byte("f:managedFields")) || bytes.Contains(raw, []byte(`\u`)) {
				return true
			}
		}
	}
	return false
}
