package gc

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// logDone logs a request that has changed an object: the change, the object, the owner and the reason. With -v 1 these
// lines show users why an object is gone.
func (x *executor) logDone(ctx context.Context, a graph.Action) {
	if !x.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	switch a := a.(type) {
	case graph.Delete:
		x.log.Info("garbage collector deleted an object",
			append(described(a.Object, a.Cause), "policy", a.Policy.String())...)
	case graph.RemoveOwners:
		x.log.Info("garbage collector removed owner references", described(a.Object, a.Cause)...)
	case graph.Unblock:
		x.log.Info("garbage collector unblocked owners that wait for each other", described(a.Object, a.Cause)...)
	case graph.RemoveFinalizer:
		x.log.Info("garbage collector removed its finalizer",
			"object", named(a.Object.Kind, a.Object.Namespace, a.Object.Name), "uid", a.Object.UID,
			"finalizer", a.Finalizer.String())
	}
}

// described returns the attributes of an object and of the cause.
func described(o graph.Ref, c graph.Cause) []any {
	attributes := []any{"object", named(o.Kind, o.Namespace, o.Name), "uid", o.UID, "reason", c.Reason.String()}
	if c.Owner.UID != "" {
		attributes = append(attributes, "owner", named(c.Owner.Kind, "", c.Owner.Name), "ownerUID", c.Owner.UID)
	}
	return attributes
}

// named returns "kind namespace/name".
func named(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}
