package storage

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Get implements Store.
func (e *Etcd) Get(ctx context.Context, key string) (Record, error) {
	resp, err := e.read(ctx, key, 0)
	if err != nil {
		return Record{}, fmt.Errorf("reading %s: %w", key, err)
	}
	if len(resp.Kvs) == 0 {
		return Record{}, fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	return record(resp.Kvs[0]), nil
}

// List implements Store.
func (e *Etcd) List(ctx context.Context, r Range) (Page, error) {
	end := clientv3.GetPrefixRangeEnd(r.Prefix)
	if r.End != "" {
		end = min(end, r.End)
	}
	resp, err := e.read(ctx, max(r.Prefix, r.From), r.Revision, clientv3.WithRange(end), clientv3.WithLimit(r.Limit))
	if err != nil {
		return Page{}, fmt.Errorf("listing %s: %w", r.Prefix, err)
	}
	p := Page{Revision: r.Revision, More: resp.More, Remaining: resp.Count - int64(len(resp.Kvs))}
	if p.Revision == 0 {
		p.Revision = resp.Header.Revision
	}
	for _, kv := range resp.Kvs {
		p.Records = append(p.Records, record(kv))
	}
	return p, nil
}

// read reads at a revision, or at the newest if that is 0. For the newest the embedded server reads its applied state,
// without the round through raft that makes a read linearizable in a cluster: the only member has applied every write
// before it acknowledges it. A revision may be known from an event, which etcd sends before it has applied the write.
func (e *Etcd) read(ctx context.Context, key string, rev int64, o ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := e.beginRequest(ctx); err != nil {
		return nil, err
	}
	defer e.endRequest()
	if rev != 0 && rev < e.floor.Load() {
		return nil, ErrCompacted
	}
	if e.local != nil && rev == 0 {
		o = append(o, clientv3.WithSerializable())
	}
	resp, err := e.client.Get(ctx, key, append(o, clientv3.WithRev(rev))...)
	if err != nil {
		return nil, e.failure(ctx, err)
	}
	return resp, nil
}

func record(kv *mvccpb.KeyValue) Record {
	r := Record{Key: string(kv.Key), Value: kv.Value, ModRevision: kv.ModRevision}
	if r.Value == nil {
		r.Value = []byte{} // nil means removed
	}
	return r
}

// event returns the write that stored the record.
func (r Record) event() Event {
	return Event{Key: r.Key, Value: r.Value, Revision: r.ModRevision, Sealed: r.Sealed}
}
