package server

import "context"

// Settle waits until the controllers have nothing to do: they have processed the revision that the store had at the
// call, they carry nothing out and have nothing to carry out within reconcile.Soon, and nothing was written meanwhile.
// Of several servers with one etcd it waits for the controllers of this one.
func (s *Server) Settle(ctx context.Context) error {
	for {
		before, err := s.data.store.Revision(ctx)
		if err != nil {
			return err
		}
		if err := s.data.cache.Wait(ctx, before); err != nil {
			return err
		}
		if err := s.system.idle(ctx, before); err != nil {
			return err
		}
		after, err := s.data.store.Revision(ctx)
		if err != nil {
			return err
		}
		if after == before {
			return nil
		}
	}
}

// idle waits for the collector and the loops in turn. Each may have got work from another one since, which the revision
// shows.
func (s *system) idle(ctx context.Context, revision int64) error {
	loops := s.own
	if s.leading.Load() {
		loops += s.loops
	}
	if err := s.monitor.Await(ctx, loops); err != nil {
		return err
	}
	if s.garbage != nil && s.leading.Load() {
		if err := s.garbage.idle(ctx, revision); err != nil {
			return err
		}
	}
	return s.monitor.Idle(ctx)
}
