package endpoints

import (
	"cmp"
	"math/rand/v2"
	"net/http/httptest"
	"testing"
)

// TestInitialBuffersReleased: the flush after the initial events releases the buffer that has grown for them, even if
// it has nothing to send. Later flushes keep the buffer for the next events.
func TestInitialBuffersReleased(t *testing.T) {
	noise := make([]byte, watchChunk/4)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for _, frames := range []int{1, 3, 4, 9} { // four are sent before the flush
		for _, compressed := range []bool{false, true} {
			c := &chunks{to: httptest.NewRecorder(), compressed: compressed}
			for range frames {
				if err := c.write(noise); err != nil {
					t.Fatal(err)
				}
			}
			if cap(c.buf) < len(noise) {
				t.Fatalf("%d frames, compressed %v: the buffer has %d bytes", frames, compressed, cap(c.buf))
			}
			if err := c.flush(); err != nil {
				t.Fatal(err)
			}
			if cap(c.buf) != 0 {
				t.Errorf("%d frames, compressed %v: a buffer of %d bytes is held", frames, compressed, cap(c.buf))
			}
			if err := cmp.Or(c.write(noise), c.flush()); err != nil {
				t.Fatal(err)
			}
			if cap(c.buf) < len(noise) {
				t.Errorf("compressed %v: a later flush leaves a buffer of %d bytes", compressed, cap(c.buf))
			}
		}
	}
}
