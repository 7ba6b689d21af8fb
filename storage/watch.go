package storage

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc/metadata"
)

// watch is an etcd watch of all keys below the root that fills an inbox.
type watch struct {
	// progress requests the progress of the watch, which etcd reports if the watch is not behind.
	progress func()
	stop     context.CancelFunc
	pump     sync.WaitGroup
	// end is called when the pump has ended.
	end func()
}

// close ends the watch and waits for its goroutine.
func (w *watch) close() {
	w.stop()
	w.pump.Wait()
	w.end()
}

// openWatch begins after the inbox's revision; if that is 0, at a revision no later than the newest when it returns.
func (e *Etcd) openWatch(ctx context.Context, in *inbox) (*watch, error) {
	if e.local != nil {
		return e.watchLocal(ctx, in)
	}
	// The answer shows whether the cluster was set back.
	now, err := e.readRevision(ctx)
	if err != nil {
		return nil, err
	}
	after := in.revision
	if after == 0 {
		after = now
	}
	return e.watchRemote(ctx, in, after), nil
}

// watchLocal watches the embedded database directly. Through etcd's client each event would pass five goroutines, and
// an unbounded buffer.
func (e *Etcd) watchLocal(ctx context.Context, in *inbox) (*watch, error) {
	if err := e.beginRequest(ctx); err != nil {
		return nil, err
	}
	defer e.endRequest()
	stream := e.local.Etcd().Watchable().NewWatchStream()
	prefix := e.root + "/"
	end := []byte(clientv3.GetPrefixRangeEnd(prefix))
	from := in.revision
	if from > 0 { // 0 means from now on
		from++
	}
	id, err := stream.Watch(ctx, 0, []byte(prefix), end, from)
	if err != nil {
		stream.Close()
		return nil, fmt.Errorf("watching %s: %w: %w", prefix, ErrUnavailable, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{progress: func() { stream.RequestProgress(id) }, stop: cancel, end: stream.Close}
	w.pump.Go(func() { pumpLocal(ctx, stream, in) })
	return w, nil
}

func pumpLocal(ctx context.Context, stream mvcc.WatchStream, in *inbox) {
	var events []Event
	for {
		select {
		case r, ok := <-stream.Chan():
			switch {
			case !ok:
				in.fail(fmt.Errorf("%w: watch closed", ErrUnavailable))
				return
			case r.CompactRevision != 0:
				in.fail(ErrCompacted)
				return
			}
			mvcc.ReportEventReceived(len(r.Events))
			events = events[:0]
			for _, ev := range r.Events {
				events = append(events, event(ev.Kv, ev.Type))
			}
			in.put(ctx, events, complete(events, r.Revision))
		case <-ctx.Done():
			return
		}
	}
}

// streams numbers the watches of external clusters.
var streams atomic.Int64

// watchRemote watches through etcd's client, which reconnects by itself. Each watch has a stream of its own, selected
// by its metadata, because progress is reported for whole streams.
func (e *Etcd) watchRemote(ctx context.Context, in *inbox, after int64) *watch {
	ctx, cancel := context.WithCancel(ctx)
	// A member that has lost its leader must end the watch; otherwise the watch would get no events.
	ctx = clientv3.WithRequireLeader(ctx)
	ctx = metadata.AppendToOutgoingContext(ctx, "kubecascade-watch", strconv.FormatInt(streams.Add(1), 10))
	reports := e.external.client.Watch(ctx, e.root+"/", clientv3.WithPrefix(), clientv3.WithRev(after+1),
		clientv3.WithFragment(), clientv3.WithProgressNotify())
	w := &watch{progress: func() { _ = e.external.client.RequestProgress(ctx) }, stop: cancel, end: func() {}}
	w.pump.Go(func() { e.pumpRemote(ctx, reports, in) })
	return w
}

func (e *Etcd) pumpRemote(ctx context.Context, reports clientv3.WatchChan, in *inbox) {
	var events []Event
	for r := range reports {
		if err := r.Err(); err != nil {
			if r.CompactRevision != 0 || err == rpctypes.ErrCompacted {
				err = ErrCompacted
			} else {
				err = fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
			in.fail(err)
			return
		}
		if r.Created {
			continue
		}
		events = events[:0]
		for _, ev := range r.Events {
			events = append(events, event(ev.Kv, ev.Type))
		}
		rev := complete(events, r.Header.Revision)
		e.external.learn(rev)
		in.put(ctx, events, rev)
	}
	in.fail(fmt.Errorf("%w: watch closed", ErrUnavailable))
}

// complete returns up to which revision a report is complete. One without events reports progress. One with events may
// name a later revision than its events have, if the watch is catching up.
func complete(events []Event, reported int64) int64 {
	if n := len(events); n > 0 {
		return events[n-1].Revision
	}
	return reported
}

func event(kv *mvccpb.KeyValue, t mvccpb.Event_EventType) Event {
	if t == mvccpb.DELETE {
		return Event{Key: string(kv.Key), Revision: kv.ModRevision}
	}
	return record(kv).event()
}
