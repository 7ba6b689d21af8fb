package gc

import (
	"context"
	"log/slog"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// logDone logs a request that has changed an object: what was done to which object, for which owner, and why. These are
// the lines of -v 1 by which a user sees why an object has gone.
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

// described are the attributes of an object and of the cause.
func described(o graph.Ref, c graph.Cause) []any {
	attributes := []any{"object", named(o.Kind, o.Namespace, o.Name), "uid", o.UID, "reason", c.Reason.String()}
	if c.Owner.UID != "" {
		attributes = append(attributes, "owner", named(c.Owner.Kind, "", c.Owner.Name), "ownerUID", c.Owner.UID)
	}
	return attributes
}

// named is "kind namespace/name".
func named(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}
