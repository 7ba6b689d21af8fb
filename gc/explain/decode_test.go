package explain

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestDecodedAnswersPrintTheSame: an answer that is decoded from JSON is printed as the original, and has the same
// JSON.
func TestDecodedAnswersPrintTheSame(t *testing.T) {
	first, hooked := seed.Of(t), 0
	for i := range 400 {
		r := rand.New(rand.NewPCG(first, uint64(i)))
		c := randomCluster(r, 2+r.IntN(14))
		c.Revision = 7
		randomHooks(r, c)
		style := Style{Now: now}
		x := c.Index()
		for _, o := range c.Objects {
			checkDecoded(t, i, x.Tree(o.Key), func(v *Tree) string { return v.Text(style) + v.Draw("dot") + v.Draw("mermaid") })
			checkDecoded(t, i, x.Why(o.Key), func(v *Reason) string { return v.Text(style) })
			p := x.Preview([]graph.Key{o.Key}, finalizers.Options{PropagationPolicy: "Foreground"})
			p.Absent = []graph.Key{{Collection: "pods", Namespace: "a", Name: "b"}}
			checkDecoded(t, i, p, func(v *Preview) string { return v.Text(style) + fmt.Sprint(v.Absent) })
			hooked += len(p.Admission)
		}
		findings := x.Lint("")
		checkDecoded(t, i, &findings, func(v *[]Finding) string { return Report(*v, style) })
	}
	if hooked == 0 {
		t.Error("no hook was asked")
	}
}

// randomHooks adds webhooks and policies that select by the labels of objects and of namespaces, and the labels.
func randomHooks(r *rand.Rand, c *Cluster) {
	labels := func() map[string]string { return map[string]string{"team": []string{"red", "blue"}[r.IntN(2)]} }
	have := map[graph.Key]bool{}
	for _, o := range c.Objects {
		have[o.Key] = true
		if r.IntN(3) > 0 {
			o.Labels = labels()
		}
	}
	known := slices.ContainsFunc(c.Resources, func(r Resource) bool { return r.Delete.Namespace && r.Unknown == "" })
	for i := range 2 { // live ones, which only selectors look at
		k := graph.Key{Collection: "namespaces", Name: fmt.Sprintf("ns%d", i)}
		if known && !have[k] && r.IntN(2) == 0 {
			c.Objects = append(c.Objects, &Object{
				Key: k, UID: k.Name, Labels: labels(), SpecFinalizers: []string{kubernetes},
			})
		}
	}
	match := func() func(*Request) bool {
		operation := []string{"*", deleteOperation, updateOperation}[r.IntN(3)]
		object, namespace := r.IntN(2) == 0, r.IntN(2) == 0
		return func(q *Request) bool {
			red := func(of *Object) bool { return of == nil || of.Labels["team"] == "red" }
			return (operation == "*" || q.Operation == operation) && (!object || red(q.Object)) && (!namespace || red(q.Namespace))
		}
	}
	for range r.IntN(4) {
		h := Hook{Kind: "ValidatingAdmissionPolicy", Name: "p", Matches: match()}
		if r.IntN(2) == 0 {
			h.Kind, h.Webhook = "ValidatingWebhookConfiguration", "w"
			h.Unreachable = []string{"", "why"}[r.IntN(2)]
		}
		h.Conditional, h.Fails = r.IntN(2) == 0, r.IntN(2) == 0
		c.Hooks = append(c.Hooks, h)
	}
}

// checkDecoded compares an answer with what is decoded from its JSON.
func checkDecoded[T any](t *testing.T, run int, answer *T, text func(*T) string) {
	t.Helper()
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	decoded := new(T)
	if err := json.Unmarshal(data, decoded); err != nil {
		t.Fatal(err)
	}
	if text(decoded) != text(answer) {
		t.Errorf("run %d: decoded:\n%s\nis not\n%s", run, text(decoded), text(answer))
	}
	if again, err := json.Marshal(decoded); err != nil || string(again) != string(data) {
		t.Errorf("run %d: %v: encoded again:\n%s\nis not\n%s", run, err, again, data)
	}
}

// TestLevelsOfAnswersAreLimited: answers about a long chain of owners have mostLevels levels, and report that there are
// more.
func TestLevelsOfAnswersAreLimited(t *testing.T) {
	const last = 20_000
	c := &Cluster{Resources: resources(), Now: now}
	for i := range last + 1 {
		o := &Object{Key: key(fmt.Sprintf("configmaps/ns/%d", i)), UID: fmt.Sprint(i)}
		if i > 0 {
			owner := fmt.Sprint(i - 1)
			o.Owners = []graph.Owner{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: owner, Block: true}}
		}
		if i < 2*mostLevels {
			o.Deletion, o.Finalizers = now, []string{finalizers.Foreground}
		}
		c.Objects = append(c.Objects, o)
	}
	x := c.Index()
	for _, tree := range []*Tree{x.Tree(c.Objects[0].Key), x.Tree(c.Objects[last].Key)} {
		checkDecoded(t, 0, tree, func(v *Tree) string { return v.Text(Style{}) })
		for _, text := range []string{tree.Text(Style{}), tree.Draw("dot"), tree.Draw("mermaid")} {
			if strings.Count(text, "\n") > 4*mostLevels || !strings.Contains(text, tooDeep(1)) {
				t.Error(text)
			}
		}
	}
	if text := x.Why(c.Objects[0].Key).Text(Style{}); !strings.Contains(text, tooDeep(1)) {
		t.Error(text)
	}
}

// TestStoppedPreviewIsNil: a preview that Stop has ended is nil.
func TestStoppedPreviewIsNil(t *testing.T) {
	c := randomCluster(rand.New(rand.NewPCG(1, 1)), 10)
	asked := 0
	c.Stop = func() bool { asked++; return asked > 2 }
	var keys []graph.Key
	for _, o := range c.Objects {
		keys = append(keys, o.Key)
	}
	if p := c.Index().Preview(keys, finalizers.Options{}); p != nil {
		t.Errorf("the preview was carried on: %+v", p)
	}
}
