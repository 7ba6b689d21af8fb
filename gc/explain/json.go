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

// MarshalJSON is the tree as docs/explain.md describes it.
func (t *Tree) MarshalJSON() ([]byte, error) {
	type hidden struct {
		Resource string `json:"resource"`
		Reason   string `json:"reason"`
	}
	out := struct {
		Object nodeJSON   `json:"object"`
		Owners []nodeJSON `json:"owners,omitempty"`
		Hidden []hidden   `json:"notListed,omitempty"`
	}{Object: t.Object.json(false), Owners: nodesOf(t.Owners, true)}
	for _, h := range t.Hidden {
		out.Hidden = append(out.Hidden, hidden{h.Resource, h.Why})
	}
	return json.Marshal(out)
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

// MarshalJSON is the reason as docs/explain.md describes it.
func (r *Reason) MarshalJSON() ([]byte, error) {
	type remedy struct {
		Text    string      `json:"text"`
		Action  Action      `json:"action,omitempty"`
		Object  *objectJSON `json:"object,omitempty"`
		Command string      `json:"command,omitempty"`
	}
	out := struct {
		Object   objectJSON  `json:"object"`
		Cause    Cause       `json:"cause"`
		Message  string      `json:"message"`
		Remedies []remedy    `json:"remedies,omitempty"`
		Reasons  []*Reason   `json:"reasons,omitempty"`
		More     int         `json:"more,omitempty"`
		Asked    []askedJSON `json:"admission,omitempty"`
	}{
		Object: objectOf(r.Object), Cause: r.Cause, Message: r.Says, Reasons: r.Below, More: r.More,
		Asked: askedOf(r.Admission),
	}
	for _, one := range r.Remedies {
		j := remedy{Text: one.Text, Action: one.Action, Command: one.Command()}
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

// MarshalJSON is the preview as docs/explain.md describes it.
func (p *Preview) MarshalJSON() ([]byte, error) {
	type left struct {
		Object     objectJSON `json:"object"`
		Finalizers []string   `json:"finalizers"`
	}
	type dangling struct {
		Object objectJSON `json:"object"`
		Owner  ownerJSON  `json:"owner"`
	}
	type count struct {
		Resource string `json:"resource"`
		Deleted  int    `json:"deleted"`
		Released int    `json:"ownersRemoved"`
		Left     int    `json:"terminating"`
	}
	type warning struct {
		Object  *objectJSON `json:"object,omitempty"`
		Message string      `json:"message"`
	}
	out := struct {
		Before   []changeJSON `json:"before,omitempty"`
		Changes  []changeJSON `json:"changes"`
		Left     []left       `json:"terminating,omitempty"`
		Dangling []dangling   `json:"dangling,omitempty"`
		Counts   []count      `json:"counts"`
		Warnings []warning    `json:"warnings,omitempty"`
		Asked    []askedJSON  `json:"admission,omitempty"`
	}{Changes: changesOf(p.Changes), Counts: []count{}, Asked: askedOf(p.Admission)}
	if len(p.Before) > 0 {
		out.Before = changesOf(p.Before)
	}
	for _, l := range p.Left {
		out.Left = append(out.Left, left{objectOf(l.Object), l.Finalizers})
	}
	for _, d := range p.Dangling {
		out.Dangling = append(out.Dangling, dangling{objectOf(d.Object), ownersOf([]graph.Owner{d.Owner})[0]})
	}
	for _, c := range p.Counts {
		out.Counts = append(out.Counts, count(c))
	}
	for _, w := range p.Warnings {
		j := warning{Message: w.Text}
		if w.Object.Name != "" {
			j.Object = new(objectOf(w.Object))
		}
		out.Warnings = append(out.Warnings, j)
	}
	return json.Marshal(out)
}

// MarshalJSON is the finding as docs/explain.md describes it.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Rule        Rule       `json:"rule"`
		Object      objectJSON `json:"object"`
		Message     string     `json:"message"`
		Consequence string     `json:"consequence"`
		Others      int        `json:"others,omitempty"`
	}{f.Rule, objectOf(f.Object), f.Text, f.Harm, f.Others})
}
