package registry

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

func TestVouchers(t *testing.T) {
	v := &OwnWrites{}
	builtin, custom := &resources.Resource{}, &resources.Resource{Custom: true}
	at := func(rev int64) *storage.Object { return &storage.Object{Revision: rev} }
	if v.Has(builtin, at(0)) || v.Has(builtin, at(7)) {
		t.Error("vouches for what nobody wrote")
	}
	v.Add(7)
	if !v.Has(builtin, at(7)) || v.Has(builtin, at(8)) || v.Has(custom, at(7)) {
		t.Error("vouches for others than the one")
	}
	v.Add(7 + int64(len(v.Last)))
	if v.Has(builtin, at(7)) {
		t.Error("vouches for two revisions with one place")
	}
}
