package invalid

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestDuplicateAndUnsendableWarningsAreDropped adds warnings that are duplicate, empty, or can't be sent.
func TestDuplicateAndUnsendableWarningsAreDropped(t *testing.T) {
	var l Warnings
	for _, m := range []string{"a", "", "b", "a", "line\nbreak", "\xff", "ä"} {
		l.Add(m)
	}
	if diff := cmp.Diff([]string{"a", "b", "ä"}, l.Sent()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	var none *Warnings
	none.Add("a")
	if none.Full() || none.Sent() != nil {
		t.Error("nil list is not empty")
	}
}

// unbounded implements rule 0-12 without a limit on memory: it selects warnings after all were added.
func unbounded(all []string) (sent []string) {
	written, cut := 0, false
	for i, m := range all {
		n := utf8.RuneCountInString(m)
		switch {
		case cut && written >= MaxWarningRunes:
			return sent
		case cut:
			m = firstRunes(m, MaxEachWarning)
			sent, written = append(sent, m), written+utf8.RuneCountInString(m)
		case written+n <= MaxWarningRunes:
			sent, written = append(sent, m), written+n
		default:
			cut, sent, written = true, nil, 0
			for _, m := range all[:i+1] {
				m = firstRunes(m, MaxEachWarning)
				sent, written = append(sent, m), written+utf8.RuneCountInString(m)
			}
		}
	}
	return sent
}

// TestRandomLists compares random lists with unbounded.
func TestRandomWarnings(t *testing.T) {
	seed := seed.Of(t)
	for i := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, i))
		longest := []int{2, 40, 255, 256, 257, 600, 5000}[r.IntN(7)]
		var l Warnings
		var all []string
		for j := range r.IntN(4200 * 4 / longest) {
			m := fmt.Sprint(j, strings.Repeat("ü", r.IntN(longest)))
			all = append(all, m)
			full := l.Full()
			l.Add(m)
			if full && slices.Contains(l.Added(), m) {
				t.Fatalf("seed %d, list %d: a full list took a message", seed, i)
			}
		}
		if diff := cmp.Diff(unbounded(all), l.Sent()); diff != "" {
			t.Fatalf("seed %d, list %d: want -, got +:\n%s", seed, i, diff)
		}
	}
}

// TestKept: a list keeps no more warnings than can be sent.
func TestWarningsKept(t *testing.T) {
	var l Warnings
	for i := range 1_000_000 {
		l.Add(fmt.Sprint(i))
	}
	if n := len(l.Added()); !l.Full() || n > MaxWarningRunes {
		t.Errorf("%d messages kept, full: %v", n, l.Full())
	}
}
