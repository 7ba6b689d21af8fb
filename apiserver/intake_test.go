package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestIntake: however many bytes one user's bodies have, another's finds room; all together stay within the bound.
func TestIntake(t *testing.T) {
	var i intake
	fill := func(user string) (n int64) {
		for i.take(user, maxBody) {
			n += maxBody
		}
		return n
	}
	floods := map[string]int64{}
	for f := range 4 {
		floods[fmt.Sprint("flood", f)] = fill(fmt.Sprint("flood", f))
	}
	if n := floods["flood0"]; n < maxIntake/3 || n > maxIntake/2 {
		t.Errorf("the first flood has %d bytes", n)
	}
	if !i.take("other", maxBody) {
		t.Error("another user's body is rejected")
	}
	if i.held > maxIntake {
		t.Errorf("%d bytes in all", i.held)
	}
	i.give("other", maxBody)
	for user, n := range floods {
		i.give(user, n)
	}
	if i.held != 0 || len(i.by) != 0 {
		t.Errorf("%d bytes of %v are left", i.held, i.by)
	}
}

// TestGather reads bodies of all lengths, in pieces, and asks for as much memory as comes, not as is promised.
func TestGather(t *testing.T) {
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 100_000, maxBody, maxBody + 1} {
		want := bytes.Repeat([]byte("x"), n)
		for _, length := range []int64{-1, int64(n)} {
			for name, from := range map[string]io.Reader{"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want)), "end with data": iotest.DataErrReader(bytes.NewReader(want))} {
				asked := 0
				got, err := gather(from, length, func(n int) bool { asked += n; return true })
				if n > maxBody {
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
	if _, err := gather(slow, maxBody, func(n int) bool { asked += n; return true }); err == nil || asked > bodyCost+firstPiece {
		t.Errorf("one byte of a promised %d: asked for %d, %v", maxBody, asked, err)
	}
	if _, err := gather(strings.NewReader("{}"), 2, func(int) bool { return false }); !errors.Is(err, errBusy) {
		t.Errorf("no room: %v", err)
	}
}
