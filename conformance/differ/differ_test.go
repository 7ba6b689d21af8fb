package differ_test

import (
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/conformance/differ"
	"github.com/kubecascade/kubecascade/conformance/servertest"
)

func TestSame(t *testing.T) {
	c := differ.Config{Reference: servertest.Start(t), Candidate: servertest.Start(t), Client: servertest.Client(t)}
	for seed := range uint64(3) {
		c.Prefix = string('a'+rune(seed)) + "-"
		f, err := differ.Find(t.Context(), c, seed+1, 300)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Fatalf("seed %d: %s\n%s", seed+1, f.Difference, f.Script())
		}
	}
}

// TestNoCollector: what a server without a collector doesn't do is found, and told in few operations.
func TestNoCollector(t *testing.T) {
	c := differ.Config{Reference: servertest.Start(t), Candidate: apiservertest.Start(t, nil).URL, Client: servertest.Client(t),
		Prefix: "a-", Settle: 300 * time.Millisecond}
	f, err := differ.Find(t.Context(), c, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		t.Fatal("no difference was found")
	}
	if len(f.Ops) > 3 {
		t.Errorf("reduced to %d operations only: %v", len(f.Ops), f.Ops)
	}
	t.Logf("%s\n%s", f.Difference, f.Script())
}
