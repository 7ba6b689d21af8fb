package embedded

import (
	"testing"

	"go.etcd.io/etcd/server/v3/etcdserver"
)

// TestSlowDown calls slowDown for a server of etcd that was never started, and so has no ticker. That the field exists
// in the etcd of go.mod is tested by every start.
func TestSlowDown(t *testing.T) {
	if err := slowDown(&etcdserver.EtcdServer{}); err == nil {
		t.Error("no error without a ticker")
	}
}
