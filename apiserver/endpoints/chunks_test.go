package endpoints

import (
	"math/rand/v2"
	"net/http/httptest"
	"testing"
)

// TestLongFragmentFlushed: a long fragment is not buffered, so nothing flushes it later.
func TestLongFragmentFlushed(t *testing.T) {
	noise := make([]byte, 2*watchChunk)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	f, err := compress(noise)
	if err != nil {
		t.Fatal(err)
	}
	to := httptest.NewRecorder()
	c := &chunks{to: to, begun: true}
	c.compressAll()
	if err := c.writeFragment(f); err != nil {
		t.Fatal(err)
	}
	if !to.Flushed || int64(to.Body.Len()) < f.Memory() {
		t.Errorf("%d bytes of %d were sent, flushed: %v", to.Body.Len(), f.Memory(), to.Flushed)
	}
}
