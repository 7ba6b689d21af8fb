package garbage

import "testing"

func TestMade(t *testing.T) {
	Made() // without a handler it does nothing
	n := 0
	Handle(func() { n++ })
	Made()
	Made()
	Handle(nil)
	Made()
	if n != 2 {
		t.Errorf("handled %d times", n)
	}
}
