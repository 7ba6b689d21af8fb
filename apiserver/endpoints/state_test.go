package endpoints

import (
	"fmt"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestCostOfPastListFollowsLimit: the estimated memory of a past list depends on its limit or, without a limit, on the
// number of its objects.
func TestCostOfPastListFollowsLimit(t *testing.T) {
	store := storagetest.Open(t)
	const prefix = storage.DefaultRoot + "/configmaps/"
	var revision int64
	for i := range 3 {
		var err error
		txn := storage.Txn{Key: fmt.Sprint(prefix, i), Value: []byte("{}")}
		if revision, err = store.Commit(t.Context(), txn); err != nil {
			t.Fatal(err)
		}
	}
	a := New(Config{Registry: &registry.Registry{Data: registry.Data{Store: store}}})
	for limit, want := range map[int64]int64{0: 3, 2: 2} {
		p := &past{a: a, prefix: prefix, revision: revision}
		if got, err := p.cost(t.Context(), "", limit); err != nil || got != want*4<<10 {
			t.Errorf("limit %d: %d bytes, want those of %d objects: %v", limit, got, want, err)
		}
	}
}
