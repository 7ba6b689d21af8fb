package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/storage"
)

const root = "/registry"

// value returns a stored object whose content is v.
func value(key, v string) []byte {
	_, rest, _ := storage.Collection(root, key)
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok {
		namespace, name = "", rest
	}
	return fmt.Appendf(
		nil, `{"kind":"Thing","apiVersion":"v1","metadata":{"name":%q,"namespace":%q},"v":%q}`, name, namespace, v)
}

var content = regexp.MustCompile(`"v":"([^"]*)"`)

// shown prints an object: its key below root, its revision and its content.
func shown(o *storage.Object) string {
	if o == nil {
		return "nothing"
	}
	key := strings.TrimPrefix(o.Key, root+"/")
	if o.Err != nil {
		return fmt.Sprintf("%s@%d corrupt", key, o.Revision)
	}
	v := "?"
	if m := content.FindSubmatch(o.JSON); m != nil {
		v = string(m[1])
	}
	return fmt.Sprintf("%s@%d %s", key, o.Revision, v)
}

// shownEvent prints an event with the object before it.
func shownEvent(e *Event) string {
	s := fmt.Sprintf("%d %s %s", e.Revision, e.Type, shown(e.Object))
	if e.Prev != nil {
		s += ", was " + shown(e.Prev)
	}
	return s
}

// story is the state of one scenario file.
type story struct {
	t        *testing.T
	cache    *Cache
	watchers map[string]*Watcher
	progress map[string]int64
}

// TestScenarios runs the files of testdata, each of which can be read as a story. After every command the invariants
// are checked.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &story{t: t, cache: New(Options{Decoder: storage.Decoder{Root: root}})}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			verb, ok := verbs[d.Cmd]
			if !ok {
				d.Fatalf(t, "no such command")
			}
			out := verb(s, d)
			s.check(d)
			return strings.TrimSuffix(out, "\n") + "\n"
		})
	})
}

// check tests the invariants of the cache, and that progress never goes back.
func (s *story) check(d *datadriven.TestData) {
	if err := s.cache.check(); err != nil {
		d.Fatalf(s.t, "invariant: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(s.watchers)) {
		p := s.watchers[name].Progress()
		if p < s.progress[name] {
			d.Fatalf(s.t, "progress of %s went back from %d to %d", name, s.progress[name], p)
		}
		s.progress[name] = p
	}
}

var verbs = map[string]func(s *story, d *datadriven.TestData) string{
	"cache":       (*story).make,
	"reset":       (*story).reset,
	"apply":       (*story).apply,
	"watch":       (*story).watch,
	"timeline":    (*story).watch,
	"next":        (*story).next,
	"progress":    (*story).printProgress,
	"snapshot":    (*story).snapshot,
	"page":        (*story).page,
	"get":         (*story).get,
	"wait":        (*story).wait,
	"revision":    (*story).revision,
	"everything":  (*story).everything,
	"collections": (*story).collections,
}

// arg returns an argument, or other if it isn't given.
func arg(d *datadriven.TestData, name, other string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) == 1 {
			return a.Vals[0]
		}
	}
	return other
}

func number(d *datadriven.TestData, name string, other int64) int64 {
	n, err := strconv.ParseInt(arg(d, name, strconv.FormatInt(other, 10)), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func failed(err error) string {
	var expired *ExpiredError
	if errors.As(err, &expired) {
		return fmt.Sprintf("expired: asked for %d, the oldest is %d", expired.Revision, expired.Oldest)
	}
	return "error: " + err.Error()
}

func (s *story) make(d *datadriven.TestData) string {
	s.watchers, s.progress = map[string]*Watcher{}, map[string]int64{}
	s.cache = New(Options{
		Decoder: storage.Decoder{Root: root},
		Events:  int(number(d, "events", 0)), Bytes: number(d, "bytes", 0),
		TimelineEvents: int(number(d, "timeline-events", 0)), TimelineBytes: number(d, "timeline-bytes", 0),
	})
	return "ok"
}

// reset takes lines of "key revision content".
func (s *story) reset(d *datadriven.TestData) string {
	b := storage.Batch{Reset: true, Revision: number(d, "rev", 0)}
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		b.Events = append(b.Events, put(f[0], f[1], f[2]))
	}
	return s.take(b)
}

// apply takes lines of "put key revision content" and "delete key revision"; the batch's revision
// is that of the last line if it isn't given.
func (s *story) apply(d *datadriven.TestData) string {
	var b storage.Batch
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		e := put(f[1], f[2], "")
		if f[0] == "delete" {
			e.Value = nil
		} else {
			e = put(f[1], f[2], f[3])
		}
		b.Events, b.Revision = append(b.Events, e), e.Revision
	}
	b.Revision = number(d, "rev", b.Revision)
	return s.take(b)
}

func put(key, rev, v string) storage.Event {
	n, err := strconv.ParseInt(rev, 10, 64)
	if err != nil {
		panic(err)
	}
	e := storage.Event{Key: root + "/" + key, Revision: n, Value: value(root+"/"+key, v)}
	if v == "corrupt" {
		e.Value = []byte("k8s?")
	}
	return e
}

// take applies the batch and prints the watchers that now have new events to read.
func (s *story) take(b storage.Batch) string {
	waiting := map[string]<-chan struct{}{}
	for name, w := range s.watchers {
		if ch := w.Changed(); !isClosed(ch) {
			waiting[name] = ch
		}
	}
	if err := s.cache.Apply(b); err != nil {
		return failed(err)
	}
	out := fmt.Sprintf("revision %d", s.cache.Revision())
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		if isClosed(waiting[name]) {
			out += ", wakes " + name
		}
	}
	return out
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// watch starts a watcher by the name that is the first argument.
func (s *story) watch(d *datadriven.TestData) string {
	w, err := s.cache.Timeline(number(d, "rev", 0))
	if d.Cmd == "watch" {
		w, err = s.cache.Watch(arg(d, "of", ""), number(d, "rev", 0))
	}
	if err != nil {
		return failed(err)
	}
	s.watchers[d.CmdArgs[0].Key] = w
	s.progress[d.CmdArgs[0].Key] = 0
	return "ok"
}

// next prints the result of Next. If Next would block, Changed and Poll must agree.
func (s *story) next(d *datadriven.TestData) string {
	w := s.watchers[d.CmdArgs[0].Key]
	ready := isClosed(w.Changed())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	events, rev, err := w.Next(ctx)
	switch {
	case ready == errors.Is(err, context.Canceled):
		d.Fatalf(s.t, "Changed says %v, Next returned %v", ready, err)
	case errors.Is(err, context.Canceled):
		return fmt.Sprintf("blocks, complete up to %d", rev)
	case err != nil:
		return failed(err)
	}
	var out strings.Builder
	for _, e := range events {
		fmt.Fprintln(&out, shownEvent(e))
	}
	fmt.Fprintf(&out, "complete up to %d", rev)
	return out.String()
}

func (s *story) printProgress(d *datadriven.TestData) string {
	return fmt.Sprint(s.watchers[d.CmdArgs[0].Key].Progress())
}

func (s *story) snapshot(d *datadriven.TestData) string {
	snap, err := s.cache.Snapshot(arg(d, "of", ""), number(d, "rev", 0))
	if err != nil {
		return failed(err)
	}
	return shownSnapshot(snap)
}

func shownSnapshot(snap *Snapshot) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s at %d: %d", snap.Collection(), snap.Revision(), snap.Len())
	for o := range snap.Ascend("", "") {
		fmt.Fprint(&out, "\n  ", shown(o))
	}
	return out.String()
}

// page prints a page like a list with limit and continue: the objects, the remaining number, and the next key.
func (s *story) page(d *datadriven.TestData) string {
	snap, err := s.cache.Snapshot(arg(d, "of", ""), number(d, "rev", 0))
	if err != nil {
		return failed(err)
	}
	prefix, from, limit := root+"/"+arg(d, "prefix", ""), arg(d, "from", ""), int(number(d, "limit", 0))
	if from != "" {
		from = root + "/" + from + "\x00"
	}
	var out strings.Builder
	n, last := 0, ""
	for o := range snap.Ascend(prefix, from) {
		if n == limit {
			break
		}
		n, last = n+1, o.Key
		fmt.Fprintln(&out, shown(o))
	}
	fmt.Fprintf(&out, "at %d, %d remain", snap.Revision(), snap.Count(prefix, max(from, last+"\x00")))
	return out.String()
}

func (s *story) get(d *datadriven.TestData) string {
	o, rev := s.cache.Get(root + "/" + d.CmdArgs[0].Key)
	return fmt.Sprintf("%s, at %d", shown(o), rev)
}

func (s *story) wait(d *datadriven.TestData) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.cache.Wait(ctx, number(d, "rev", 0)); err != nil {
		return "blocks"
	}
	return "ok"
}

func (s *story) revision(*datadriven.TestData) string {
	return fmt.Sprintf("%d, ready: %v", s.cache.Revision(), isClosed(s.cache.Ready()))
}

func (s *story) everything(*datadriven.TestData) string {
	rev, all := s.cache.Everything()
	out := fmt.Sprintf("revision %d", rev)
	for _, snap := range all {
		out += "\n" + shownSnapshot(snap)
	}
	return out
}

func (s *story) collections(*datadriven.TestData) string {
	var names []string
	_, all := s.cache.Everything()
	for _, snap := range all {
		names = append(names, snap.Collection())
	}
	return strings.Join(names, " ")
}
