package graph

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkStep takes objects through their lives in graphs of different sizes: the time a step
// takes must not depend on the size.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("update/nodes=%d", size), func(b *testing.B) {
			g := big(size)
			o := pod(0, 0)
			b.ReportAllocs()
			for b.Loop() {
				o.Revision++
				g.Step(Observed{o})
			}
		})
		b.Run(fmt.Sprintf("cascade/nodes=%d", size), func(b *testing.B) {
			g := big(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				cascade(g, size+i%1000)
			}
		})
	}
}

// BenchmarkFanOut deletes an owner with all its dependents; the time is that for one dependent.
func BenchmarkFanOut(b *testing.B) {
	for _, policy := range []Flags{0, Deleting | ForegroundFinalizer, Deleting | OrphanFinalizer} {
		for _, size := range []int{1_000, 100_000} {
			b.Run(fmt.Sprintf("%s/dependents=%d", policy, size), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					g := New(Config{Limit: 64})
					g.Step(Kinds{Table: defaultKinds})
					o := owner(0)
					g.Step(Observed{o})
					for i := range size {
						g.Step(Observed{pod(i, 0)})
					}
					g.Step(Loaded{})
					b.StartTimer()
					fanOut(g, o, policy)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/dependent")
			})
		}
	}
}

func fanOut(g *Graph, o Object, policy Flags) {
	var e Event = Gone{Key: o.Key}
	if policy != 0 {
		o.Flags = policy
		e = Observed{o}
	}
	todo := append([]Action(nil), g.Step(e)...)
	for len(todo) > 0 {
		a := todo[0]
		todo = todo[1:]
		todo = append(todo, g.Step(Result{Ticket: ticketOf(a), Outcome: Done})...)
		switch a := a.(type) {
		case Delete:
			todo = append(todo, g.Step(Gone{Key: a.Object.Key})...)
		case RemoveOwners:
			todo = append(todo, g.Step(Observed{Object{Key: a.Object.Key, UID: a.Object.UID}})...)
		case RemoveFinalizer:
			todo = append(todo, g.Step(Gone{Key: a.Object.Key})...)
		}
	}
	if s := g.Stats(); s.Ready+s.InFlight+s.Settled > 0 || s.Edges > 0 {
		panic(fmt.Sprintf("%+v", s))
	}
}

// cascade takes one owner and one dependent through creation and background deletion: six steps.
func cascade(g *Graph, i int) {
	o, d := owner(i), pod(i, i)
	g.Step(Observed{o})
	g.Step(Observed{d})
	a := g.Step(Gone{Key: o.Key})
	t := a[0].(Delete).Ticket
	g.Step(Result{Ticket: t, Outcome: Done})
	g.Step(Gone{Key: d.Key})
}

// BenchmarkMemory reports the bytes that one object costs, its strings included.
func BenchmarkMemory(b *testing.B) {
	for _, owned := range []bool{false, true} {
		b.Run(fmt.Sprintf("owned=%v", owned), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				g := New(Config{Limit: 64})
				g.Step(Kinds{Table: defaultKinds})
				const size = 100_000
				for i := range size {
					o := pod(i, i/10)
					if !owned {
						o.Owners = nil
					}
					g.Step(Observed{o})
				}
				g.loaded = nil
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/size, "B/object")
				runtime.KeepAlive(g)
			}
		})
	}
}

func owner(i int) Object {
	return Object{
		Key: Key{"replicasets", "default", fmt.Sprint("rs-", i)}, APIVersion: "apps/v1", Kind: "ReplicaSet",
		UID: fmt.Sprintf("00000000-0000-0000-0000-%012d", i), Revision: 1,
	}
}

func pod(i, of int) Object {
	o := owner(of)
	return Object{
		Key: Key{"pods", "default", fmt.Sprint("pod-", i)}, APIVersion: "v1", Kind: "Pod",
		UID: fmt.Sprintf("11111111-0000-0000-0000-%012d", i), Revision: 1,
		Owners: []Owner{{o.APIVersion, o.Kind, o.Name, o.UID, true}},
	}
}

// big returns a loaded graph: replica sets with nine pods each.
func big(size int) *Graph {
	g := New(Config{Limit: 64})
	g.Step(Kinds{Table: defaultKinds})
	for i := range size / 10 {
		g.Step(Observed{owner(i)})
		for j := range 9 {
			g.Step(Observed{pod(i*9+j, i)})
		}
	}
	g.Step(Loaded{})
	return g
}

// BenchmarkWide changes the owners of an object that has very many; the time is that for one reference.
func BenchmarkWide(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("owners=%d", size), func(b *testing.B) {
			g := New(Config{Limit: 64})
			g.Step(Kinds{Table: defaultKinds})
			g.Step(Loaded{})
			o := pod(0, 0)
			for i := range size {
				x := owner(i + 1)
				g.Step(Observed{x})
				o.Owners = append(o.Owners, Owner{x.APIVersion, x.Kind, x.Name, x.UID, true})
			}
			g.Step(Observed{owner(0)})
			for b.Loop() {
				o.Revision++
				o.Owners[0].Block = !o.Owners[0].Block
				g.Step(Observed{o})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/reference")
		})
	}
}
