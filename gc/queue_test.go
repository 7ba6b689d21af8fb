package gc

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// TestQueueEqualsSortedList compares with a sorted list.
func TestQueueEqualsSortedList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	q.clear()
	at := map[graph.Ticket]int{}
	start := time.Unix(0, 0)
	next := graph.Ticket(0)
	for now := range 2000 {
		switch r.IntN(4) {
		case 0, 1:
			next++
			at[next] = now + r.IntN(50)
			q.add(graph.Retry{Ticket: next}, start.Add(time.Duration(at[next])))
		case 2:
			gone := graph.Ticket(r.IntN(int(next) + 1))
			delete(at, gone)
			q.remove(gone)
		default:
			var want []graph.Ticket
			for ticket, when := range at {
				if when <= now {
					want = append(want, ticket)
				}
			}
			slices.SortFunc(want, func(a, b graph.Ticket) int {
				if at[a] != at[b] {
					return at[a] - at[b]
				}
				return int(a) - int(b)
			})
			for _, ticket := range want {
				delete(at, ticket)
			}
			if diff := cmp.Diff(want, q.due(start.Add(time.Duration(now)))); diff != "" {
				t.Fatalf("at %d: want -, got +:\n%s", now, diff)
			}
		}
		if q.order.Len() != len(at) || len(q.retries) != len(at) {
			t.Fatalf("%d, %d in a queue of %d", q.order.Len(), len(q.retries), len(at))
		}
	}
}

func TestDelayDoublesUpToMaximum(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		1: 5 * time.Millisecond, 2: 10 * time.Millisecond, 10: 2560 * time.Millisecond,
		18: 655360 * time.Millisecond, 19: 1000 * time.Second, 20: 1000 * time.Second, 1 << 40: 1000 * time.Second,
	} {
		for range 100 {
			if got := delay(attempt, 0); got < want || got > want*5/4 {
				t.Errorf("attempt %d: %v", attempt, got)
			}
		}
	}
}

// TestDelayExceedsDurationOfSlowRequests lets requests time out: from the second failure on, the pause is at least as
// long as the request.
func TestDelayExceedsDurationOfSlowRequests(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		1: 5 * time.Millisecond, 2: 30 * time.Second, 3: time.Minute, 7: 960 * time.Second, 8: 1000 * time.Second,
		1 << 40: 1000 * time.Second,
	} {
		for range 100 {
			if got := delay(attempt, 30*time.Second); got < want || got > want*5/4 {
				t.Errorf("attempt %d: %v, want %v and up to a quarter more", attempt, got, want)
			}
		}
	}
}
