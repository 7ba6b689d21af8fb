package endpoints

import (
	"math/rand/v2"
	"net/http/httptest"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/gzipped"
)

// TestLongFragmentFlushed: a long fragment is not buffered, so nothing flushes it later.
func TestLongFragmentFlushed(t *testing.T) {
	noise := make([]byte, 2*watchChunk)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	f, err := compress(gzipped.Far, noise)
	if err != nil {
		t.Fatal(err)
	}
	to := httptest.NewRecorder()
	c := &chunks{to: to, begun: true}
	c.compressAll(gzipped.Far)
	if err := c.writeFragment(f); err != nil {
		t.Fatal(err)
	}
	if !to.Flushed || int64(to.Body.Len()) < f.Memory() {
		t.Errorf("%d bytes of %d were sent, flushed: %v", to.Body.Len(), f.Memory(), to.Flushed)
	}
}

// TestInitialBuffersReleased: after the flush that ends the initial events, nothing holds the buffers that have grown
// for them, whether the flush sends something or not. Later flushes keep the buffers for the next events.
func TestInitialBuffersReleased(t *testing.T) {
	noise := make([]byte, watchChunk/4)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for _, frames := range []int{1, 3, 4, 9} { // four are sent before the flush
		for _, compressed := range []bool{false, true} {
			c := &chunks{to: httptest.NewRecorder()}
			write := c.write
			if compressed {
				c.compressAll(gzipped.Far)
				write = func(frame []byte) error { // as initial events are written
					f, err := compress(gzipped.Far, frame)
					if err != nil {
						return err
					}
					return c.writeFragment(f)
				}
			}
			for range frames {
				if err := write(noise); err != nil {
					t.Fatal(err)
				}
			}
			if grown := cap(c.buf) + cap(c.packed.buf); grown < len(noise) {
				t.Fatalf("%d frames, compressed %v: the buffers have %d bytes", frames, compressed, grown)
			}
			if err := c.flush(); err != nil {
				t.Fatal(err)
			}
			if cap(c.buf) != 0 || cap(c.packed.buf) != 0 {
				t.Errorf(
					"%d frames, compressed %v: buffers of %d and %d bytes are held", frames, compressed, cap(c.buf),
					cap(c.packed.buf),
				)
			}
			if err := c.write(noise); err != nil {
				t.Fatal(err)
			}
			if err := c.flush(); err != nil {
				t.Fatal(err)
			}
			if cap(c.buf) < len(noise) {
				t.Errorf("compressed %v: a later flush leaves a buffer of %d bytes", compressed, cap(c.buf))
			}
		}
	}
}
