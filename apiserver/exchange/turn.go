package exchange

import (
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// TakeTurn records that the request has a turn.
func (w *Recorder) TakeTurn(t *turns.Turns[connections.Owner]) { w.turn = t }

// InTurn reports whether the request has a turn.
func (w *Recorder) InTurn() bool { return w.turn != nil }

// EndTurn ends the request's turn, if it has one.
func (w *Recorder) EndTurn() {
	if w != nil && w.turn != nil {
		w.turn.End(turns.Now)
		w.turn = nil
	}
}

// Close releases everything that the request holds.
func (w *Recorder) Close() {
	w.EndTurn()
	w.backlog.close()
}
