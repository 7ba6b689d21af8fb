package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestExcerpt: answers about an excerpt of a random cluster are those about the whole, and what is decoded from their
// JSON is shown in the same way.
func TestExcerpt(t *testing.T) {
	first, smaller, hooked := seed.Of(t), 0, 0
	for i := range 400 {
		r := rand.New(rand.NewPCG(first, uint64(i)))
		c := randomCluster(r, 2+r.IntN(14))
		c.Revision = 7
		randomHooks(r, c)
		order := func(o Object) int {
			return slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name() == o.Collection })
		}
		slices.SortFunc(c.Objects, func(a, b Object) int { // as lists have them
			return cmp.Or(cmp.Compare(order(a), order(b)), a.Key.Compare(b.Key))
		})
		empty := *c
		empty.Objects = nil
		for _, o := range c.Objects {
			e, ok := empty.Excerpt(c.index(), []graph.Key{o.Key}, len(c.Objects))
			if !ok {
				t.Fatalf("run %d: %s: more than %d objects", i, o.Key, len(c.Objects))
			}
			if len(e.Objects) < len(c.Objects) {
				smaller++
			}
			deletions := []Deletion{{Key: o.Key, Options: finalizers.Options{PropagationPolicy: "Foreground"}}}
			checkSame(
				t,
				i,
				c.Tree(o.Key),
				e.Tree(o.Key),
				func(v *Tree) string { return v.Text(Style{}) + v.DOT() + v.Mermaid() },
			)
			checkSame(t, i, c.Why(o.Key), e.Why(o.Key), func(v *Reason) string { return v.Text(Style{}) })
			hooked += len(c.Preview(deletions).Admission)
			checkSame(
				t,
				i,
				c.Preview(deletions),
				e.Preview(deletions),
				func(v *Preview) string { return v.Text(Style{}) },
			)
			if n := len(e.Objects); n > 0 {
				if _, ok := empty.Excerpt(c.index(), []graph.Key{o.Key}, n-1); ok {
					t.Errorf("run %d: %s: %d objects are not more than %d", i, o.Key, n, n-1)
				}
			}
		}
	}
	if smaller == 0 {
		t.Error("all excerpts were the whole cluster")
	}
	if hooked == 0 {
		t.Error("no hook was asked")
	}
}

// randomHooks adds webhooks and policies that select by the labels of objects and of namespaces, and the labels.
func randomHooks(r *rand.Rand, c *Cluster) {
	labels := func() map[string]string { return map[string]string{"team": []string{"red", "blue"}[r.IntN(2)]} }
	have := map[graph.Key]bool{}
	for i := range c.Objects {
		have[c.Objects[i].Key] = true
		if r.IntN(3) > 0 {
			c.Objects[i].Labels = labels()
		}
	}
	known := slices.ContainsFunc(c.Resources, func(r Resource) bool { return r.Delete.Namespace && r.Unknown == "" })
	for i := range 2 { // live ones, which only selectors look at
		k := graph.Key{Collection: "namespaces", Name: fmt.Sprintf("ns%d", i)}
		if known && !have[k] && r.IntN(2) == 0 {
			c.Objects = append(c.Objects, Object{
				Key: k, UID: k.Name, Labels: labels(), Namespace: &Namespace{Finalizers: []string{kubernetes}},
			})
		}
	}
	some := func() (all []Requirement) {
		if r.IntN(2) == 0 {
			return nil
		}
		operator := []string{"In", "NotIn", "Exists", "DoesNotExist"}[r.IntN(4)]
		return []Requirement{{Key: "team", Operator: operator, Values: []string{"red"}}}
	}
	match := func() Match {
		return Match{
			Namespaces: some(), Objects: some(), Rules: []MatchRule{{
				Operations: []string{
					[]string{"*", deleteOperation, updateOperation}[r.IntN(3)],
				}, Groups: []string{"*"},
				Versions: []string{"*"}, Resources: []string{"*/*"},
			}},
		}
	}
	for range r.IntN(4) {
		h := Hook{Kind: "ValidatingAdmissionPolicy", Name: "p", Match: match(), Bindings: []Match{match()}}
		if r.IntN(2) == 0 {
			h.Kind, h.Webhook, h.Bindings = "ValidatingWebhookConfiguration", "w", nil
			h.Unreachable = []string{"", "why"}[r.IntN(2)]
		}
		h.Conditional, h.Fails = r.IntN(2) == 0, r.IntN(2) == 0
		c.Hooks = append(c.Hooks, h)
	}
}

// checkSame compares two answers, and what is decoded from the second.
func checkSame[T any](t *testing.T, run int, whole, excerpt *T, text func(*T) string) {
	t.Helper()
	if !reflect.DeepEqual(whole, excerpt) {
		t.Errorf("run %d: of the whole:\n%s\nof the excerpt:\n%s", run, text(whole), text(excerpt))
	}
	data, err := json.Marshal(excerpt)
	if err != nil {
		t.Fatal(err)
	}
	decoded := new(T)
	if err := json.Unmarshal(data, decoded); err != nil {
		t.Fatal(err)
	}
	if text(decoded) != text(excerpt) {
		t.Errorf("run %d: decoded:\n%s\nis not\n%s", run, text(decoded), text(excerpt))
	}
	if again, err := json.Marshal(decoded); err != nil || string(again) != string(data) {
		t.Errorf("run %d: %v: encoded again:\n%s\nis not\n%s", run, err, again, data)
	}
}

// TestStop: a preview that is no longer wanted is nil.
func TestStop(t *testing.T) {
	c := randomCluster(rand.New(rand.NewPCG(1, 1)), 10)
	asked := 0
	c.Stop = func() bool { asked++; return asked > 2 }
	var deletions []Deletion
	for _, o := range c.Objects {
		deletions = append(deletions, Deletion{Key: o.Key})
	}
	if p := c.Preview(deletions); p != nil {
		t.Errorf("the preview was carried on: %+v", p)
	}
}
