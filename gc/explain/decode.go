package explain

import (
	"encoding/json"
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// ref is the object in Go. The JSON has no resource, so the Collection is the kind with its group.
func (o objectJSON) ref() graph.Ref {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return graph.Ref{
		Key:        graph.Key{Collection: strings.ToLower(o.Kind) + "." + group, Namespace: o.Namespace, Name: o.Name},
		APIVersion: o.APIVersion, Kind: o.Kind, UID: o.UID,
	}
}

func ownersFrom(owners []ownerJSON) (out []graph.Owner) {
	for _, o := range owners {
		out = append(out, graph.Owner(o))
	}
	return out
}

// UnmarshalJSON is the reverse of MarshalJSON: text and diagrams of the result are those of the original.
func (t *Tree) UnmarshalJSON(data []byte) error {
	var in treeJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*t = Tree{Revision: in.Revision, Object: in.Object.node()}
	for i := range in.Owners {
		t.Owners = append(t.Owners, in.Owners[i].node())
	}
	t.Hidden = hiddenFrom(in.Hidden)
	return nil
}

func hiddenFrom(all []hiddenJSON) (out []Hidden) {
	for _, h := range all {
		out = append(out, Hidden{Resource: h.Resource, Why: h.Reason})
	}
	return out
}

// askedFrom has of each hook what Asked.String says: the rules are not in the JSON.
func askedFrom(all []askedJSON) (out []Asked) {
	for _, a := range all {
		out = append(out, Asked{
			Hook: &Hook{
				Kind: a.Configuration.Kind, Name: a.Configuration.Name, Webhook: a.Webhook, Conditional: a.Conditional,
				Unreachable: a.Unreachable, Fails: a.Denies,
			},
			Operation: a.Operation, Resources: a.Resources,
		})
	}
	return out
}

func (j *nodeJSON) node() *Node {
	n := &Node{
		Object: j.Object.ref(), Finalizers: j.Finalizers, Controller: j.Controller, Missing: j.Missing,
		Elsewhere: j.Elsewhere, Repeated: j.Repeated,
	}
	if j.Since != nil {
		n.Since = *j.Since
	}
	if j.Reference != nil {
		n.Owner = graph.Owner(*j.Reference)
		for v := graph.Solid; v <= graph.OutOfReach; v++ {
			if v.String() == j.Verdict {
				n.Verdict = v
			}
		}
	}
	for _, next := range [][]nodeJSON{j.Owners, j.Dependents} { // a node has one of them
		for i := range next {
			n.Next = append(n.Next, next[i].node())
		}
	}
	return n
}

// UnmarshalJSON is the reverse of MarshalJSON: the text of the result is that of the original.
func (r *Reason) UnmarshalJSON(data []byte) error {
	var in reasonJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*r = Reason{
		Revision: in.Revision, Object: in.Object.ref(), Cause: in.Cause, Says: in.Message, Below: in.Reasons, More: in.More,
		Admission: askedFrom(in.Asked), Hidden: hiddenFrom(in.Hidden),
	}
	for _, j := range in.Remedies {
		one := Remedy{Text: j.Text, Action: j.Action, command: j.Command}
		if j.Object != nil {
			one.Object = j.Object.ref()
		}
		r.Remedies = append(r.Remedies, one)
	}
	return nil
}

// UnmarshalJSON is the reverse of MarshalJSON, but for Racing, which only its warning tells.
func (p *Preview) UnmarshalJSON(data []byte) error {
	var in previewJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*p = Preview{
		Revision: in.Revision, Before: changesFrom(in.Before), Changes: changesFrom(in.Changes),
		Admission: askedFrom(in.Asked),
	}
	for _, l := range in.Left {
		p.Left = append(p.Left, Left{Object: l.Object.ref(), Finalizers: l.Finalizers})
	}
	for _, d := range in.Dangling {
		p.Dangling = append(p.Dangling, Dangling{Object: d.Object.ref(), Owner: graph.Owner(d.Owner)})
	}
	for _, c := range in.Counts {
		p.Counts = append(p.Counts, Count(c))
	}
	for _, j := range in.Warnings {
		w := Warning{Text: j.Message}
		if j.Object != nil {
			w.Object = j.Object.ref()
		}
		p.Warnings = append(p.Warnings, w)
	}
	for _, a := range in.Absent {
		p.Absent = append(p.Absent, graph.Key{Collection: a.Resource, Namespace: a.Namespace, Name: a.Name})
	}
	return nil
}

func changesFrom(changes []changeJSON) (out []Change) {
	for _, c := range changes {
		out = append(out, Change{
			What: c.Change, Object: c.Object.ref(), By: c.By, Owners: ownersFrom(c.Owners), Finalizers: c.Finalizers,
		})
	}
	return out
}
