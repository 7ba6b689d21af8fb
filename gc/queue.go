package gc

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// The back-off of one object is upstream's (D-38): 5 ms, doubled with each failure, up to 1000 s.
const (
	firstDelay = 5 * time.Millisecond
	maxDelay   = 1000 * time.Second
)

// delay returns the pause after the given number of failures. took is the duration of the last failed request. delay
// adds up to a quarter to the back-off, so that requests that failed together are not repeated together. A request that
// times out has kept a worker and the API server busy all the time. So from the second failure on the pause is at least
// took, doubled with each further failure: objects whose requests always time out leave the workers to others.
func delay(attempt int, took time.Duration) time.Duration {
	d := maxDelay
	if n := attempt - 1; n < 18 { // 5 ms << 18 is more than the maximum
		d = firstDelay << max(n, 0)
		if n > 0 {
			d = max(d, min(took, maxDelay)<<(n-1))
		}
		d = min(d, maxDelay)
	}
	return d + rand.N(d/4)
}

// queue holds the tickets of retries until they are due. The zero value is empty.
type queue struct {
	heap    waiterHeap
	tickets map[graph.Ticket]*waiter
	timer   *time.Timer
}

type waiter struct {
	ticket graph.Ticket
	// object and attempt are for reports of what the collector waits for.
	object  graph.Ref
	attempt int
	at      time.Time
	index   int
}

func (q *queue) add(a graph.Retry, at time.Time) {
	t := a.Ticket
	w := &waiter{ticket: t, at: at, object: a.Object, attempt: a.Attempt}
	if q.tickets == nil {
		q.tickets = map[graph.Ticket]*waiter{}
	}
	q.tickets[t] = w
	heap.Push(&q.heap, w)
}

func (q *queue) remove(t graph.Ticket) {
	if w := q.tickets[t]; w != nil {
		delete(q.tickets, t)
		heap.Remove(&q.heap, w.index)
	}
}

func (q *queue) clear() { q.heap, q.tickets = nil, nil }

// due removes and returns the tickets that are due, ordered by time.
func (q *queue) due(now time.Time) []graph.Ticket {
	var tickets []graph.Ticket
	for len(q.heap) > 0 && !q.heap[0].at.After(now) {
		w := heap.Pop(&q.heap).(*waiter)
		delete(q.tickets, w.ticket)
		tickets = append(tickets, w.ticket)
	}
	return tickets
}

// wait returns a channel that receives when the first ticket is due; nil if the queue is empty. The channel is valid
// until the next call.
func (q *queue) wait() <-chan time.Time {
	if len(q.heap) == 0 {
		return nil
	}
	d := time.Until(q.heap[0].at)
	if q.timer == nil {
		q.timer = time.NewTimer(d)
	} else {
		q.timer.Reset(d)
	}
	return q.timer.C
}

// waiterHeap is a heap of waiters, ordered by time and then by ticket.
type waiterHeap []*waiter

func (h waiterHeap) Len() int { return len(h) }

func (h waiterHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].ticket < h[j].ticket
	}
	return h[i].at.Before(h[j].at)
}

func (h waiterHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push and Pop implement heap.Interface.
func (h *waiterHeap) Push(x any) {
	w := x.(*waiter)
	w.index = len(*h)
	*h = append(*h, w)
}

func (h *waiterHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return w
}
