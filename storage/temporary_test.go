package storage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTemporary: what killed processes have left goes, and nothing else.
func TestTemporary(t *testing.T) {
	parent := t.TempDir()
	here := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}
	first, doneFirst, err := Temporary(parent)
	if err != nil {
		t.Fatal(err)
	}
	left, mine := filepath.Join(parent, memberName+"-1"), filepath.Join(parent, memberName+"-data")
	for _, dir := range []string{left, mine} {
		if err := os.MkdirAll(filepath.Join(dir, memberDir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, inUse), nil, 0o600); err != nil { // as it is when nobody has it locked
		t.Fatal(err)
	}
	second, doneSecond, err := Temporary(parent)
	if err != nil {
		t.Fatal(err)
	}
	doneSecond()
	if here(left) || here(second) {
		t.Errorf("that of a process that was killed is there: %v, the second one: %v", here(left), here(second))
	}
	if !here(first) || !here(mine) {
		t.Errorf("the first one, which is used, is there: %v, one that isn't temporary: %v", here(first), here(mine))
	}
	doneFirst()
	if here(first) {
		t.Error("the first one is there")
	}
}
