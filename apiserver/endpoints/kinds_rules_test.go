package endpoints_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Differences between kinds, by the names of their resources, as docs/semantics.md lists them. The lists are
// independent of the server's table.
var (
	// createdByPut: B-03.
	createdByPut = []string{"leases", "leasecandidates", "endpoints", "events", "limitranges", "services",
		"runtimeclasses",
		"roles", "rolebindings", "clusterroles", "clusterrolebindings"}
	// conditional: B-06.
	conditional = []string{"customresourcedefinitions", "apiservices", "validatingwebhookconfigurations",
		"mutatingwebhookconfigurations",
		"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"mutatingadmissionpolicybindings",
		"storageversions", "clustertrustbundles", "podcertificaterequests", "leases", "leasecandidates", "runtimeclasses",
		"poddisruptionbudgets", "resourcepoolstatusrequests", "csidrivers", "csinodes", "csistoragecapacities",
		"volumeattachments",
		"storageversionmigrations", "devicetaintrules"} // the last is new in v1.37 (V-005)
	// counted: B-30, B-31, B-33, B-35.
	counted = []string{"replicasets", "statefulsets", "daemonsets", "replicationcontrollers", "jobs", "cronjobs", "pods",
		"podtemplates",
		"ingresses", "ingressclasses", "networkpolicies", "poddisruptionbudgets", "flowschemas",
		"prioritylevelconfigurations",
		"customresourcedefinitions", "validatingwebhookconfigurations", "mutatingwebhookconfigurations",
		"validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "resourceslices",
		"deviceclasses", "devicetaintrules", "deployments", "endpointslices", "priorityclasses"}
	// uncounted: B-35, B-36.
	uncounted = []string{"namespaces", "configmaps", "secrets", "services", "nodes", "persistentvolumes",
		"persistentvolumeclaims",
		"serviceaccounts", "events", "leases", "roles", "rolebindings", "clusterroles", "clusterrolebindings", "limitranges",
		"resourcequotas", "endpoints", "storageclasses", "resourceclaims", "controllerrevisions",
		"certificatesigningrequests", "apiservices", "csidrivers"}
	// prefixes of keys that aren't the resource's name: B-09.
	prefixes = map[string]string{"replicationcontrollers": "controllers", "endpoints": "services/endpoints",
		"services": "services/specs",
		"nodes":    "minions", "ingresses": "ingress"}
	// generic kinds have only the general rules for metadata, not the additional rules of core.
	generic = []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
		"customresourcedefinitions", "apiservices", "leases", "leasecandidates", "poddisruptionbudgets"}
	// namedByRule: the name depends on the object, or must be shorter.
	namedByRule = []string{
		"customresourcedefinitions", "apiservices", "clustertrustbundles", "resourcepoolstatusrequests", "ipaddresses",
		"cronjobs",
	}
)

// TestKindsRules tests, with every stored kind, the rules for all kinds and the rules for some.
func TestKindsRules(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	objects := minimal(t)
	for _, r := range resources.Builtin() {
		if r.Collection == "" {
			continue
		}
		name := strings.TrimSuffix(r.Plural+"."+r.Group, ".")
		obj := minimalOf(objects, r)
		t.Run(name+"/"+r.Version, func(t *testing.T) {
			k := &kindRules{t: t, s: s, r: r, obj: &unstructured.Unstructured{Object: obj}}
			if k.obj.GetName() == "" {
				k.obj.SetName("rule")
			}
			k.path = pathOf(r) + "/" + k.obj.GetName()
			k.metadata()
			k.absent()
			k.create()
			k.replace()
			k.generation()
			k.s.Do("DELETE", k.path+"?gracePeriodSeconds=0&propagationPolicy=Background", nil)
		})
	}
}

// kindRules is one kind under test.
type kindRules struct {
	t    *testing.T
	s    *apiservertest.Server
	r    *resources.Resource
	obj  *unstructured.Unstructured
	path string
}

// with returns a copy of the object with a change.
func (k *kindRules) with(change func(*unstructured.Unstructured)) map[string]any {
	u := k.obj.DeepCopy()
	change(u)
	return u.Object
}

// rejects sends a create that must be rejected with 422 and the message.
func (k *kindRules) rejects(rule, message string, change func(*unstructured.Unstructured)) {
	k.t.Helper()
	a := k.s.Do("POST", pathOf(k.r)+"?dryRun=All", k.with(change))
	if st := a.Status(); a.Code != http.StatusUnprocessableEntity || !strings.Contains(st.Message, message) ||
		st.Details.Kind != k.r.Kind {
		k.t.Errorf("%s: %d %.600s", rule, a.Code, a.Body)
	}
}

// metadata checks that every kind rejects the same invalid metadata.
func (k *kindRules) metadata() {
	ref := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
	owners := func(change map[string]any) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			bad := map[string]any{}
			for key, v := range ref {
				bad[key] = v
			}
			for key, v := range change {
				bad[key] = v
			}
			_ = unstructured.SetNestedSlice(u.Object, []any{bad}, "metadata", "ownerReferences")
		}
	}
	finalizers := func(names ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) { u.SetFinalizers(names) }
	}
	k.rejects("A-22", `metadata.labels: Invalid value: "a b": name part must consist of`,
		func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a b": ""}) })
	k.rejects("A-22", `metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of`,
		func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "-"}) })
	k.rejects("A-23", `metadata.annotations: Invalid value: "/": prefix part must be non-empty`,
		func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"/": ""}) })
	k.rejects("A-23", `metadata.annotations: Too long: may not be more than 262144 bytes`, func(
		u *unstructured.Unstructured,
	) {
		u.SetAnnotations(map[string]string{"a": strings.Repeat("x", 262144)})
	})
	k.rejects(
		"V-045", `metadata.ownerReferences[0].apiVersion: Invalid value: "apps/": must be <group>/<version> or <version>`,
		owners(map[string]any{"apiVersion": "apps/"}))
	k.rejects(
		"V-045", `metadata.ownerReferences[0].uid: Required value: must not be empty`, owners(map[string]any{"uid": ""}),
	)
	k.rejects("A-25", `: /v1, Kind=Event is disallowed from being an owner`, owners(map[string]any{"kind": "Event"}))
	k.rejects("A-29", `metadata.finalizers: Invalid value: "a b": name part must consist of`, finalizers("a b"))
	k.rejects(
		"A-30", `: finalizer orphan and foregroundDeletion cannot be both set`, finalizers("orphan", "foregroundDeletion"),
	)
	if !slices.Contains(generic, k.r.Plural) && (k.r.Plural != "events" || k.r.Group != "") {
		k.rejects("A-31",
			`metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified`,
			finalizers("x"))
	}
	a := k.s.Do("POST", pathOf(k.r)+"?dryRun=All", k.with(finalizers("a.io/b", "orphan")))
	if a.Code != http.StatusCreated {
		k.t.Errorf("A-33: %d %.300s", a.Code, a.Body)
	}
}

// absent sends requests for an object that doesn't exist.
func (k *kindRules) absent() {
	want := http.StatusNotFound
	if slices.Contains(createdByPut, k.r.Plural) {
		want = http.StatusCreated
	}
	if a := k.s.Do("PUT", k.path+"?dryRun=All", k.obj.Object); a.Code != want {
		k.t.Errorf("B-03: %d, want %d: %.300s", a.Code, want, a.Body)
	}
	for _, sub := range k.r.Subresources {
		if sub.Action.Connects() || !sub.Has("update") {
			continue
		}
		body := k.obj.Object
		if sub.Kind.Kind == "Scale" {
			body = map[string]any{"metadata": map[string]any{"name": k.obj.GetName()}}
		}
		if a := k.s.Do("PUT", k.path+"/"+sub.Name, body); a.Code != http.StatusNotFound {
			k.t.Errorf("B-04 %s: %d %.300s", sub.Name, a.Code, a.Body)
		}
	}
	for _, media := range []string{
		"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
	} {
		if a := k.s.Do("PATCH", k.path, "3", "Content-Type", media); a.Code != http.StatusNotFound {
			k.t.Errorf("B-51 %s: %d %.300s", media, a.Code, a.Body)
		}
	}
}

// create creates the object with all fields that a client can't choose, and with a generated name.
func (k *kindRules) create() {
	body := k.with(func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, "2001-01-01T00:00:00Z", "metadata", "creationTimestamp")
		_ = unstructured.SetNestedField(u.Object, "2001-01-01T00:00:00Z", "metadata", "deletionTimestamp")
		_ = unstructured.SetNestedField(u.Object, int64(7), "metadata", "deletionGracePeriodSeconds")
		_ = unstructured.SetNestedField(u.Object, int64(7), "metadata", "generation")
		_ = unstructured.SetNestedField(u.Object, "/x", "metadata", "selfLink")
		u.SetUID("mine")
	})
	a := must(k.t, k.s.Do("POST", pathOf(k.r), body), http.StatusCreated)
	got := a.Object()
	switch {
	case got.GetUID() == "mine", got.GetCreationTimestamp().Year() == 2001, got.GetDeletionTimestamp() != nil,
		got.GetDeletionGracePeriodSeconds() != nil, got.GetSelfLink() != "":
		k.t.Errorf("A-04, A-06: %v", got.Object["metadata"])
	case slices.Contains(counted, k.r.Plural) && got.GetGeneration() != 1:
		k.t.Errorf("B-30: created with generation %d", got.GetGeneration())
	case slices.Contains(uncounted, k.r.Plural) && got.GetGeneration() != 7:
		k.t.Errorf("A-21: created with generation %d", got.GetGeneration())
	}
	if slices.Contains(namedByRule, k.r.Plural) {
		return
	}
	generated := k.with(func(u *unstructured.Unstructured) {
		u.SetName("")
		u.SetGenerateName(strings.Repeat("g", 60))
	})
	got = k.s.Do("POST", pathOf(k.r)+"?dryRun=All", generated).Object()
	if name := got.GetName(); len(name) != 63 || !strings.HasPrefix(name, strings.Repeat("g", 58)) {
		k.t.Errorf("A-13: named %q", name)
	}
}

// replace sends PUTs with and without a revision and a uid, and with fields that a PUT can't change.
func (k *kindRules) replace() {
	cur := must(k.t, k.s.Do("GET", k.path, nil), http.StatusOK).Object()
	put := func(change func(*unstructured.Unstructured)) apiservertest.Answer {
		u := cur.DeepCopy()
		change(u)
		return k.s.Do("PUT", k.path, u.Object)
	}
	a := put(func(u *unstructured.Unstructured) { u.SetResourceVersion("") })
	want := http.StatusOK
	if slices.Contains(conditional, k.r.Plural) {
		want = http.StatusUnprocessableEntity
	}
	if a.Code != want || want != http.StatusOK && !strings.HasSuffix(
		a.Status().Message, " is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update",
	) {
		k.t.Errorf("B-06: %d %.300s", a.Code, a.Body)
	}
	prefix := prefixes[k.r.Plural]
	if prefix == "" {
		prefix = k.r.Plural
	}
	a = put(func(u *unstructured.Unstructured) { u.SetUID("other") })
	if a.Code != http.StatusConflict || !strings.Contains(a.Status().Message, "Key: /registry/"+prefix+"/") &&
		!strings.Contains(a.Status().Message, "Key: /registry/"+k.r.Group+"/"+prefix+"/") {
		k.t.Errorf("B-09: %d %.300s", a.Code, a.Body)
	}
	if a = put(func(u *unstructured.Unstructured) { u.SetResourceVersion("1") }); a.Code != http.StatusConflict {
		k.t.Errorf("B-08: %d %.300s", a.Code, a.Body)
	}
	if a = put(func(u *unstructured.Unstructured) {
		u.SetResourceVersion("x")
	}); a.Code != http.StatusInternalServerError || a.Status().Reason != "" {
		k.t.Errorf("B-07: %d %.300s", a.Code, a.Body)
	}
	a = put(func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, "2001-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	})
	if a.Code != http.StatusUnprocessableEntity || !strings.Contains(
		a.Status().Message, `metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable`,
	) {
		k.t.Errorf("B-12: %d %.300s", a.Code, a.Body)
	}
	a = put(func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"orphan", "foregroundDeletion"}) })
	if a.Code != http.StatusUnprocessableEntity {
		k.t.Errorf("B-16: %d %.300s", a.Code, a.Body)
	}
	a = put(func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, "2001-01-01T00:00:00Z", "metadata", "creationTimestamp")
		_ = unstructured.SetNestedField(u.Object, "/x", "metadata", "selfLink")
		u.SetGeneration(99)
		u.SetUID("")
	})
	if got := a.Object(); a.Code != http.StatusOK || got.GetResourceVersion() != cur.GetResourceVersion() {
		k.t.Errorf("B-10, B-11, B-17: %d %.300s\nwas %v", a.Code, a.Body, cur)
	}
}

// generation stays through changes of metadata and status.
func (k *kindRules) generation() {
	cur := must(k.t, k.s.Do("GET", k.path, nil), http.StatusOK).Object()
	after := func(sub, patch string) int64 {
		return must(k.t, k.s.Do("PATCH", k.path+sub, patch), http.StatusOK).
			Object().GetGeneration()
	}
	want := cur.GetGeneration()
	if k.r.Plural == "deployments" { // B-31
		want++
	}
	if got := after("", `{"metadata":{"annotations":{"a":"b"}}}`); got != want {
		k.t.Errorf("B-37 annotations: %d, want %d", got, want)
	}
	if k.r.Plural == "endpointslices" { // B-33
		want++
	}
	if got := after("", `{"metadata":{"labels":{"a":"b"}}}`); got != want {
		k.t.Errorf("B-37 labels: %d, want %d", got, want)
	}
	if sub := k.r.Subresource("status"); sub != nil && sub.Has("patch") && k.r.Plural != "deployments" {
		if got := after("/status", `{"metadata":{"annotations":{"c":"d"}}`+
			statusOf(k.r.Plural)+`}`); got != want {
			k.t.Errorf("B-37 status: %d, want %d", got, want)
		}
	}
}
