package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/storage"
)

const (
	// mostCheckpoints is the maximum number of checkpoints, and mostName that of the bytes of a name.
	mostCheckpoints, mostName = 16, 253
	// defaultCheckpoint is the name of a checkpoint that is made without one.
	defaultCheckpoint = "default"
)

// Checkpoint is the result of a checkpoint or a rollback.
type Checkpoint struct {
	// Name is that of the checkpoint.
	Name string `json:"name"`
	// Revision is the newest one of the state: lists that begin after the call have it or a newer one.
	Revision int64 `json:"revision"`
	// Changed is how many objects a rollback has written.
	Changed int `json:"changed,omitempty"`
}

// CheckpointError says why there is no checkpoint, or why it can't be gone back to.
type CheckpointError struct {
	// Kind is what is wrong.
	Kind CheckpointProblem
	why  string
}

// CheckpointProblem is what is wrong with a request for a checkpoint or a rollback.
type CheckpointProblem uint8

// The problems: the server is not one that can go back, the name is invalid, it is unknown, there are too many.
const (
	NotPossible CheckpointProblem = iota
	InvalidName
	UnknownName
	TooMany
)

// Error describes what is wrong.
func (e *CheckpointError) Error() string { return e.why }

// checkpoint is a state to go back to.
type checkpoint struct {
	*backup.State
	// ahead is how far the clock was put forward.
	ahead time.Duration
	// made is the number of the checkpoint: a later one has a greater number.
	made int
}

// checkpoints are the states to go back to. The holder of turn may use the other fields.
type checkpoints struct {
	// turn is full while a checkpoint is made, a rollback is carried out, and after the end of the server.
	turn chan struct{}
	all  map[string]*checkpoint
	made int
}

// take waits for the turn, which the caller then has to give back.
func (c *checkpoints) take(ctx context.Context, life context.Context) error {
	select {
	case c.turn <- struct{}{}:
		if life.Err() != nil {
			<-c.turn
			return errStopping
		}
		return nil
	case <-life.Done():
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// find returns the checkpoint with the name, without one the checkpoint that was made last.
func (c *checkpoints) find(name string) (string, *checkpoint, error) {
	if name == "" {
		for n, p := range c.all {
			if last := c.all[name]; last == nil || p.made > last.made {
				name = n
			}
		}
	}
	if p := c.all[name]; p != nil {
		return name, p, nil
	}
	if len(c.all) == 0 {
		return "", nil, &CheckpointError{UnknownName, "there is no checkpoint yet"}
	}
	return "", nil, &CheckpointError{UnknownName, fmt.Sprintf("there is no checkpoint %q, but there are: %s", name,
		strings.Join(slices.Sorted(maps.Keys(c.all)), ", "))}
}

// canRollBack returns an error if the server has data that a rollback must not change, or that does not change.
func (c *Config) canRollBack() error {
	why := ""
	switch {
	case c.external():
		why = "with --etcd-servers others may use the data, too"
	case c.readOnly():
		why = "a server that is read-only does not change"
	case c.Dir != "":
		why = "with --data-dir the data outlives the server"
	default:
		return nil
	}
	return &CheckpointError{NotPossible, "checkpoints and rollbacks are for servers with temporary data: " + why}
}

// Checkpoint remembers the state with every write that was acknowledged before the call, under a name, in place of an
// earlier checkpoint with that name. An empty name is "default". Errors: *CheckpointError, ctx's.
func (s *Server) Checkpoint(ctx context.Context, name string) (*Checkpoint, error) {
	return s.system.checkpoint(ctx, name)
}

// Rollback returns to the state of a checkpoint; an empty name is the one that was made last. Errors: *CheckpointError,
// ctx's, if nothing has been done, and others after which the server ends.
func (s *Server) Rollback(ctx context.Context, name string) (*Checkpoint, error) {
	return s.system.rollback(ctx, name)
}

// checkpoint is Server.Checkpoint.
func (s *system) checkpoint(ctx context.Context, name string) (*Checkpoint, error) {
	if err := s.c.canRollBack(); err != nil {
		return nil, err
	}
	if name == "" {
		name = defaultCheckpoint
	}
	if len(name) > mostName || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, &CheckpointError{InvalidName, fmt.Sprintf(
			"the name of a checkpoint has at most %d bytes and no control characters", mostName)}
	}
	c := &s.checkpoints
	if err := c.take(ctx, s.life); err != nil {
		return nil, err
	}
	defer func() { <-c.turn }()
	if c.all[name] == nil && len(c.all) >= mostCheckpoints {
		return nil, &CheckpointError{TooMany, fmt.Sprintf(
			"there are %d checkpoints already; use the name of one of them for the new one: %s", len(c.all),
			strings.Join(slices.Sorted(maps.Keys(c.all)), ", "))}
	}
	state, err := s.data.restorer.State(ctx)
	if err != nil {
		return nil, err
	}
	c.made++
	c.all[name] = &checkpoint{State: state, ahead: s.data.clock.Ahead(), made: c.made}
	return &Checkpoint{Name: name, Revision: state.Revision}, nil
}

// rollback is Server.Rollback. The controllers end before anything is written, and start again afterwards: what they
// know, and what they are about to do, is of a state that no longer exists.
func (s *system) rollback(ctx context.Context, name string) (*Checkpoint, error) {
	if err := s.c.canRollBack(); err != nil {
		return nil, err
	}
	c := &s.checkpoints
	if err := c.take(ctx, s.life); err != nil {
		return nil, err
	}
	defer func() { <-c.turn }()
	name, p, err := c.find(name)
	if err != nil {
		return nil, err
	}
	if !s.current.end(s.life) {
		return nil, errStopping
	}
	defer s.startControllers()
	changed, err := s.data.restorer.Restore(p.State, func() { s.restored(p) })
	if err != nil && !errors.Is(err, storage.ErrNoSpace) { // else nothing was written
		err = fmt.Errorf("rolling back to checkpoint %q: %w", name, err)
		s.fail(err)
	}
	if err != nil {
		return nil, err
	}
	s.log.Info("rolled back", "checkpoint", name, "revision", p.Revision, "changed", changed)
	return &Checkpoint{Name: name, Revision: p.Revision, Changed: changed}, nil
}

// restored tells what is neither stored nor derived from the cache that the state is that of the checkpoint.
func (s *system) restored(p *checkpoint) {
	s.data.clock.Restore(p.ahead)
	s.trail.Reset(s.data.clock.Now())
}
