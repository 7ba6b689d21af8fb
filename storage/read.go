package storage

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Get implements Store.
func (e *Etcd) Get(ctx context.Context, key string) (Record, error) {
	resp, err := e.rangeRequest(ctx, &pb.RangeRequest{Key: []byte(key)})
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
	q := &pb.RangeRequest{
		Key:      []byte(max(r.Prefix, r.From)),
		RangeEnd: []byte(end),
		Limit:    r.Limit,
		Revision: r.Revision,
	}
	resp, err := e.rangeRequest(ctx, q)
	if err != nil {
		return Page{}, fmt.Errorf("listing %s: %w", r.Prefix, err)
	}
	p := Page{Revision: r.Revision, More: resp.More, Remaining: resp.Count - int64(len(resp.Kvs))}
	if p.Revision == 0 {
		p.Revision = resp.Header.Revision
	}
	if len(resp.Kvs) > 0 {
		p.Records = make([]Record, len(resp.Kvs))
		for i, kv := range resp.Kvs {
			p.Records[i] = record(kv)
		}
	}
	return p, nil
}

// rangeRequest reads. The embedded server reads its applied state, without the round through raft that makes a read
// linearizable in a cluster: the only member has applied every write before it acknowledges it, so its state is up to
// date.
func (e *Etcd) rangeRequest(ctx context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	if err := e.beginRequest(ctx); err != nil {
		return nil, err
	}
	defer e.endRequest()
	if q.Revision != 0 && q.Revision < e.floor.Load() {
		return nil, ErrCompacted
	}
	q.Serializable = e.local != nil
	resp, err := e.rpc.Range(ctx, q)
	if err != nil {
		return nil, failure(ctx, err)
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

// event is the write that stored the record.
func (r Record) event() Event {
	return Event{Key: r.Key, Value: r.Value, Revision: r.ModRevision, Sealed: r.Sealed}
}
