package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// TestIntake: however many users flood it, another's body finds room, and the bytes stay within the bound. Bodies of
// requests that are being served are not cut off.
func TestIntake(t *testing.T) {
	p := pool{limit: maxIntake}
	var cut int
	fill := func(user string, size int) (all []*holding) {
		for {
			r := p.begin(user, func(bool) { cut++ })
			all = append(all, r)
			if !r.take(size) {
				return all
			}
		}
	}
	var all []*holding
	for f := range 40 {
		all = append(all, fill(fmt.Sprint("flood", f), codec.MaxBody)...)
		all = append(all, fill(fmt.Sprint("small", f), bodyCost)...)
	}
	if p.held > maxIntake || p.held < maxIntake/2 {
		t.Errorf("%d bytes in all", p.held)
	}
	before := cut
	other := p.begin("other", func(bool) { cut++ })
	if !other.take(bodyCost+firstPiece) || !other.take(1<<20) || cut == before {
		t.Errorf("another user's body is rejected; %d were cut off for it", cut-before)
	}
	if !other.serve() {
		t.Error("another user's request was cut off")
	}
	for _, r := range append(all, other) {
		r.end()
		r.end()
	}
	if p.held != 0 || len(p.by) != 0 {
		t.Errorf("%d bytes of %v are left", p.held, p.by)
	}
	served := p.begin("big", func(bool) { cut++ })
	if !served.take(maxIntake-bodyCost) || !served.serve() {
		t.Fatal("no room where there is no other")
	}
	if late := p.begin("late", func(bool) { cut++ }); late.take(codec.MaxBody) || !late.take(bodyCost) {
		t.Error("room was made at the cost of a request that is being served, or there was none")
	}
}

// TestIntakeLimit: a pool with less than maxIntake cuts off sooner.
func TestIntakeLimit(t *testing.T) {
	p := pool{limit: 1 << 20}
	cut := 0
	first := p.begin("a", func(bool) { cut++ })
	if !first.take(1<<20) || p.begin("b", func(bool) {}).take(1<<20+1) || !p.begin("c", func(bool) {}).take(1<<10) || cut != 1 {
		t.Errorf("%d bytes, %d were cut off", p.held, cut)
	}
}

// TestHolders: accounts of a namespace, which one user may impersonate all, count as one.
func TestHolders(t *testing.T) {
	for user, want := range map[string]string{"alice": "alice", "system:serviceaccount:a:b": "system:serviceaccount:a", "system:serviceaccount:a:c": "system:serviceaccount:a"} {
		if got := holderOf(user); got != want {
			t.Errorf("%s: %s", user, got)
		}
	}
}

// TestGather reads bodies of all lengths, in pieces, and asks for as much memory as comes, not as is promised.
func TestGather(t *testing.T) {
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 100_000, codec.MaxBody, codec.MaxBody + 1} {
		want := bytes.Repeat([]byte("x"), n)
		for _, length := range []int64{-1, int64(n)} {
			for name, from := range map[string]io.Reader{"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want)), "end with data": iotest.DataErrReader(bytes.NewReader(want))} {
				asked := 0
				got, err := gather(from, length, func(n int) bool { asked += n; return true })
				if n > codec.MaxBody {
					if err == nil || !strings.Contains(err.Error(), "limit is") {
						t.Errorf("%d bytes, %s: %v", n, name, err)
					}
					continue
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, %s: %d bytes, %v", n, name, len(got), err)
				}
				if asked < cap(got) || asked > bodyCost+firstPiece+2*n+1 {
					t.Errorf("%d bytes, %s: asked for %d, with %d in use", n, name, asked, cap(got))
				}
			}
		}
	}
	asked := 0
	slow := io.MultiReader(strings.NewReader("{"), iotest.ErrReader(errors.New("gone")))
	if _, err := gather(slow, codec.MaxBody, func(n int) bool { asked += n; return true }); err == nil || asked > bodyCost+firstPiece {
		t.Errorf("one byte of a promised %d: asked for %d, %v", codec.MaxBody, asked, err)
	}
	if _, err := gather(strings.NewReader("{}"), 2, func(int) bool { return false }); !errors.Is(err, status.ErrBusy) {
		t.Errorf("no room: %v", err)
	}
}
