package gc

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// backoff is the back-off of one object, as upstream's (D-38).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// delay returns the pause after the given number of failures. took is the duration of the last failed request. delay
// adds up to a quarter to the back-off, so that requests that failed together are not repeated together. From the
// second failure on the pause is at least took, doubled with each further failure: a request that times out is in
// flight for all of this time, and the number of requests in flight is limited.
func delay(attempt int, took time.Duration) time.Duration {
	d := backoff.After(attempt)
	if attempt > 1 && took > 0 {
		d = max(d, reconcile.Backoff{Min: took, Max: backoff.Max}.After(attempt-1))
	}
	return d + rand.N(d/4)
}

// queue holds retries until they are due. clear empties and initializes it.
type queue struct {
	order *reconcile.Queue[graph.Ticket]
	// retries has the retries by their tickets, for reports.
	retries map[graph.Ticket]graph.Retry
	timer   *time.Timer
}

func (q *queue) clear() {
	q.order, q.retries = reconcile.NewQueue(cmp.Compare[graph.Ticket]), map[graph.Ticket]graph.Retry{}
}

func (q *queue) add(a graph.Retry, at time.Time) {
	q.order.Put(a.Ticket, at)
	q.retries[a.Ticket] = a
}

func (q *queue) remove(t graph.Ticket) {
	q.order.Remove(t)
	delete(q.retries, t)
}

// due removes and returns the tickets that are due, ordered by time.
func (q *queue) due(now time.Time) (tickets []graph.Ticket) {
	for t, ok := q.order.Due(now); ok; t, ok = q.order.Due(now) {
		q.remove(t)
		tickets = append(tickets, t)
	}
	return tickets
}

// wait returns a channel that receives when the first ticket is due; nil if the queue is empty. The channel is valid
// until the next call.
func (q *queue) wait() <-chan time.Time {
	d, ok := q.order.Wait(time.Now())
	switch {
	case !ok:
		return nil
	case q.timer == nil:
		q.timer = time.NewTimer(d)
	default:
		q.timer.Reset(d)
	}
	return q.timer.C
}
