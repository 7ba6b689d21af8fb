package embedded

import (
	"fmt"
	"reflect"
	"time"

	"go.etcd.io/etcd/server/v3/etcdserver"
)

// idleTick is the time between two ticks of raft once its only member is the leader. No timeout matters then: the
// leader sends heartbeats to no other member, and is itself the quorum that it checks for.
const idleTick = time.Second

// slowDown makes raft tick every idleTick. The ticks that make the election short (tickMs) would wake the process a
// hundred times a second as long as it runs, for 1 to 2 % of a processor. etcd has one setting for both, so this
// changes the ticker that it has made (etcd server/etcdserver/raft.go: newRaftNode), which may be reset while others
// read its channel. Must not be called while the server stops: etcd stops the ticker.
func slowDown(s *etcdserver.EtcdServer) error {
	ticker := reflect.ValueOf(s).Elem().FieldByName("r").FieldByName("ticker")
	if !ticker.IsValid() || ticker.Type() != reflect.TypeFor[*time.Ticker]() || ticker.IsNil() {
		return fmt.Errorf("raft's ticker is not where this version of etcd should have it")
	}
	(*time.Ticker)(ticker.UnsafePointer()).Reset(idleTick)
	return nil
}
