package check

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios runs the histories in testdata. The forms of a line are
//
//	etcd REVISION KEY UID TOKEN [OWNER:UID ...] [terminating] [+FINALIZER ...]
//	etcd REVISION KEY -           the key was removed
//	compact TIME REVISION
//	ready SERVER REVISION
//	write BEGIN-END SERVER VERB KEY TOKEN|UID OUTCOME [revision=N] [over=N]
//	get BEGIN-END SERVER MODE KEY [VERSION] [asked=N]
//	list BEGIN-END SERVER MODE PREFIX REVISION [VERSION ...] [asked=N] [gone]
//	watch NAME PREFIX TIME SERVER KIND VERSION|REVISION
//	until NAME REVISION
//
// VERSION is KEY@REVISION[=UID/TOKEN]. The default UID and TOKEN are those in etcd.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := parser{t: t, ids: map[int64]Version{}, watchers: map[string]*Watcher{}}
			p.h.Ready = map[string]int64{}
			for line := range strings.Lines(d.Input) {
				p.line(strings.Fields(line))
			}
			var found []Violation
			switch d.Cmd {
			case "check":
				found = Check(&p.h)
			case "unfinished":
				found = Unfinished(p.state())
			default:
				t.Fatalf("%s is no command", d.Cmd)
			}
			if len(found) == 0 {
				return "none\n"
			}
			var out strings.Builder
			for _, v := range found {
				if fmt.Fprintf(&out, "%s: %s\n", v.Rule, v.What); d.HasArg("shown") {
					fmt.Fprintf(&out, "  %s\n", strings.Join(v.Shown, "\n  "))
				}
			}
			return out.String()
		})
	})
}

type parser struct {
	t        *testing.T
	h        History
	ids      map[int64]Version
	watchers map[string]*Watcher
}

func (p *parser) line(f []string) {
	switch f[0] {
	case "etcd":
		p.h.Events = append(p.h.Events, p.event(f[1:]))
	case "compact":
		p.h.Compactions = append(p.h.Compactions, Compaction{p.time(f[1]), p.number(f[2])})
	case "ready":
		p.h.Ready[f[1]] = p.number(f[2])
	case "write":
		p.h.Writes = append(p.h.Writes, p.write(f[1:]))
	case "get":
		r := &Read{Span: p.span(f[1]), Server: f[2], Mode: p.mode(f[3]), Key: f[4]}
		for _, arg := range f[5:] {
			if asked, is := strings.CutPrefix(arg, "asked="); is {
				r.Asked = p.number(asked)
			} else {
				r.Versions = append(r.Versions, p.version(arg))
			}
		}
		p.h.Reads = append(p.h.Reads, r)
	case "list":
		p.h.Reads = append(p.h.Reads, p.list(f[1:]))
	case "until":
		p.watchers[f[1]].Until = p.number(f[2])
	case "watch":
		p.step(f[1:])
	default:
		p.t.Fatalf("%s is no line", f[0])
	}
}

func (p *parser) event(f []string) Event {
	e := Event{Revision: p.number(f[0]), Key: f[1]}
	if f[2] == "-" {
		return e
	}
	e.Object = &Object{UID: f[2], Token: f[3]}
	for _, w := range f[4:] {
		switch {
		case w == "terminating":
			e.Object.Terminating = true
		case w[0] == '+':
			e.Object.Finalizers = append(e.Object.Finalizers, w[1:])
		default:
			key, uid, _ := strings.Cut(w, ":")
			resource, name, _ := strings.Cut(key, "/")
			e.Object.Owners = append(e.Object.Owners, Owner{Resource: resource, Name: name, UID: uid})
		}
	}
	p.ids[e.Revision] = Version{UID: f[2], Token: f[3]}
	return e
}

func (p *parser) write(f []string) *Write {
	w := &Write{Span: p.span(f[0]), Server: f[1], Verb: Verb(p.index(f[2], Create, Update, Patch, Delete)), Key: f[3],
		Outcome: Outcome(p.index(f[5], Acknowledged, Rejected, Ambiguous))}
	if w.Verb == Delete {
		w.UID = strings.TrimPrefix(f[4], "?") // "?" for a deletion without a UID
	} else {
		w.Token = f[4]
	}
	for _, arg := range f[6:] {
		name, n, _ := strings.Cut(arg, "=")
		switch name {
		case "revision":
			w.Revision = p.number(n)
		case "over":
			w.Over = p.number(n)
		default:
			p.t.Fatalf("%s is no argument", name)
		}
	}
	return w
}

func (p *parser) list(f []string) *Read {
	r := &Read{Span: p.span(f[0]), Server: f[1], Mode: p.mode(f[2]), Prefix: f[3], Revision: p.number(f[4])}
	for _, arg := range f[5:] {
		switch asked, is := strings.CutPrefix(arg, "asked="); {
		case is:
			r.Asked = p.number(asked)
		case arg == "gone":
			r.Gone = true
		default:
			r.Versions = append(r.Versions, p.version(arg))
		}
	}
	return r
}

func (p *parser) step(f []string) {
	w := p.watchers[f[0]]
	if w == nil {
		w = &Watcher{Name: f[0], Prefix: f[1]}
		p.watchers[f[0]] = w
		p.h.Watchers = append(p.h.Watchers, w)
	}
	s := Step{At: p.time(f[2]), Server: f[3]}
	s.Kind = StepKind(p.index(f[4], Listed, Added, Modified, Deleted, Bookmark, Expired))
	if strings.Contains(f[5], "@") {
		s.Version = p.version(f[5])
	} else {
		s.Version.Revision = p.number(f[5])
	}
	w.Steps = append(w.Steps, s)
}

func (p *parser) version(word string) Version {
	word, content, explicit := strings.Cut(word, "=")
	key, rev, _ := strings.Cut(word, "@")
	v := p.ids[p.number(rev)]
	if explicit {
		v.UID, v.Token, _ = strings.Cut(content, "/")
	}
	v.Key, v.Revision = key, p.number(rev)
	return v
}

func (p *parser) state() map[string]*Object {
	state := map[string]*Object{}
	for _, e := range p.h.Events {
		if delete(state, e.Key); e.Object != nil {
			state[e.Key] = e.Object
		}
	}
	return state
}

func (p *parser) mode(word string) Mode { return Mode(p.index(word, Default, Cached, Exact, AtLeast)) }

// index returns the index of the value with the name.
func (p *parser) index(word string, values ...fmt.Stringer) int {
	for i, v := range values {
		if v.String() == word {
			return i
		}
	}
	p.t.Fatalf("%s is none of %v", word, values)
	return 0
}

func (p *parser) span(word string) Span {
	begin, end, _ := strings.Cut(word, "-")
	return Span{p.time(begin), p.time(end)}
}

func (p *parser) time(word string) time.Duration { return time.Duration(p.number(word)) }

func (p *parser) number(word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}
