package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// written returns a database in a data directory, to which etcd's own store has written the records, and a snapshot of
// it.
func written(t testing.TB, n int) (dir, file string, want []snapshot.Record) {
	t.Helper()
	dir = t.TempDir()
	database := filepath.Join(dir, "member", "snap", "db")
	if err := os.MkdirAll(filepath.Dir(database), 0o700); err != nil {
		t.Fatal(err)
	}
	b := backend.NewDefaultBackend(zap.NewNop(), database)
	kv := mvcc.New(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{})
	put := func(key string, value []byte) int64 { return kv.Put([]byte(key), value, lease.NoLease) }
	put("/registry/namespaces/default", []byte("{}"))
	for i := range n {
		key := fmt.Sprintf("/registry/configmaps/default/%04d", i)
		value := bytes.Repeat([]byte{byte(i)}, 1+i*i%9000) // some overflow their page
		put(key, []byte("before"))
		rev := put(key, value)
		switch {
		case i%7 == 0:
			kv.DeleteRange([]byte(key), nil)
			continue
		case i%11 == 0:
			kv.DeleteRange([]byte(key), nil)
			rev = put(key, value)
		}
		want = append(want, snapshot.Record{Key: key, Value: value, Revision: rev})
	}
	kv.Commit()
	if err := errors.Join(kv.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "backup.db")
	save(t, database, file)
	return dir, file, want
}

// save makes a snapshot of a database, as etcd does: what bbolt writes of a transaction, and its hash.
func save(t testing.TB, database, file string) {
	t.Helper()
	db, err := bbolt.Open(database, 0, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b bytes.Buffer
	if err := db.View(func(tx *bbolt.Tx) error { _, err := tx.WriteTo(&b); return err }); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	if err := os.WriteFile(file, append(b.Bytes(), sum[:]...), 0o400); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) (snapshot.Info, []snapshot.Record) {
	t.Helper()
	f, err := snapshot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []snapshot.Record
	if err := f.Records(func(r snapshot.Record) error { got = append(got, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return f.Info, got
}

// TestRecordsAreTheNewestValues: a snapshot, and its data directory, have the written records.
func TestRecordsAreTheNewestValues(t *testing.T) {
	dir, file, want := written(t, 400)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, dir, filepath.Join(dir, "member", "snap", "db")} {
		info, got := read(t, path)
		if got[0].Key != "/registry/namespaces/default" {
			t.Fatalf("%s: the first key is %s", path, got[0].Key)
		}
		if !slices.EqualFunc(want, got[1:], same) {
			t.Errorf("%s: %d records were read, %d were written, or their values differ", path, len(got)-1, len(want))
		}
		if last := want[len(want)-1].Revision; info.Revision < last || info.Hashed != (path == file) {
			t.Errorf("%s: %+v, last write %d", path, info, last)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed: %v", err)
	}
}

func same(a, b snapshot.Record) bool {
	return a.Key == b.Key && a.Revision == b.Revision && bytes.Equal(a.Value, b.Value)
}

// TestDatabaseOfRunningEtcdIsNotRead: the database of an etcd that is running is not read.
func TestDatabaseOfRunningEtcdIsNotRead(t *testing.T) {
	dir := t.TempDir()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := snapshot.Open(dir); !errors.Is(err, snapshot.ErrInUse) {
		t.Errorf("opening: %v", err)
	}
}

// TestBrokenFilesAreErrorsWithReason: for a file that is not a whole snapshot, the error has the reason.
func TestBrokenFilesAreErrorsWithReason(t *testing.T) {
	dir, file, _ := written(t, 50)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := os.ReadFile(filepath.Join(dir, "member", "snap", "db"))
	if err != nil {
		t.Fatal(err)
	}
	rehashed := func(change func(data []byte)) []byte {
		data := slices.Clone(whole[:len(whole)-sha256.Size])
		change(data)
		sum := sha256.Sum256(data)
		return append(data, sum[:]...)
	}
	for name, c := range map[string]struct {
		data []byte
		is   error
		says string
	}{
		"empty":               {nil, snapshot.ErrTruncated, "it is empty"},
		"a few bytes":         {whole[:20], snapshot.ErrForeign, ""},
		"half":                {whole[:len(whole)/1024*512+32], snapshot.ErrTruncated, "pages are missing"},
		"half without hash":   {bare[:len(whole)/2/4096*4096], snapshot.ErrTruncated, "pages are missing"},
		"a byte less":         {whole[:len(whole)-1], snapshot.ErrTruncated, "neither whole pages"},
		"another hash":        {append(slices.Clone(whole[:len(whole)-1]), ^whole[len(whole)-1]), snapshot.ErrHash, ""},
		"a bit":               {flip(whole, len(whole)/2), snapshot.ErrHash, "was changed or damaged"},
		"text":                {[]byte(strings.Repeat("apiVersion: v1\n", 1000)), snapshot.ErrForeign, "does not begin like one"},
		"gzip":                {append([]byte("\x1f\x8b\x08"), whole...), snapshot.ErrForeign, "compressed with gzip"},
		"SQLite":              {append([]byte("SQLite format 3\x00"), whole...), snapshot.ErrForeign, "k3s"},
		"newer bbolt":         {rehashed(newerBolt), snapshot.ErrNewer, "version 3 of bbolt's format"},
		"newer etcd":          {rebuilt(t, whole, newerEtcd), snapshot.ErrNewer, "it is from etcd 3.99"},
		"another program":     {rebuilt(t, whole, otherProgram), snapshot.ErrForeign, "a database of another program"},
		"pages zero, no hash": {append(slices.Clone(bare[:4*4096]), make([]byte, len(bare)-4*4096)...), snapshot.ErrDamaged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "backup.db")
			if err := os.WriteFile(path, c.data, 0o400); err != nil {
				t.Fatal(err)
			}
			f, err := snapshot.Open(path)
			if err == nil {
				err = f.Records(func(snapshot.Record) error { return nil })
				f.Close()
			}
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q, %q", err, c.is, c.says)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.data) {
				t.Errorf("the file has changed: %v", err)
			}
		})
	}
	t.Run("a directory without etcd", func(t *testing.T) {
		if _, err := snapshot.Open(t.TempDir()); !errors.Is(err, snapshot.ErrForeign) {
			t.Error(err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if _, err := snapshot.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

func flip(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[at] ^= 1
	return data
}

// newerBolt changes the version in both meta pages.
func newerBolt(data []byte) {
	for _, page := range []int{0, 4096} {
		binary.LittleEndian.PutUint32(data[page+16+4:], 3)
	}
}

func newerEtcd(tx *bbolt.Tx) error {
	return tx.Bucket([]byte("meta")).Put([]byte("storageVersion"), []byte("3.99.0"))
}

func otherProgram(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("key")) }

// rebuilt returns a snapshot whose database was changed by bbolt.
func rebuilt(t *testing.T, whole []byte, change func(*bbolt.Tx) error) []byte {
	t.Helper()
	dir := t.TempDir()
	database, file := filepath.Join(dir, "db"), filepath.Join(dir, "backup.db")
	if err := os.WriteFile(database, whole[:len(whole)-sha256.Size], 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(database, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
	save(t, database, file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPagesInACircleAreAnError: pages that refer to each other in a circle are an error, and don't take forever.
func TestPagesInACircleAreAnError(t *testing.T) {
	_, file, _ := written(t, 300)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data = data[:len(data)-sha256.Size]
	circles := 0
	for at := 0; at < len(data); at += 4096 {
		if binary.LittleEndian.Uint16(data[at+8:]) == 1 { // a branch page: its first child is itself
			copy(data[at+16+8:], data[at:at+8])
			circles++
		}
	}
	if circles == 0 {
		t.Fatal("there are no branch pages")
	}
	path := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(path, data, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Open(path); !errors.Is(err, snapshot.ErrDamaged) {
		t.Errorf("opening: %v", err)
	}
}

// FuzzFile: for any bytes, reading ends with records or with an error of this package.
func FuzzFile(f *testing.F) {
	_, file, _ := written(f, 12)
	whole, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, uint32(0), byte(0))
	for at := 0; at < len(whole)-sha256.Size; at += 4096 { // what is in the heads of pages, and the first elements
		for _, field := range []int{0, 8, 10, 12, 16, 20, 24, 28} {
			f.Add(whole[:len(whole)-sha256.Size], uint32(at+field), byte(3))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, with byte) {
		if len(data) > 0 {
			data = slices.Clone(data)
			data[int(at)%len(data)] ^= with
		}
		path := filepath.Join(t.TempDir(), "db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		opened, err := snapshot.Open(path)
		if err == nil {
			err = errors.Join(opened.Records(func(snapshot.Record) error { return nil }), opened.Close())
		}
		for _, known := range []error{nil, snapshot.ErrTruncated, snapshot.ErrHash, snapshot.ErrDamaged,
			snapshot.ErrForeign, snapshot.ErrNewer} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Errorf("reading: %v", err)
	})
}

// TestPrefixesAreFoundByNamespaces finds clusters by their namespaces.
func TestPrefixesAreFoundByNamespaces(t *testing.T) {
	keys := []string{"/other", "/a/b/namespaces/default", "/registry/namespaces/default", "/registry/namespaces/kube-system",
		"/registry/pods/default/x", "/namespace/default", "compact_rev_key"}
	if got := snapshot.Prefixes(keys); !slices.Equal(got, []string{"/registry", "/a/b"}) {
		t.Errorf("%q", got)
	}
	if got := snapshot.Prefixes(keys[5:]); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
