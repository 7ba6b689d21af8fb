package inflight

import (
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// HoldPlaces takes all turns to begin until release. waiting returns how many requests without a connection wait.
func (l *Limits) HoldPlaces() (release func(), waiting func() int) {
	return hold(l.short), func() int { return l.short.Waiting(turns.Now, connections.Owner{}) }
}
