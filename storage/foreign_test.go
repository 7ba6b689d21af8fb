package storage

import (
	"context"
	"errors"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
)

// answering is a member that has one answer to every read.
type answering struct {
	pb.KVClient
	revision int64
	kv       *mvccpb.KeyValue
}

func (a answering) Range(context.Context, *pb.RangeRequest, ...grpc.CallOption) (*pb.RangeResponse, error) {
	header := &pb.ResponseHeader{ClusterId: 7, Revision: a.revision}
	return &pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{a.kv}}, nil
}

// TestForeignRevision: a member that is rejected for its history, with a greater revision, doesn't make the others
// look as if they were set back.
func TestForeignRevision(t *testing.T) {
	h := newHistory(func(error) {})
	h.learn(100)
	h.saw(Event{Key: "/registry/a", Value: []byte("x"), Revision: 100})
	foreign := answering{revision: 1000, kv: &mvccpb.KeyValue{Key: []byte("/registry/a"), ModRevision: 90}}
	good := answering{revision: 100, kv: &mvccpb.KeyValue{Key: []byte("/registry/a"), ModRevision: 100}}
	if _, err := h.check(t.Context(), foreign, "/registry"); !errors.Is(err, ErrSetBack) {
		t.Errorf("another history: %v", err)
	}
	if _, err := h.check(t.Context(), good, "/registry"); err != nil {
		t.Errorf("the known history: %v", err)
	}
}
