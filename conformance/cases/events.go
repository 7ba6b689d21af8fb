package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"

	c "github.com/kubecascade/kubecascade/conformance"
)

func events() []Case {
	return group("events", owners, c.Collector,
		prove("wrong-namespace", eventNamespaced, "D-80 D-81 D-82",
			"A reference to an owner in another namespace is reported by a Warning OwnerRefInvalidNamespace in the dependent's namespace."),
		prove("cluster-scoped-dependent", eventCluster, "D-72 D-80 D-82",
			"A cluster-scoped object's reference to a namespaced owner is reported in the namespace default.", c.Cluster),
		prove("none-for-absent-owners", eventNone, "D-83",
			"An owner that doesn't exist in any namespace, or has another name or kind, isn't reported."),
	)
}

// eventsOf returns the Events about an object, in a namespace, with the reason OwnerRefInvalidNamespace.
func eventsOf(t *T, namespace string, o *Object) []corev1.Event {
	selector := url.QueryEscape("reason=OwnerRefInvalidNamespace,involvedObject.name=" + o.GetName())
	a := t.Accepted(t.Send(http.MethodGet, c.Event.Path(namespace, "")+"?fieldSelector="+selector, nil), http.StatusOK)
	var list corev1.EventList
	err := json.Unmarshal([]byte(a.Text), &list)
	t.Check(err == nil, "a list of events", fmt.Sprint(err), a)
	return list.Items
}

// awaitEvent waits for the Event about a dependent's reference to an owner, and checks its fields.
func awaitEvent(t *T, dependent, owner *Object) {
	in := cmp.Or(dependent.GetNamespace(), "default")
	var all []corev1.Event
	t.Until(fmt.Sprintf("an event OwnerRefInvalidNamespace about %s in namespace %s", dependent, in),
		func() (bool, string) {
			all = eventsOf(t, in, dependent)
			return len(all) > 0, "there is none"
		})
	ns, event := dependent.GetNamespace(), all[0]
	message := fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
		owner.Of.APIVersion(), owner.Of.Name, ns, owner.GetName(), owner.GetUID(), ns)
	t.Check(withAdditions(event.Message, message), fmt.Sprintf("the event's message to be %q, perhaps with further "+
		"attributes of the owner", message), fmt.Sprintf("%q, in %v", event.Message, event), nil)
	const format = "a %s of %s about %s %s with uid %s"
	about := event.InvolvedObject
	have := fmt.Sprintf(format, event.Type, event.Source.Component, about.APIVersion, about.Kind, about.UID)
	want := fmt.Sprintf(format, "Warning", "garbage-collector-controller", dependent.Of.APIVersion(), dependent.Of.Name,
		dependent.GetUID())
	t.Check(have == want, "the event to be "+want, fmt.Sprintf("%s: %v", have, event), nil)
}

// withAdditions reports whether a message is the expected one, possibly with further attributes in the brackets.
// Servers that host several clusters add the owner's cluster there.
func withAdditions(message, want string) bool {
	before, rest, ok := strings.Cut(message, "[")
	inside, after, closed := strings.Cut(rest, "]")
	wantBefore, wantRest, _ := strings.Cut(want, "[")
	wantInside, wantAfter, _ := strings.Cut(wantRest, "]")
	if !ok || !closed || before != wantBefore || after != wantAfter {
		return false
	}
	missing := strings.Split(wantInside, ", ")
	for _, attribute := range strings.Split(inside, ", ") {
		if len(missing) > 0 && attribute == missing[0] {
			missing = missing[1:]
			continue
		}
		key, _, _ := strings.Cut(attribute, ": ")
		if strings.Contains(wantInside, key+": ") { // another value of an expected attribute
			return false
		}
	}
	return len(missing) == 0
}

func eventNamespaced(t *T) {
	elsewhere := t.Namespace("elsewhere")
	owner := t.Make(c.ConfigMap, "owner", c.In(elsewhere))
	t.Settle()
	dependent := t.Make(c.ConfigMap, "dependent", c.By(owner))
	t.Await(dependent, c.Gone)
	awaitEvent(t, dependent, owner)
}

func eventCluster(t *T) {
	owner := t.Make(c.ConfigMap, "owner")
	t.Settle()
	dependent := t.Make(c.ClusterRole, "dependent", c.By(owner))
	awaitEvent(t, dependent, owner)
	t.Untouched(dependent)
}

func eventNone(t *T) {
	elsewhere := t.Namespace("elsewhere")
	far, near := t.Make(c.ConfigMap, "far", c.In(elsewhere)), t.Make(c.ConfigMap, "near")
	t.Settle()
	silent := []*Object{
		t.Make(c.ConfigMap, "of-nobody", c.Refs(c.Absent(c.ConfigMap))),
		t.Make(c.ConfigMap, "wrong-name", c.By(near, otherName)),
		t.Make(c.ConfigMap, "wrong-kind", c.By(near, otherKind)),
	}
	t.AwaitAll(silent, c.Gone)
	// The collector sends its Events one by one, so this one follows any Event about the other objects.
	loud := t.Make(c.ConfigMap, "loud", c.By(far))
	awaitEvent(t, loud, far)
	for _, o := range silent {
		found := eventsOf(t, o.GetNamespace(), o)
		t.Check(len(found) == 0, fmt.Sprintf("no event OwnerRefInvalidNamespace about %s", o), fmt.Sprint(found), nil)
	}
}
