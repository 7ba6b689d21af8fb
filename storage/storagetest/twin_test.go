package storagetest

import (
	"testing"
)

func TestTwinRestart(t *testing.T) {
	w := NewTwin()
	l := Watch(t, w)
	l.WaitForReset(1)
	rev := put(t, w, key("a"), 0, "x")
	w.Restart()
	l.WaitForReset(2)
	l.WaitFor(rev)
	if state := l.State(); len(state) != 1 || state[0].ModRevision != rev {
		t.Errorf("state %v", state)
	}
}
