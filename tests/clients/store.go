package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// store is an etcd that is configured as the server's, in the process of the plain handler. Each write of a request is
// one transaction on one key, which has been synced to the disk when the response is sent.
type store struct {
	etcd *embedded.Server
	kv   pb.KVServer
	// numbers are those of the keys, by collection: a recorded response doesn't tell the name of an object.
	numbers sync.Map
}

// numbers count the objects of a collection that were created and deleted.
type numbers struct{ created, deleted atomic.Int64 }

// openStore starts an etcd with its data in an empty folder.
func openStore(dir string) (*store, error) {
	s, err := embedded.Start(context.Background(), embedded.Config{
		DataDir: dir, QuotaBytes: 2 << 30, Logger: slog.New(slog.DiscardHandler),
		Fatal: func(err error) { panic(fmt.Sprintf("etcd of the plain handler: %v", err)) },
	})
	if err != nil {
		return nil, err
	}
	return &store{etcd: s, kv: v3rpc.NewKVServer(s.Etcd())}, nil
}

// close stops etcd.
func (s *store) close() error { return s.etcd.Stop() }

// write makes a write like that of a server for the request: one that has a condition on the revision of the key. That
// of an update always holds, as the object was not read, and may not exist. It stores value for all methods but DELETE.
func (s *store) write(r *http.Request, value []byte) error {
	prefix := r.URL.Path + "/"
	if isSingle(r) {
		prefix, _ = path.Split(r.URL.Path)
	} else if r.Method == http.MethodDelete {
		return nil // of a collection: it is not measured
	}
	v, _ := s.numbers.LoadOrStore(prefix, &numbers{})
	n := v.(*numbers)
	txn := &pb.TxnRequest{}
	switch r.Method {
	case http.MethodPost:
		key := fmt.Appendf(nil, "%sn%09d", prefix, n.created.Add(1))
		txn.Compare = []*pb.Compare{{Key: key, Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{}}}
		txn.Success = []*pb.RequestOp{put(key, value)}
	case http.MethodPut, http.MethodPatch:
		key := []byte(r.URL.Path)
		txn.Compare = []*pb.Compare{{Key: key, Target: pb.Compare_MOD, Result: pb.Compare_GREATER,
			TargetUnion: &pb.Compare_ModRevision{ModRevision: -1}}}
		txn.Success = []*pb.RequestOp{put(key, value)}
	case http.MethodDelete:
		key := fmt.Appendf(nil, "%sn%09d", prefix, n.deleted.Add(1))
		txn.Compare = []*pb.Compare{{Key: key, Target: pb.Compare_MOD, Result: pb.Compare_GREATER,
			TargetUnion: &pb.Compare_ModRevision{}}}
		txn.Success = []*pb.RequestOp{{Request: &pb.RequestOp_RequestDeleteRange{
			RequestDeleteRange: &pb.DeleteRangeRequest{Key: key}}}}
	default:
		return nil
	}
	res, err := s.kv.Txn(r.Context(), txn)
	if err == nil && !res.Succeeded {
		err = fmt.Errorf("%s %s: the condition of the write does not hold", r.Method, r.URL.Path)
	}
	return err
}

func put(key, value []byte) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: key, Value: value}}}
}
