package storage

import (
	"context"
	"fmt"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc/metadata"
)

const (
	// reportsAhead is the number of reports of a watch that may wait for its reader: etcd's own buffer of 128 is too
	// small in a busy moment. An embedded etcd reads further events from its database, 1,000 revisions a report.
	reportsAhead = 1 << 12
	// mostEvents limits a batch: with this number of events it takes no further report.
	mostEvents = 1 << 14
)

// watch is an etcd watch of all keys below the root.
type watch struct {
	// reports has the reports of the watch; it is closed when the watch has ended.
	reports chan clientv3.WatchResponse
	// progress requests the progress of the watch, which etcd reports if the watch is not behind.
	progress func()
	stop     context.CancelFunc
	pump     sync.WaitGroup
}

// close ends the watch and waits for its goroutine.
func (w *watch) close() {
	w.stop()
	w.pump.Wait()
}

// openWatch starts a watch of the events after the revision.
func (e *Etcd) openWatch(ctx context.Context, after int64) (*watch, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{reports: make(chan clientv3.WatchResponse, reportsAhead), stop: cancel}
	if e.local == nil {
		e.watchRemote(ctx, w, after)
		return w, nil
	}
	if err := e.watchLocal(ctx, w, after); err != nil {
		cancel()
		return nil, fmt.Errorf("watching %s: %w: %w", e.root, ErrUnavailable, err)
	}
	return w, nil
}

// watchLocal watches the embedded database directly. Through etcd's client each event would pass four more goroutines,
// which would take a quarter more processor time in a cascade.
func (e *Etcd) watchLocal(ctx context.Context, w *watch, after int64) error {
	if err := e.beginRequest(ctx); err != nil {
		return err
	}
	defer e.endRequest()
	stream := e.local.Etcd().Watchable().NewWatchStream()
	prefix := e.root + "/"
	id, err := stream.Watch(ctx, 0, []byte(prefix), []byte(clientv3.GetPrefixRangeEnd(prefix)), after+1)
	if err != nil {
		stream.Close()
		return err
	}
	w.progress = func() { stream.RequestProgress(id) }
	w.pump.Go(func() {
		defer stream.Close()
		pump(ctx, w.reports, stream.Chan(), func(r mvcc.WatchResponse) clientv3.WatchResponse {
			mvcc.ReportEventReceived(len(r.Events))
			events := make([]*clientv3.Event, len(r.Events))
			for i, ev := range r.Events {
				events[i] = (*clientv3.Event)(ev)
			}
			header := &pb.ResponseHeader{Revision: r.Revision}
			return clientv3.WatchResponse{Header: header, Events: events, CompactRevision: r.CompactRevision}
		})
	})
	return nil
}

// watchRemote watches through etcd's client, which reconnects by itself. Each watch has a stream of its own, selected
// by its metadata, because progress is reported for whole streams.
func (e *Etcd) watchRemote(ctx context.Context, w *watch, after int64) {
	// A member that has lost its leader must end the watch; otherwise the watch would get no events.
	ctx = clientv3.WithRequireLeader(ctx)
	ctx = metadata.AppendToOutgoingContext(ctx, "kubecascade-watch", fmt.Sprintf("%p", w))
	in := e.client.Watch(ctx, e.root+"/", clientv3.WithPrefix(), clientv3.WithRev(after+1),
		clientv3.WithFragment(), clientv3.WithProgressNotify())
	w.progress = func() { _ = e.client.RequestProgress(ctx) } // if it fails, the watch ends
	w.pump.Go(func() {
		pump(ctx, w.reports, in, func(r clientv3.WatchResponse) clientv3.WatchResponse { return r })
	})
}

// pump passes the reports of etcd on, until they end or ctx is done.
func pump[R, T any](ctx context.Context, to chan<- T, from <-chan R, as func(R) T) {
	defer close(to)
	for {
		select {
		case r, ok := <-from:
			if !ok {
				return
			}
			select {
			case to <- as(r):
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// take returns the events after the revision, from the first report and from reports that have already arrived, up to
// an error. All events of a revision are in one report. A watch that etcd's client has restarted may repeat reports.
func (w *watch) take(first clientv3.WatchResponse, open bool, after int64) (b Batch, err error) {
	b.Revision = after
	for r := first; ; r, open = <-w.reports {
		switch err := r.Err(); {
		case !open:
			return b, fmt.Errorf("%w: watch closed", ErrUnavailable)
		case r.CompactRevision != 0 || err == rpctypes.ErrCompacted:
			return b, ErrCompacted
		case err != nil:
			return b, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		seen, complete := b.Revision, r.Header.Revision
		for _, ev := range r.Events {
			// A report with events may name a later revision than theirs, if the watch is catching up.
			if complete = ev.Kv.ModRevision; complete > seen {
				b.Events = append(b.Events, event(ev))
			}
		}
		b.Revision = max(b.Revision, complete)
		if len(w.reports) == 0 || len(b.Events) >= mostEvents {
			return b, nil
		}
	}
}

func event(ev *clientv3.Event) Event {
	if ev.Type == mvccpb.DELETE {
		return Event{Key: string(ev.Kv.Key), Revision: ev.Kv.ModRevision}
	}
	return record(ev.Kv).event()
}
