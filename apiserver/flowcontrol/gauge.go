package flowcontrol

import "sync"

// gauge is a number that records its peak.
type gauge struct {
	mu           sync.Mutex // guards what follows
	now, highest float64
}

// Set and the other methods implement k8s.io/apiserver's interface of gauges.
func (g *gauge) Set(v float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = v
	g.highest = max(g.highest, v)
}

func (g *gauge) Add(v float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += v
	g.highest = max(g.highest, g.now)
}

func (g *gauge) Inc()                   { g.Add(1) }
func (g *gauge) Dec()                   { g.Add(-1) }
func (g *gauge) SetToCurrentTime()      {}
func (g *gauge) SetDenominator(float64) {}

// peak returns the highest value since the last call, and starts again with the present one.
func (g *gauge) peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.highest
	g.highest = g.now
	return int(p)
}
