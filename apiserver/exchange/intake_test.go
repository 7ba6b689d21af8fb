package exchange

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// TestGather reads bodies of all lengths, in pieces, and asks for as much memory as comes, not as is promised.
func TestGather(t *testing.T) {
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 100_000, codec.MaxBody, codec.MaxBody + 1} {
		want := bytes.Repeat([]byte("x"), n)
		for _, length := range []int64{-1, int64(n)} {
			for name, from := range map[string]io.Reader{
				"whole": bytes.NewReader(want), "halves": iotest.HalfReader(bytes.NewReader(want)),
				"end with data": iotest.DataErrReader(bytes.NewReader(want)),
			} {
				asked := 0
				got, err := readBounded(from, length, func(n int) bool { asked += n; return true })
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
	if _, err := readBounded(slow, codec.MaxBody, func(n int) bool {
		asked += n
		return true
	}); err == nil || asked > bodyCost+firstPiece {
		t.Errorf("one byte of a promised %d: asked for %d, %v", codec.MaxBody, asked, err)
	}
	if _, err := readBounded(strings.NewReader("{}"), 2, func(int) bool {
		return false
	}); !errors.Is(err, status.ErrBusy) {
		t.Errorf("no room: %v", err)
	}
}
