package dynamic

import (
	"log/slog"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// TestUnreadable: if the configurations can't be read, older ones do not apply. Requests for which webhooks or policies
// might be called are rejected. The next request tries to read the configurations again.
func TestUnreadable(t *testing.T) {
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: "/registry"}})
	apply := func(b storage.Batch) {
		if err := c.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	apply(storage.Batch{Reset: true, Revision: 1})
	whole, none := resources.NewTable(resources.Builtin()...), resources.NewTable()
	d := New(Config{Cache: c, Types: whole, Log: slog.New(slog.DiscardHandler)})
	attributes := func(plural, group string) *admission.Attributes {
		return &admission.Attributes{Resource: whole.Lookup(group, "v1", plural), Operation: admission.Create, Name: "x"}
	}
	maps := attributes("configmaps", "")
	if err := (validatingWebhooks{d}).Validate(t.Context(), maps); err != nil {
		t.Fatal(err)
	}
	d.Live = NewLive(c, whole, slog.New(slog.DiscardHandler))
	d.Live.types = none // it does not have the kinds of configurations
	apply(storage.Batch{Revision: 2})
	if !d.Concerns(maps.Resource, "", admission.Create, true) {
		t.Error("a request is not admitted at all")
	}
	plugins := map[string]func(*admission.Attributes) error{}
	for _, p := range d.Plugins() {
		if m, ok := p.Plugin.(admission.Mutator); ok {
			plugins[p.Name] = func(a *admission.Attributes) error { return m.Admit(t.Context(), a) }
		}
		if v, ok := p.Plugin.(admission.Validator); ok {
			plugins[p.Name] = func(a *admission.Attributes) error { return v.Validate(t.Context(), a) }
		}
	}
	if len(plugins) != 4 {
		t.Fatalf("%d plugins", len(plugins))
	}
	for name, call := range plugins {
		err := call(attributes("configmaps", ""))
		if !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), ": not yet ready to handle request") {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(attributes("validatingadmissionpolicies", group)); err != nil {
			t.Errorf("%s: a policy can't be written: %v", name, err)
		}
	}
	d.Live.types = whole
	for name, call := range plugins {
		if err := call(attributes("configmaps", "")); err != nil {
			t.Errorf("%s, when they can be read again: %v", name, err)
		}
	}
}
