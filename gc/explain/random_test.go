package explain

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestRandomAnswersAreConsistent gets all answers for random clusters with all kinds of errors: the same question has
// the same answer, and the cluster is not changed. Every object that is being deleted has a reason, and each remedy
// that removes an item names one that exists.
func TestRandomAnswersAreConsistent(t *testing.T) {
	first := seed.Of(t)
	for i := range 400 {
		r := rand.New(rand.NewPCG(first, uint64(i)))
		c := randomCluster(r, 2+r.IntN(14))
		print := func() (all string) {
			for _, o := range c.Objects {
				all += fmt.Sprintf("%+v\n", *o)
			}
			return all
		}
		before, x := print(), c.Index()
		for _, o := range c.Objects {
			why := x.Why(o.Key)
			if again := x.Why(o.Key); !reflect.DeepEqual(why, again) {
				t.Fatalf("run %d: why %s: two answers", i, o.Key)
			}
			if !o.Deletion.IsZero() && (why.Cause != Terminating || len(why.Below) == 0) {
				t.Errorf("run %d: %s is being deleted: %+v", i, o.Key, why)
			}
			checkRemedies(t, c, why)
			tree := x.Tree(o.Key)
			texts := []string{why.Text(Style{Width: 60}), tree.Text(Style{Color: true}), tree.Draw("dot"), tree.Draw("mermaid")}
			for _, text := range texts {
				if text == "" {
					t.Errorf("run %d: nothing about %s", i, o.Key)
				}
			}
			for _, v := range []any{why, tree} {
				if _, err := json.Marshal(v); err != nil {
					t.Error(err)
				}
			}
			policy := []string{"", "Background", "Foreground", "Orphan"}[r.IntN(4)]
			p := x.Preview([]graph.Key{o.Key}, finalizers.Options{PropagationPolicy: policy})
			(&scenario{t: t}).check(p)
			if o.Deletion.IsZero() && len(p.Changes) == 0 && len(p.Before) == 0 {
				t.Errorf("run %d: the deletion of %s changes nothing", i, o.Key)
			}
		}
		x.Lint("")
		if print() != before {
			t.Fatalf("run %d: the cluster was changed", i)
		}
	}
}

// checkRemedies checks that the items that remedies remove exist.
func checkRemedies(t *testing.T, c *Cluster, r *Reason) {
	x := c.Index()
	for _, m := range r.Remedies {
		o := x.keys[m.Object.Key()]
		if m.Action != "" && m.Action != Wait && (o == nil || m.Command == "") {
			t.Errorf("%+v", m)
		} else if m.Action == RemoveItem && !itemOf(t, m.Command).in(o) {
			t.Errorf("%+v: not in %+v", m, o)
		}
	}
	for _, b := range r.Below {
		checkRemedies(t, c, b)
	}
}

// specList is the list of a namespace's finalizers in its spec.
const specList = "/spec/finalizers"

// element is an item of a list that a command removes.
type element struct {
	// list is a JSON pointer, index the item's place in it; -1 for any.
	list  string
	index int
	value string
}

// itemOf reads the command of a remedy.
func itemOf(t *testing.T, command string) element {
	t.Helper()
	if _, rest, ok := strings.Cut(command, `jq '.spec.finalizers -= ["`); ok {
		name, _, _ := strings.Cut(rest, `"]'`)
		return element{specList, -1, name}
	}
	_, patch, _ := strings.Cut(command, " -p ")
	var operations []struct{ Op, Path, Value string }
	err := json.Unmarshal([]byte(strings.Trim(patch, "'")), &operations)
	if err != nil || len(operations) != 2 || operations[0].Op != "test" || operations[1].Op != "remove" ||
		strings.TrimSuffix(operations[0].Path, "/uid") != operations[1].Path {
		t.Fatalf("%s: %v", command, err)
	}
	list, index := path.Split(operations[1].Path)
	i, err := strconv.Atoi(index)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return element{strings.TrimSuffix(list, "/"), i, operations[0].Value}
}

// in reports whether the object has the item at its place.
func (i element) in(o *Object) bool {
	var list []string
	switch i.list {
	case finalizersList:
		list = o.Finalizers
	case specList:
		return slices.Contains(o.SpecFinalizers, i.value)
	case ownersList:
		for _, owner := range o.Owners {
			list = append(list, owner.UID)
		}
	}
	return i.index < len(list) && list[i.index] == i.value
}

// randomCluster has n objects in two namespaces, which may themselves be among them.
func randomCluster(r *rand.Rand, n int) *Cluster {
	c := &Cluster{Resources: resources(), Now: now}
	kinds := []string{
		"configmaps",
		"configmaps",
		"pods",
		"jobs.batch",
		"crontabs.example.com",
		"namespaces",
		"clusterroles." +
			"rbac.authorization.k8s.io",
		"customresourcedefinitions.apiextensions.k8s.io",
		"events",
	}
	for i := range c.Resources {
		if r.IntN(20) == 0 {
			c.Resources[i].Unknown = "not listed"
		}
	}
	used := map[graph.Key]bool{}
	for i := range n {
		kind := kinds[r.IntN(len(kinds))]
		res := c.Resources[slices.IndexFunc(c.Resources, func(o Resource) bool { return o.Name() == kind })]
		o := &Object{Key: graph.Key{Collection: res.Name(), Name: fmt.Sprintf("o%d", i)}, UID: fmt.Sprintf("u%d", i)}
		switch {
		case res.Namespaced:
			o.Namespace = fmt.Sprintf("ns%d", r.IntN(2))
		case res.Delete.Namespace:
			o.Name, o.SpecFinalizers = fmt.Sprintf("ns%d", r.IntN(2)), []string{kubernetes}
		case res.Delete.Cleanup != "":
			o.Name = "crontabs.example.com"
		}
		if used[o.Key] || res.Unknown != "" {
			continue
		}
		used[o.Key] = true
		o.life(r, &res)
		c.Objects = append(c.Objects, o)
	}
	for _, o := range c.Objects {
		for range r.IntN(4) {
			o.own(r, c)
		}
	}
	return c
}

// life gives an object finalizers, and begins its deletion.
func (o *Object) life(r *rand.Rand, res *Resource) {
	for _, f := range []string{
		"example.com/hold", finalizers.Orphan, finalizers.Foreground, "kubernetes.io/pvc-protection", res.Delete.Cleanup,
	} {
		if f != "" && r.IntN(5) == 0 {
			o.Finalizers = append(o.Finalizers, f)
		}
	}
	if res.Delete.Graceful && r.IntN(2) == 0 {
		o.Pod = &Pod{Node: []string{"", "n1"}[r.IntN(2)], GraceSeconds: new(int64(30))}
	}
	if r.IntN(3) == 0 {
		o.Deletion = now.Add(time.Duration(r.IntN(120)-60) * time.Second)
		o.GraceSeconds = new(int64(0))
		if res.Delete.Graceful {
			*o.GraceSeconds = int64(r.IntN(2) * 30)
		}
	}
}

// own adds an owner reference, correct or wrong.
func (o *Object) own(r *rand.Rand, c *Cluster) {
	to := c.Objects[r.IntN(len(c.Objects))]
	i := slices.IndexFunc(c.Resources, func(res Resource) bool { return res.Name() == to.Collection })
	owner := graph.Owner{
		APIVersion: c.Resources[i].APIVersion(), Kind: c.Resources[i].Kind, Name: to.Name, UID: to.UID, Block: r.IntN(2) == 0,
	}
	switch r.IntN(12) {
	case 0:
		owner.Name = "other"
	case 1:
		owner.UID = "never"
	case 2:
		owner.APIVersion = "unserved.example.com/v1"
	}
	if !slices.ContainsFunc(o.Owners, func(p graph.Owner) bool { return p.UID == owner.UID }) {
		o.Owners = append(o.Owners, owner)
	}
}

// TestLinesAreBrokenAtTheWidth: lines are broken at the width, except for names and commands.
func TestLinesAreBrokenAtTheWidth(t *testing.T) {
	c := &Cluster{Resources: resources(), Now: now, Objects: []*Object{{
		Key: graph.Key{Collection: "configmaps", Namespace: "ns", Name: "a"}, UID: "a", Deletion: now,
		Finalizers: []string{"kubernetes.io/pvc-protection"},
	}}}
	for line := range strings.Lines(c.Index().Why(c.Objects[0].Key).Text(Style{Width: 72, Color: true})) {
		line = strings.TrimSuffix(plain(line), "\n")
		if len([]rune(line)) > 72 && !strings.HasPrefix(line, "    $ ") {
			t.Errorf("%d characters: %s", len([]rune(line)), line)
		}
	}
}
