package model

import (
	"encoding/json"
	"fmt"
	"strings"
)

// String returns the operation as JSON. Lists of operations are read from this JSON.
func (o Op) String() string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("model: %v", err)) // impossible: an Op has only strings, numbers and booleans
	}
	return string(b)
}

// String returns the kind, the namespace if there is one, and the name.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Kind + "/" + k.Name
	}
	return k.Kind + "/" + k.Namespace + "/" + k.Name
}

// String returns the object in one line.
func (o Object) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%s", o.Key, o.UID)
	if o.Generation > 0 {
		fmt.Fprintf(&b, " gen %d", o.Generation)
	}
	if o.Label != "" {
		fmt.Fprintf(&b, " label %s", o.Label)
	}
	if o.Deleting {
		fmt.Fprintf(&b, " deleting, grace %d", o.Grace)
	}
	if o.Bound {
		fmt.Fprintf(&b, " bound, period %d", o.Period)
	}
	if len(o.Finalizers) > 0 {
		fmt.Fprintf(&b, " finalizers %v", o.Finalizers)
	}
	for _, r := range o.Owners {
		fmt.Fprintf(&b, " owner %s/%s(%s)", r.Kind, r.Name, r.UID)
		if r.Controller == True {
			b.WriteString("!")
		}
		if r.Block != Unset {
			fmt.Fprintf(&b, " block %t", r.Block == True)
		}
	}
	return b.String() + ")"
}

// String returns the event in one line.
func (e Event) String() string { return string(e.Type) + " " + e.Object.String() }

// String returns the response in one line.
func (r Response) String() string {
	switch {
	case r.Object != nil:
		return fmt.Sprintf("%d %s", r.Code, *r.Object)
	case r.Reason != "":
		return fmt.Sprintf("%d %s", r.Code, r.Reason)
	case r.Items != nil:
		return fmt.Sprintf("%d %v", r.Code, r.Items)
	}
	return fmt.Sprintf("%d Status", r.Code)
}

// String returns the step in one line.
func (t Step) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s%s", t.Kind, t.Key, t.Policy, t.Finalizer))
}
