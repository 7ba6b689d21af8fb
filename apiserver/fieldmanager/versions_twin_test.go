package fieldmanager

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	customresource "github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// plainest is what the twin needs of a definition: it converts an object's version and nothing else.
type plainest struct {
	kind     schema.GroupVersionKind
	versions []string
	entry    *resources.Resource
	hook     bool
}

func (p plainest) New(schema.GroupVersionKind) (runtime.Object, error) { return p.entry.New(), nil }

func (p plainest) Default(obj runtime.Object) { p.entry.Strategy.Default(obj) }

func (p plainest) ConvertToVersion(obj runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	u, gv := obj.DeepCopyObject().(*unstructured.Unstructured), target.(schema.GroupVersion)
	known := func(v schema.GroupVersion) bool {
		return v.Group == p.kind.Group && slices.Contains(p.versions, v.Version)
	}
	switch from := u.GroupVersionKind().GroupVersion(); {
	case !known(gv):
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gv)
	case !known(from):
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from)
	}
	if from := u.GroupVersionKind(); p.hook && from.GroupVersion() != gv && len(u.Object) > 2 {
		rename(u.Object, gv.String())
		if err := asRestored(u.Object); err != nil {
			return nil, fmt.Errorf("conversion webhook for %v returned invalid metadata: %w", from, err)
		}
	}
	u.SetAPIVersion(gv.String())
	return u, nil
}

func (plainest) Convert(in, out, context any) error { return errUnused }

func (plainest) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errUnused
}

// asRestored makes of what the webhook answered what its caller makes of it, as the webhook changes no metadata: null
// labels and annotations are dropped, and an object without metadata is an error (AX
// pkg/apiserver/conversion/webhook_converter.go: restoreObjectMeta).
func asRestored(obj map[string]any) error {
	said, found := obj["metadata"]
	if !found {
		return errors.New("missing metadata in converted object")
	}
	meta, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", said)
	}
	for _, name := range []string{"labels", "annotations"} {
		if v, found := meta[name]; found && v == nil {
			delete(meta, name)
		}
	}
	return nil
}

// rename is what the webhook does: v1 calls a what others call e, and no version knows u.
func rename(obj map[string]any, to string) {
	names := map[bool]string{true: "a", false: "e"}
	from, _ := obj["apiVersion"].(string)
	a, b := names[strings.HasSuffix(from, "/v1")], names[strings.HasSuffix(to, "/v1")]
	obj["apiVersion"] = to
	spec, found := obj["spec"].(map[string]any)
	if !found {
		return
	}
	if v, found := spec[a]; found && a != b {
		delete(spec, a)
		spec[b] = v
	}
	if len(spec) > 2 {
		spec["u"] = "unknown"
	}
}

// startRenaming is a conversion webhook that renames.
func startRenaming(t *testing.T) *apiextensionsv1.CustomResourceConversion {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := review["request"].(map[string]any)
		for _, obj := range request["objects"].([]any) {
			rename(obj.(map[string]any), request["desiredAPIVersion"].(string))
		}
		review["response"] = map[string]any{
			"uid": request["uid"], "convertedObjects": request["objects"], "result": map[string]any{"status": "Success"},
		}
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Errorf("answering a review: %v", err)
		}
	}))
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &s.URL, CABundle: ca}}}
}

// fieldForms are what schemas say of the fields of spec, fieldValues what clients write.
var (
	fieldForms = map[string][]string{
		"a": {`{"type":"integer"}`},
		"b": {``, `{"type":"string"}`, `{"type":"integer"}`},
		"c": {``, `{"type":"object","properties":{"x":{"type":"integer"}}}`,
			`{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer","default":3}}}`,
			`{"type":"object","x-kubernetes-map-type":"atomic","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}}`},
		"d": {``, `{"type":"string","default":"d"}`, `{"type":"string"}`, `{"type":"string","nullable":true,"default":"n"}`},
		"e": {``, `{"type":"integer"}`},
		"l": {``,
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}`,
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"w":{"type":"integer","default":1}}}}`},
		"p": {
			``, `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
			`{"type":"object","additionalProperties":{"type":"integer"}}`,
		},
	}
	fieldValues = map[string][]string{
		"a": {`1`, `2`}, "b": {`"b"`, `1`}, "c": {`{"x":1}`, `{"x":1,"y":2}`, `{"y":null}`, `{}`}, "d": {`"x"`, `null`},
		"e": {`5`, `6`},
		"l": {`[{"k":"1"}]`, `[{"k":"1","v":1},{"k":"2"}]`, `[{"k":"2","w":2}]`, `[]`},
		"p": {`{"x":1}`, `{"y":1}`, `{"x":{"z":1}}`}, "u": {`1`},
	}
)

// definition returns a random definition with versions v1, v1beta1 and v1alpha1, of which the last isn't served.
func definition(
	t *testing.T, r *rand.Rand, conversion *apiextensionsv1.CustomResourceConversion,
) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{}
	d.Name, d.UID = "ws.x.io", "uid"
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "ws", Singular: "w", Kind: "W", ListKind: "WList"}
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "x.io", Scope: apiextensionsv1.NamespaceScoped, Names: names, Conversion: conversion,
	}
	d.Status.AcceptedNames = names
	d.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	stored := r.IntN(3)
	for i, name := range []string{"v1", "v1beta1", "v1alpha1"} {
		var fields []string
		for _, f := range slices.Sorted(maps.Keys(fieldForms)) {
			if form := fieldForms[f][r.IntN(len(fieldForms[f]))]; form != "" {
				fields = append(fields, fmt.Sprintf("%q:%s", f, form))
			}
		}
		v := apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: i < 2, Storage: i == stored,
			Schema: &apiextensionsv1.CustomResourceValidation{},
			Subresources: &apiextensionsv1.CustomResourceSubresources{
				Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			}}
		text := `{"type":"object","properties":{"spec":{"type":"object","properties":{` + strings.Join(fields, ",") +
			`}},"status":{"type":"object","properties":{"s":{"type":"string"}}}}}`
		if err := json.Unmarshal([]byte(text), &v.Schema.OpenAPIV3Schema); err != nil {
			t.Fatal(err)
		}
		d.Spec.Versions = append(d.Spec.Versions, v)
	}
	return d
}

// typesOf makes the converter of a definition's versions.
func typesOf(t *testing.T, entries []*resources.Resource) managedfields.TypeConverter {
	var all []openapi.Type
	for _, r := range append(slices.Clone(entries), entries[0].Unserved...) {
		all = append(all, openapi.Type{Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural, Namespaced: true,
			Verbs: r.Verbs, Custom: &openapi.Custom{ListKind: r.ListKind, Schema: r.OpenAPI}})
	}
	schemas, err := openapi.Definitions(all...)
	if err != nil {
		t.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// several is one object of a definition with several versions, written both ways.
type several struct {
	t       *testing.T
	r       *rand.Rand
	m       *Managers
	entries []*resources.Resource
	twins   map[endpointKey]*managedfields.FieldManager
	// live is the object in the version of the last write.
	live  *unstructured.Unstructured
	trace []string
	// failed counts the applies that fail for what a version's schema doesn't have.
	failed int
}

// TestRandomVersions: applies and updates by several managers at several versions of one definition give what the field
// manager of apimachinery gives with a converter that asks no schema: object, entries and error are the same (AX
// pkg/apiserver/customresource_handler.go: scopeWithFieldManager).
func TestRandomVersions(t *testing.T) {
	hook, from, failed := startRenaming(t), seed.Of(t), 0
	for i := range 6 {
		r := rand.New(rand.NewPCG(from, uint64(i)))
		conversion := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		if i%3 == 0 {
			conversion = hook
		}
		d := definition(t, r, conversion)
		entries := customresource.Entries(d, webhook.NewClients(nil))
		types := typesOf(t, entries)
		m := New(Config{
			Types:  resources.NewTable(entries...),
			Custom: func(*resources.Resource) (managedfields.TypeConverter, error) { return types, nil },
		})
		s := &several{t: t, r: r, m: m, entries: entries, twins: map[endpointKey]*managedfields.FieldManager{}}
		for _, res := range entries {
			p := plainest{
				kind: res.GroupVersionKind(), versions: []string{"v1", "v1beta1", "v1alpha1"}, entry: res, hook: i%3 == 0,
			}
			for sub, fields := range map[string][]string{"": {"status"}, "status": {"metadata", "spec"}} {
				filters := map[fieldpath.APIVersion]fieldpath.Filter{}
				for _, v := range p.versions {
					if sub == "status" || v == res.Version {
						filters[fieldpath.APIVersion("x.io/"+v)] = fieldpath.NewExcludeSetFilter(sets(fields))
					}
				}
				twin, err := managedfields.NewDefaultCRDFieldManager(
					types, p, p, p, res.GroupVersionKind(), res.GroupVersion(), sub, filters,
				)
				if err != nil {
					t.Fatal(err)
				}
				s.twins[endpointKey{res.GroupVersionKind(), sub}] = twin
			}
		}
		for range 30 {
			s.run()
		}
		failed += s.failed
	}
	if failed < 20 {
		t.Errorf("only %d applies failed for a field that a version doesn't have", failed)
	}
}

func sets(fields []string) *fieldpath.Set {
	s := fieldpath.NewSet()
	for _, f := range fields {
		s.Insert(fieldpath.MakePathOrDie(f))
	}
	return s
}

func (s *several) run() {
	s.live, s.trace = nil, nil
	for range 8 {
		res, sub := s.entries[s.r.IntN(len(s.entries))], ""
		live := s.read(res)
		if live != nil && s.r.IntN(5) == 0 {
			sub = "status"
		}
		if s.r.IntN(2) == 0 {
			s.apply(res, sub, live)
		} else {
			s.update(res, sub, live)
		}
	}
}

// read returns the object as a request at a version finds it: it was pruned on the way into the store and out of it.
func (s *several) read(res *resources.Resource) *unstructured.Unstructured {
	if s.live == nil {
		return nil
	}
	var obj runtime.Object = s.live.DeepCopy()
	for _, v := range s.entries {
		if to := v.ToStored; to != nil && s.live.GetAPIVersion() == v.GroupVersion().String() {
			var err error
			if obj, err = to(obj); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	err := res.Restore(obj)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := res.Serve([]runtime.Object{obj})
	if err != nil {
		s.t.Fatal(err)
	}
	return out[0].(*unstructured.Unstructured)
}

// object returns what a client writes.
func (s *several) object(res *resources.Resource) *unstructured.Unstructured {
	var fields []string
	for _, f := range slices.Sorted(maps.Keys(fieldValues)) {
		if v := fieldValues[f]; s.r.IntN(3) == 0 && (f != "u" || s.r.IntN(6) == 0) {
			fields = append(fields, fmt.Sprintf("%q:%s", f, v[s.r.IntN(len(v))]))
		}
	}
	text := fmt.Sprintf(
		`{"apiVersion":%q,"kind":"W","metadata":{"name":"w"},"spec":{%s}}`, res.GroupVersion(), strings.Join(fields, ","),
	)
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		s.t.Fatal(err)
	}
	if s.r.IntN(4) == 0 {
		u.Object["status"] = map[string]any{"s": fmt.Sprint(s.r.IntN(2))}
	}
	if s.r.IntN(4) == 0 {
		u.SetLabels(map[string]string{"l": fmt.Sprint(s.r.IntN(2))})
	}
	return u
}

func (s *several) seen(res *resources.Resource, live *unstructured.Unstructured) runtime.Object {
	if live == nil {
		return res.New()
	}
	return live.DeepCopy()
}

func (s *several) apply(res *resources.Resource, sub string, live *unstructured.Unstructured) {
	config, manager, force := s.object(res), fmt.Sprint("m", s.r.IntN(3)), s.r.IntN(2) == 0
	document, err := config.MarshalJSON()
	if err != nil {
		s.t.Fatal(err)
	}
	s.trace = append(s.trace, fmt.Sprintf("apply %s %q by %s, force %v: %s", res.Version, sub, manager, force, document))
	want, wantErr := s.twins[endpointKey{res.GroupVersionKind(), sub}].Apply(s.seen(res, live), config, manager, force)
	var was runtime.Object
	if live != nil {
		was = live.DeepCopy()
	}
	got, gotErr := s.m.Apply(res, sub, was, document, manager, force, metav1.FieldValidationIgnore, nil)
	if d := cmp.Diff(reasons(wantErr), reasons(gotErr)); d != "" {
		s.t.Fatalf("error (-field manager +own):\n%s\n%s", d, strings.Join(s.trace, "\n"))
	}
	if wantErr != nil {
		if strings.Contains(wantErr.Error(), "not declared in schema") &&
			!strings.Contains(wantErr.Error(), "typed patch object") {
			s.failed++
		}
		return
	}
	s.compare(want, got)
	s.live = got.(*unstructured.Unstructured)
}

func (s *several) update(res *resources.Resource, sub string, live *unstructured.Unstructured) {
	next, manager := s.object(res), fmt.Sprint("m", s.r.IntN(3))
	if _, err := res.Coerce(next); err != nil {
		s.t.Fatal(err)
	}
	res.Strategy.Default(next)
	switch {
	case live != nil && s.r.IntN(6) > 0:
		next.SetManagedFields(live.GetManagedFields())
	case s.r.IntN(3) == 0: // a version that the definition doesn't have
		next.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "gone", Operation: "Update", APIVersion: "x.io/v0", FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:a":{}}}`)},
		}})
	}
	if sub == "status" {
		status := next.Object["status"]
		entries := next.GetManagedFields()
		next = live.DeepCopy()
		next.Object["status"] = status
		if status == nil {
			delete(next.Object, "status")
		}
		next.SetManagedFields(entries)
	}
	s.trace = append(s.trace, fmt.Sprintf("update %s %q by %s: %v", res.Version, sub, manager, next.Object))
	want := s.twins[endpointKey{res.GroupVersionKind(), sub}].UpdateNoErrors(s.seen(res, live), next.DeepCopy(), manager)
	var was runtime.Object
	if live != nil {
		was = live.DeepCopy()
	}
	got := s.m.Update(res, sub, was, next.DeepCopy(), manager)
	s.compare(want, got)
	s.live = got.(*unstructured.Unstructured)
}

func (s *several) compare(want, got runtime.Object) {
	for _, obj := range []runtime.Object{want, got} {
		o := obj.(*unstructured.Unstructured)
		entries := o.GetManagedFields()
		for i := range entries {
			entries[i].Time = nil
		}
		slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
			return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
		})
		o.SetManagedFields(entries)
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Fatalf("(-field manager +own):\n%s\n%s", d, strings.Join(s.trace, "\n"))
	}
}

// reasons is what an error says, without which of several reasons it found: they come in the order of a map, which
// ends a search early.
func reasons(err error) []string {
	text := fmt.Sprint(err)
	for _, mark := range []string{"errors:\n", ".spec."} {
		if before, _, found := strings.Cut(text, mark); found && !strings.HasPrefix(text, "Apply failed") {
			text = before
		}
	}
	all := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' })
	slices.Sort(all)
	return all
}
