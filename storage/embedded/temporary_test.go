package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// TestOnlyAbandonedDirectoriesAreRemoved: the directories of killed processes are removed, and no others.
func TestOnlyAbandonedDirectoriesAreRemoved(t *testing.T) {
	parent := t.TempDir()
	here := func(dir string) bool {
		_, err := os.Stat(dir)
		return err == nil
	}
	left, mine := filepath.Join(parent, memberName+"-1"), filepath.Join(parent, memberName+"-data")
	for _, dir := range []string{left, mine} {
		if err := os.MkdirAll(filepath.Join(dir, memberDir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, inUse), nil, 0o600); err != nil { // unlocked
		t.Fatal(err)
	}
	first, doneFirst, err := Temporary(parent)
	if err != nil {
		t.Fatal(err)
	}
	second, doneSecond, err := Temporary(parent)
	if err != nil {
		t.Fatal(err)
	}
	doneSecond()
	if here(second) || !here(first) {
		t.Errorf("the second one, which isn't used any more, is there: %v, the first: %v", here(second), here(first))
	}
	doneFirst() // one of the two has swept
	if here(left) || here(first) || !here(mine) {
		t.Errorf(
			"that of a process that was killed is there: %v, the first one: %v, one that isn't temporary: %v", here(left),
			here(first), here(mine))
	}
}

// TestMarkStaysWhileDirectoryIsRemoved: while a directory is being removed, its mark stays, so that the next process
// removes the rest.
func TestMarkStaysWhileDirectoryIsRemoved(t *testing.T) {
	parent := t.TempDir()
	left := filepath.Join(parent, memberName+"-1")
	for _, name := range []string{"a", inUse + ".d", memberDir, "z"} {
		if err := os.MkdirAll(filepath.Join(left, name, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, inUse), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := empty(left); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadDir(left); err != nil || len(got) != 1 || got[0].Name() != inUse {
		t.Errorf("left: %v %v", got, err)
	}
	sweep(parent)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("after the sweep: %v", err)
	}
}

// TestAdoptedDirectoryIsKept: the directory of a killed process is kept once it was opened by name, and a directory in
// use can't be opened.
func TestAdoptedDirectoryIsKept(t *testing.T) {
	parent := t.TempDir()
	left := filepath.Join(parent, memberName+"-1")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, inUse), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDir(left)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	used, done, err := Temporary(parent)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := LockDir(used); !errors.Is(err, ErrInUse) {
		t.Errorf("opening a directory that is used gives %v", err)
		if err == nil {
			other.Close()
		}
	}
	done()
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a directory that is used by name was swept: %v", err)
	}
}

// TestSweptWhileMade: a new directory exists even if others sweep at the same time.
func TestSweptWhileMade(t *testing.T) {
	parent, stop := t.TempDir(), make(chan struct{})
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	defer close(stop)
	for range 2 {
		sweeping.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					sweep(parent)
				}
			}
		})
	}
	for range 200 {
		dir, done, err := Temporary(parent)
		if errors.Is(err, fileutil.ErrLocked) {
			continue // swept again and again
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, inUse)); err != nil {
			t.Fatalf("what was made has been removed: %v", err)
		}
		done()
	}
}
