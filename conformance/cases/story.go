package cases

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	c "github.com/kubecascade/kubecascade/conformance"
)

// request sends a DELETE of an object.
type request func(t *T, o *Object) *c.Answer

// by returns a request that sends the options in its body, or no body without options.
func by(options ...c.DeleteOption) request {
	return func(t *T, o *Object) *c.Answer { return t.Delete(o, options...) }
}

// byQuery returns a request with a query and a body, or without a body.
func byQuery(query string, body any) request {
	return func(t *T, o *Object) *c.Answer {
		return t.Accepted(t.Send(http.MethodDelete, o.Path()+query, body), http.StatusOK)
	}
}

// inBackground deletes an owner of the kind in the background. It checks that the owner is gone when the response
// arrives, and that its dependent is deleted later.
func inBackground(t *T, k c.Kind, send request, options ...c.Option) *c.Answer {
	owner := t.Make(k, "owner", options...)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	answer := send(t, owner)
	t.Answered(answer, owner, c.Gone)
	t.Expect(owner, c.Gone)
	t.Await(dependent, c.Gone)
	return answer
}

// orphans deletes an owner of the kind, and checks that the owner is removed when its dependent is orphaned.
func orphans(t *T, k c.Kind, send request, options ...c.Option) *c.Answer {
	owner := t.Make(k, "owner", options...)
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner))
	t.Settle()
	answer := send(t, owner)
	t.Answered(answer, owner, c.Terminating, c.HasFinalizers("orphan"))
	t.Await(owner, c.Gone)
	t.Pass()
	t.Expect(dependent, c.Alive, c.HasOwners())
	return answer
}

// inForeground deletes an owner of a kind in the foreground. It checks that the owner waits for its dependent, which is
// of another kind and has a finalizer.
func inForeground(t *T, of, to c.Kind, send request, options ...c.Option) {
	owner := t.Make(of, "owner", options...)
	dependent := t.Make(to, "dependent", c.Blocking(owner), c.Held)
	t.Settle(of, to)
	t.Answered(send(t, owner), owner, c.Terminating, c.HasFinalizers(waiting))
	t.Await(dependent, c.Terminating, c.HasFinalizers(c.Hold), c.HasOwners(owner))
	t.Pass(of, to)
	t.Expect(owner, c.Terminating, c.HasFinalizers(waiting))
	t.Release(dependent)
	t.AwaitAll([]*Object{dependent, owner}, c.Gone)
}

// middleWaits deletes the root of a chain of three objects in the foreground. The other two are of the kind. The object
// in the middle waits for the last one, and the root waits for both.
func middleWaits(t *T, k c.Kind) {
	root := t.Make(c.ConfigMap, "root")
	middle := t.Make(k, "middle", c.Blocking(root))
	leaf := t.Make(k, "leaf", c.Blocking(middle), c.Held)
	t.Settle(k, c.ConfigMap)
	t.Delete(root, c.Foreground)
	t.Await(leaf, c.Terminating)
	t.Await(middle, c.Terminating, c.HasFinalizers(waiting))
	t.Pass(k, c.ConfigMap)
	t.ExpectAll([]*Object{middle, root}, c.Terminating, c.HasFinalizers(waiting))
	t.Release(leaf)
	t.AwaitAll([]*Object{middle, root}, c.Gone)
}

// livesWith checks that the dependent of an owner of the kind stays until the owner is deleted.
func livesWith(t *T, k c.Kind, edits ...func(*metav1.OwnerReference)) {
	owner := t.Make(k, "owner")
	dependent := t.Make(c.ConfigMap, "dependent", c.Blocking(owner, edits...))
	t.Pass(c.ConfigMap, k)
	goesWith(t, owner, dependent)
}

// goesWith checks that the dependent is unchanged, deletes its owner, and checks that the dependent is deleted.
func goesWith(t *T, owner, dependent *Object) {
	t.Untouched(dependent)
	t.Delete(owner)
	t.Await(dependent, c.Gone)
}

// goesWithLast deletes both owners of a dependent. It checks that the dependent is deleted with the last owner.
func goesWithLast(t *T, first, last, dependent *Object) {
	t.Delete(first)
	t.Await(dependent, c.Alive, c.HasOwners(last))
	t.Delete(last)
	t.Await(dependent, c.Gone)
}

// orphanAll deletes an owner. It checks that the owner is removed when all its dependents, which are of these kinds,
// are orphaned.
func orphanAll(t *T, owner *Object, dependents []*Object, kinds ...c.Kind) {
	t.Settle(kinds...)
	t.Answered(t.Delete(owner, c.Orphan), owner, c.Terminating, c.HasFinalizers("orphan"))
	t.Await(owner, c.Gone)
	t.Pass(kinds...)
	t.ExpectAll(dependents, c.Alive, c.HasOwners(), c.HasFinalizers())
}

// releaseLast removes an object's last finalizer, Hold, and checks that the object is removed.
func releaseLast(t *T, o *Object) {
	t.Release(o)
	t.Expect(o, c.Gone)
}
