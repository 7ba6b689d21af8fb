package explain

import (
	"encoding/json"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// objectJSON names an object.
type objectJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

func objectOf(r graph.Ref) objectJSON {
	return objectJSON{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

// ownerJSON is an owner reference.
type ownerJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Block      bool   `json:"blockOwnerDeletion,omitempty"`
}

func ownersOf(owners []graph.Owner) (out []ownerJSON) {
	for _, o := range owners {
		out = append(out, ownerJSON(o))
	}
	return out
}

// nodeJSON is a node of a tree.
type nodeJSON struct {
	Object     objectJSON `json:"object"`
	Since      *time.Time `json:"terminatingSince,omitempty"`
	Finalizers []string   `json:"finalizers,omitempty"`
	// Reference joins it with the node before it.
	Reference  *ownerJSON `json:"reference,omitempty"`
	Verdict    string     `json:"verdict,omitempty"`
	Controller bool       `json:"controller,omitempty"`
	Missing    bool       `json:"missing,omitempty"`
	Elsewhere  bool       `json:"elsewhere,omitempty"`
	Repeated   bool       `json:"repeated,omitempty"`
	Owners     []nodeJSON `json:"owners,omitempty"`
	Dependents []nodeJSON `json:"dependents,omitempty"`
}

// treeJSON is a Tree.
type treeJSON struct {
	Revision int64        `json:"resourceVersion,omitempty,string"`
	Object   nodeJSON     `json:"object"`
	Owners   []nodeJSON   `json:"owners,omitempty"`
	Hidden   []hiddenJSON `json:"notListed,omitempty"`
}

// hiddenJSON is a Hidden.
type hiddenJSON struct {
	Resource string `json:"resource"`
	Reason   string `json:"reason"`
}

// MarshalJSON is the tree as docs/explain.md describes it.
func (t *Tree) MarshalJSON() ([]byte, error) {
	out := treeJSON{Revision: t.Revision, Object: t.Object.json(false), Owners: nodesOf(t.Owners, true)}
	out.Hidden = hiddenOf(t.Hidden)
	return json.Marshal(out)
}

func hiddenOf(all []Hidden) (out []hiddenJSON) {
	for _, h := range all {
		out = append(out, hiddenJSON{h.Resource, h.Why})
	}
	return out
}

func nodesOf(nodes []*Node, up bool) (out []nodeJSON) {
	for _, n := range nodes {
		out = append(out, n.json(up))
	}
	return out
}

func (n *Node) json(up bool) nodeJSON {
	j := nodeJSON{
		Object: objectOf(n.Object), Finalizers: n.Finalizers, Controller: n.Controller, Missing: n.Missing,
		Elsewhere: n.Elsewhere, Repeated: n.Repeated,
	}
	if !n.Since.IsZero() {
		j.Since = &n.Since
	}
	if n.Owner.UID != "" {
		j.Reference, j.Verdict = &ownersOf([]graph.Owner{n.Owner})[0], n.Verdict.String()
	}
	if up {
		j.Owners = nodesOf(n.Next, true)
	} else {
		j.Dependents = nodesOf(n.Next, false)
	}
	return j
}

// reasonJSON is a Reason.
type reasonJSON struct {
	Revision int64        `json:"resourceVersion,omitempty,string"`
	Object   objectJSON   `json:"object"`
	Cause    Cause        `json:"cause"`
	Message  string       `json:"message"`
	Remedies []remedyJSON `json:"remedies,omitempty"`
	Reasons  []*Reason    `json:"reasons,omitempty"`
	More     int          `json:"more,omitempty"`
	Asked    []askedJSON  `json:"admission,omitempty"`
	Hidden   []hiddenJSON `json:"notListed,omitempty"`
}

// remedyJSON is a Remedy.
type remedyJSON struct {
	Text    string      `json:"text"`
	Action  Action      `json:"action,omitempty"`
	Object  *objectJSON `json:"object,omitempty"`
	Command string      `json:"command,omitempty"`
}

// MarshalJSON is the reason as docs/explain.md describes it.
func (r *Reason) MarshalJSON() ([]byte, error) {
	out := reasonJSON{
		Revision: r.Revision, Object: objectOf(r.Object), Cause: r.Cause, Message: r.Says, Reasons: r.Below, More: r.More,
		Asked: askedOf(r.Admission), Hidden: hiddenOf(r.Hidden),
	}
	for _, one := range r.Remedies {
		j := remedyJSON{Text: one.Text, Action: one.Action, Command: one.Command()}
		if one.Action != "" {
			j.Object = new(objectOf(one.Object))
		}
		out.Remedies = append(out.Remedies, j)
	}
	return json.Marshal(out)
}

// askedJSON is an Asked.
type askedJSON struct {
	Configuration objectJSON     `json:"configuration"`
	Webhook       string         `json:"webhook,omitempty"`
	Operation     string         `json:"operation"`
	Resources     map[string]int `json:"resources"`
	Conditional   bool           `json:"conditional,omitempty"`
	Unreachable   string         `json:"unreachable,omitempty"`
	Denies        bool           `json:"denies,omitempty"`
	Message       string         `json:"message"`
}

func askedOf(all []Asked) (out []askedJSON) {
	for _, a := range all {
		out = append(out, askedJSON{
			Configuration: objectJSON{APIVersion: unseen + "/v1", Kind: a.Kind, Name: a.Name}, Webhook: a.Webhook,
			Operation: a.Operation, Resources: a.Resources, Conditional: a.Conditional, Unreachable: a.Unreachable,
			Denies: a.denies(), Message: a.String(),
		})
	}
	return out
}

// changeJSON is a Change.
type changeJSON struct {
	Change     What        `json:"change"`
	Object     objectJSON  `json:"object"`
	By         By          `json:"by"`
	Owners     []ownerJSON `json:"owners,omitempty"`
	Finalizers []string    `json:"finalizers,omitempty"`
}

func changesOf(changes []Change) []changeJSON {
	out := []changeJSON{}
	for _, c := range changes {
		out = append(out, changeJSON{c.What, objectOf(c.Object), c.By, ownersOf(c.Owners), c.Finalizers})
	}
	return out
}

// previewJSON is a Preview.
type previewJSON struct {
	Revision int64          `json:"resourceVersion,omitempty,string"`
	Before   []changeJSON   `json:"before,omitempty"`
	Changes  []changeJSON   `json:"changes"`
	Left     []leftJSON     `json:"terminating,omitempty"`
	Dangling []danglingJSON `json:"dangling,omitempty"`
	Counts   []countJSON    `json:"counts"`
	Warnings []warningJSON  `json:"warnings,omitempty"`
	Asked    []askedJSON    `json:"admission,omitempty"`
	Absent   []absentJSON   `json:"notFound,omitempty"`
}

// absentJSON is an object that does not exist.
type absentJSON struct {
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type leftJSON struct {
	Object     objectJSON `json:"object"`
	Finalizers []string   `json:"finalizers"`
}

type danglingJSON struct {
	Object objectJSON `json:"object"`
	Owner  ownerJSON  `json:"owner"`
}

type countJSON struct {
	Resource string `json:"resource"`
	Deleted  int    `json:"deleted"`
	Released int    `json:"ownersRemoved"`
	Left     int    `json:"terminating"`
}

type warningJSON struct {
	Object  *objectJSON `json:"object,omitempty"`
	Message string      `json:"message"`
}

// MarshalJSON is the preview as docs/explain.md describes it.
func (p *Preview) MarshalJSON() ([]byte, error) {
	out := previewJSON{
		Revision: p.Revision, Changes: changesOf(p.Changes), Counts: []countJSON{}, Asked: askedOf(p.Admission),
	}
	if len(p.Before) > 0 {
		out.Before = changesOf(p.Before)
	}
	for _, l := range p.Left {
		out.Left = append(out.Left, leftJSON{objectOf(l.Object), l.Finalizers})
	}
	for _, d := range p.Dangling {
		out.Dangling = append(out.Dangling, danglingJSON{objectOf(d.Object), ownersOf([]graph.Owner{d.Owner})[0]})
	}
	for _, c := range p.Counts {
		out.Counts = append(out.Counts, countJSON(c))
	}
	for _, w := range p.Warnings {
		j := warningJSON{Message: w.Text}
		if w.Object.Name != "" {
			j.Object = new(objectOf(w.Object))
		}
		out.Warnings = append(out.Warnings, j)
	}
	for _, k := range p.Absent {
		out.Absent = append(out.Absent, absentJSON{k.Collection, k.Namespace, k.Name})
	}
	return json.Marshal(out)
}

// findingJSON is a Finding.
type findingJSON struct {
	Rule        Rule       `json:"rule"`
	Object      objectJSON `json:"object"`
	Message     string     `json:"message"`
	Consequence string     `json:"consequence"`
	Others      int        `json:"others,omitempty"`
}

// MarshalJSON is the finding as docs/explain.md describes it.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(findingJSON{f.Rule, objectOf(f.Object), f.Text, f.Harm, f.Others})
}
