package inflight

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Memory is what one request holds of the server's memory. Only the request's goroutine uses it.
type Memory struct {
	limits *Limits
	holder string
	master bool
	lease  *budget.Lease
	// part says which part of the memory the request needs while it waits for webhooks: one n-th; 0 if it never does.
	part int64
}

var _ exchange.Memory = (*Memory)(nil)

// MemoryOf returns the account of a user's request, which holds nothing yet.
func (l *Limits) MemoryOf(u authentication.User) Memory {
	return Memory{limits: l, holder: pool.HolderOf(u.Name), master: slices.Contains(u.Groups, authentication.GroupMasters)}
}

// Held is how many bytes are held.
func (m *Memory) Held() int64 { return m.lease.Bytes() }

// Release gives back what is held.
func (m *Memory) Release() { m.lease.Release() }

// Shrink gives back what is held beyond so many bytes.
func (m *Memory) Shrink(bytes int64) { m.lease.Shrink(bytes) }

// MayWait says, before memory is reserved, that the request may wait for webhooks, and needs an n-th of its memory
// meanwhile; n is at most 4. If it is called again, the larger part counts.
func (m *Memory) MayWait(n int64) {
	if m.part == 0 || n < m.part {
		m.part = n
	}
}

// Park implements exchange.Memory.
func (m *Memory) Park() { m.lease.Park() }

// Resume implements exchange.Memory.
func (m *Memory) Resume(ctx context.Context) error { return m.lease.Resume(ctx) }

// Try holds so many bytes instead of what is held, if there are that many now. Else it holds nothing, and returns
// false.
func (m *Memory) Try(bytes int64) bool {
	if bytes <= m.lease.Bytes() {
		return true
	}
	m.lease.Release()
	m.lease = m.limits.memory.Try(m.claim(bytes, 0))
	return m.lease != nil
}

// Reserve holds so many bytes instead of what is held. It waits until there are that many, as long as for a seat; the
// request must hold none meanwhile. most is what it may have, 0 for any number. Errors: 413 if there is never so much,
// 429 if it takes too long.
func (m *Memory) Reserve(r *http.Request, bytes, most int64) error {
	if bytes <= 0 {
		return nil
	}
	m.lease.Release()
	claim := m.claim(bytes, most)
	if m.lease = m.limits.memory.Try(claim); m.lease != nil {
		return nil
	}
	exchange.Of(r).EndTurn()
	ctx, cancel := context.WithTimeoutCause(r.Context(), m.limits.patience, status.ErrNoMemory)
	defer cancel()
	var err error
	m.lease, err = m.limits.memory.Acquire(ctx, claim)
	switch {
	case errors.Is(err, budget.ErrTooLarge):
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	case errors.Is(err, budget.ErrFull):
		return status.ErrNoMemory
	}
	return err
}

func (m *Memory) claim(bytes, most int64) budget.Claim {
	c := budget.Claim{Holder: m.holder, Bytes: bytes, Most: most, Master: m.master}
	if m.part > 0 {
		c.Parked = m.limits.memory.PartOf(bytes, m.part)
	}
	return c
}
