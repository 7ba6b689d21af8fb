package cases

import (
	"net/http"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	c "github.com/kubecascade/kubecascade/conformance"
)

func references() []Case {
	all := group("references", owners, c.Collector,
		prove("wrong-uid", referenceWrong(otherUID), "D-35 D-76",
			"A reference to a name that exists under another uid counts as absent."),
		prove("wrong-name", referenceWrong(otherName), "D-15 D-75",
			"A reference with an existing uid under another name counts as absent."),
		prove("wrong-kind", referenceWrong(otherKind), "D-15 D-75 D-S16",
			"A reference with an existing uid under another kind counts as absent."),
		prove("wrong-namespace", referenceNamespace, "D-36 D-71 D-S20",
			"An owner in another namespace counts as absent; the owner and its own dependents are unharmed."),
		prove("wrong-beside-living", referenceBeside, "D-39 D-71",
			"A reference to an owner in another namespace is removed from a dependent that also has a living owner."),
		prove("unknown-kind", referenceUnknown, "D-38 D-73",
			"A dependent whose owner has a kind that the server doesn't serve is kept: its owner can't be looked up."),
		prove("unserved-version", referenceUnserved, "D-73 D-S15",
			"A dependent that names its owner by a version that isn't served is kept, also when the owner is "+
				"deleted; other dependents of that owner are deleted."),
		prove("other-served-version", referenceVersion, "D-74 D-S14",
			"A reference may use any served version of the owner's kind: the dependent exists as long as the owner."),
		prove("unknown-kind-protects", referenceProtects, "D-38 J-10",
			"One reference of an unknown kind keeps an object whose other owners don't exist."),
	)
	return append(all, group("references", owners, 0,
		prove("malformed-rejected", referenceMalformed, "A-24 A-25 A-26",
			"References without uid, name or kind, to an Event, or with two controllers are rejected."),
	)...)
}

func otherUID(r *metav1.OwnerReference)  { r.UID = types.UID(uuid.NewString()) }
func otherName(r *metav1.OwnerReference) { r.Name = "someone-else" }
func otherKind(r *metav1.OwnerReference) { r.APIVersion, r.Kind = "v1", "Secret" }

// referenceWrong returns a case with an owner, a dependent with a valid reference, and one with an invalid reference.
func referenceWrong(edit func(*metav1.OwnerReference)) func(*T) {
	return func(t *T) {
		owner := t.Make(c.ConfigMap, "owner")
		good := t.Make(c.ConfigMap, "good", c.By(owner))
		bad := t.Make(c.ConfigMap, "bad", c.By(owner, edit))
		t.Await(bad, c.Gone)
		t.Pass()
		t.Untouched(owner, good)
		t.Delete(owner)
		t.Await(good, c.Gone)
	}
}

func referenceNamespace(t *T) {
	elsewhere := t.Namespace("elsewhere")
	owner := t.Make(c.ConfigMap, "owner", c.In(elsewhere))
	good := t.Make(c.ConfigMap, "good", c.In(elsewhere), c.By(owner))
	t.Make(c.ConfigMap, "owner") // has the same name, in the dependent's namespace
	bad := []*Object{t.Make(c.ConfigMap, "bad", c.By(owner)), t.Make(c.Secret, "bad", c.Blocking(owner))}
	t.AwaitAll(bad, c.Gone)
	t.Pass()
	t.Untouched(owner, good)
	t.Delete(owner)
	t.Await(good, c.Gone)
}

func referenceBeside(t *T) {
	elsewhere := t.Namespace("elsewhere")
	far, near := t.Make(c.ConfigMap, "far", c.In(elsewhere)), t.Make(c.ConfigMap, "near")
	dependent := t.Make(c.ConfigMap, "dependent", c.By(far), c.By(near))
	t.Await(dependent, c.Alive, c.HasOwners(near))
	t.Untouched(far)
}

// unknownKind is a kind that no server serves.
var unknownKind = c.Kind{Group: "nothing.conformance.example.com", Version: "v1", Name: "Nothing"}

func referenceUnknown(t *T) {
	dependent := t.Make(c.ConfigMap, "dependent", c.Refs(c.Absent(unknownKind)))
	t.Pass()
	t.Untouched(dependent)
}

func referenceUnserved(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	unserved := t.Make(c.ConfigMap, "unserved", c.By(owner, func(r *metav1.OwnerReference) { r.APIVersion = "v7" }))
	good := t.Make(c.ConfigMap, "good", c.By(owner))
	t.Pass()
	t.Untouched(unserved)
	t.Delete(owner)
	t.Await(good, c.Gone)
	t.Pass()
	t.Untouched(unserved)
}

func referenceVersion(t *T) {
	livesWith(t, c.Autoscaler, func(r *metav1.OwnerReference) { r.APIVersion = "autoscaling/v1" })
}

func referenceProtects(t *T) {
	dependent := t.Make(c.ConfigMap, "dependent", c.Refs(c.Absent(unknownKind), c.Absent(c.ConfigMap)))
	t.Pass()
	t.Untouched(dependent)
}

func referenceMalformed(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	set := func(edit func(*metav1.OwnerReference)) []metav1.OwnerReference {
		return []metav1.OwnerReference{c.Ref(owner, edit)}
	}
	yes := true
	control := func(r *metav1.OwnerReference) { r.Controller = &yes }
	const empty = "must not be empty"
	for _, bad := range []struct {
		refs []metav1.OwnerReference
		// field and message occur in the message of all versions. Versions before v1.37 have no index in the path
		// (V-045).
		field, message string
	}{
		{set(func(r *metav1.OwnerReference) { r.UID = "" }), ".uid: ", empty},
		{set(func(r *metav1.OwnerReference) { r.Name = "" }), ".name: ", empty},
		{set(func(r *metav1.OwnerReference) { r.Kind = "" }), ".kind: ", empty},
		{set(func(r *metav1.OwnerReference) { r.APIVersion = "" }), ".apiVersion: ", empty},
		{set(func(r *metav1.OwnerReference) { r.Kind = "Event" }), "", "is disallowed from being an owner"},
		{
			[]metav1.OwnerReference{c.Ref(owner, control), c.Ref(owner, control, otherUID)},
			"", "Only one reference can have Controller set to true",
		},
	} {
		answer := t.TryPatch(owner, map[string]any{"metadata": map[string]any{"ownerReferences": bad.refs}})
		t.Rejected(answer, http.StatusUnprocessableEntity, "metadata.ownerReferences")
		t.Rejected(answer, http.StatusUnprocessableEntity, bad.field)
		t.Rejected(answer, http.StatusUnprocessableEntity, bad.message)
	}
	t.Untouched(owner)
}
