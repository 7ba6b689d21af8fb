package apiserver

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

func TestVouchers(t *testing.T) {
	v := &vouchers{}
	builtin, custom := &resources.Resource{}, &resources.Resource{Custom: true}
	at := func(rev int64) *storage.Object { return &storage.Object{Revision: rev} }
	if v.has(builtin, at(0)) || v.has(builtin, at(7)) {
		t.Error("vouches for what nobody wrote")
	}
	v.add(7)
	if !v.has(builtin, at(7)) || v.has(builtin, at(8)) || v.has(custom, at(7)) {
		t.Error("vouches for others than the one")
	}
	v.add(7 + int64(len(v.last)))
	if v.has(builtin, at(7)) {
		t.Error("vouches for two revisions with one place")
	}
}
