package garbage

import "testing"

func TestMade(t *testing.T) {
	Made() // nobody handles it
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
