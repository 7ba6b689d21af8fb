package gzipped

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// content is a random string that compresses well, badly or not at all.
func content(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	letters := 1 << r.IntN(9)
	for i := range b {
		b[i] = byte(r.IntN(letters))
	}
	return b
}

// TestJoinedChecksums: the checksum of two strings follows from those of each (guarantee 1).
func TestJoinedChecksums(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	for range 500 {
		a, b := content(r, r.IntN(300)), content(r, r.IntN(100_000))
		want := crc32.ChecksumIEEE(append(a[:len(a):len(a)], b...))
		if got := joined(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(len(b))); got != want {
			t.Fatalf("%d and %d bytes: %x, want %x", len(a), len(b), got, want)
		}
	}
}

// TestRandomStreams: compress/gzip reads what a Writer wrote, whatever pieces it was given, some fragments several
// times (guarantees 1 and 2).
func TestRandomStreams(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	for range 50 {
		var out, want bytes.Buffer
		w := NewWriter(&out)
		var again *Fragment
		var data []byte
		for range r.IntN(8) {
			var err error
			switch r.IntN(3) {
			case 0:
				raw := content(r, r.IntN(3*stored))
				want.Write(raw)
				err = w.Raw(raw)
			case 1:
				data = content(r, r.IntN(200_000))
				again, err = Compress(Reach(r.IntN(2)), func(to io.Writer) error { return write(to, data) })
				if err != nil {
					t.Fatal(err)
				}
				if again.Size() != int64(len(data)) {
					t.Errorf("a fragment of %d bytes has size %d", len(data), again.Size())
				}
				parsed := Parse(again.Bytes())
				again = &parsed
				fallthrough
			default:
				if again != nil {
					want.Write(data)
					err = w.Fragment(again)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes were read of %d: %v", len(got), want.Len(), err)
		}
		if out.Len() != 0 {
			t.Errorf("%d bytes follow the end", out.Len())
		}
	}
}

// write writes in pieces.
func write(to io.Writer, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), 1000)
		if _, err := to.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// TestCompressError: an error of what writes is returned, and does no harm to the next fragment.
func TestCompressError(t *testing.T) {
	broken := errors.New("broken")
	half := func(to io.Writer) error { _, _ = to.Write([]byte("half")); return broken }
	if _, err := Compress(Near, half); err != broken {
		t.Errorf("the error is %v", err)
	}
	f, err := Compress(Near, func(to io.Writer) error { return write(to, []byte("whole")) })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := errors.Join(w.Fragment(f), w.Close()); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNear: a client on this host gets stored blocks of what compresses badly, another one never more bytes than that,
// and both the same of what compresses well (guarantee 4).
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	letters := func(n int) (b []byte) {
		for range 100_000 {
			b = append(b, byte('a'+r.IntN(n)))
		}
		return b
	}
	for _, c := range []struct {
		data []byte
		same bool
	}{{letters(1), true}, {letters(2), true}, {letters(8), false}} {
		var blocks [2][]byte
		for reach := range blocks {
			f, err := Compress(Reach(reach), func(to io.Writer) error { return write(to, c.data) })
			if err != nil {
				t.Fatal(err)
			}
			blocks[reach] = f.blocks
		}
		far, near := blocks[Far], blocks[Near]
		if same := bytes.Equal(near, far); same != c.same {
			t.Errorf("%q...: near %d bytes, far %d: equal is %v", c.data[:20], len(near), len(far), same)
		}
		if !c.same && (!bytes.Contains(near, c.data[:stored]) || len(far) >= len(c.data)) {
			t.Errorf("%q...: near %d bytes, far %d", c.data[:20], len(near), len(far))
		}
	}
}

func objects(n int, revision int64) (objs []*storage.Object) {
	for i := range n {
		objs = append(objs, &storage.Object{Key: fmt.Sprintf("/registry/configmaps/default/%d", i), Revision: revision})
	}
	return objs
}

// TestCacheKeys: a fragment is found by the same objects, revisions, order and format alone (guarantee 3).
func TestCacheKeys(t *testing.T) {
	c := NewCache(1 << 20)
	objs := objects(3, 7)
	f := &Fragment{size: 1}
	c.Put("json", objs, f)
	if c.Get("json", objects(3, 7)) != f {
		t.Error("the fragment isn't found by objects that are the same")
	}
	more := objects(4, 7)
	for _, k := range []struct {
		what, format string
		objs         []*storage.Object
	}{
		{"format", "protobuf", objs}, {"fewer", "json", objs[:2]}, {"more", "json", more},
		{"revision", "json", objects(3, 8)}, {"order", "json", []*storage.Object{objs[1], objs[0], objs[2]}},
	} {
		if c.Get(k.format, k.objs) != nil {
			t.Errorf("%s: a fragment of something else is found", k.what)
		}
	}
	c.byKey[c.hash("json", more)] = c.byKey[c.hash("json", objs)]
	if c.Get("json", more) != nil {
		t.Error("a fragment is found by its hash alone")
	}
}

// TestCacheLimit: a cache never exceeds its limit, and keeps what was used last (guarantee 3).
func TestCacheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	const limit = 50_000
	c := NewCache(limit)
	first := objects(1, 1)
	c.Put("json", first, &Fragment{blocks: make([]byte, 100)})
	for i := range 1000 {
		c.Put("json", objects(1+r.IntN(5), int64(2+r.IntN(500))), &Fragment{blocks: make([]byte, r.IntN(5000))})
		if c.Get("json", first) == nil {
			t.Fatalf("what was used last is gone after %d more", i)
		}
		var sum int64
		for at := c.used.Front(); at != nil; at = at.Next() {
			sum += at.Value.(*entry).memory()
		}
		if c.Bytes() > limit || c.Bytes() != sum || c.used.Len() != len(c.byKey) {
			t.Fatalf("%d bytes, %d in the list, %d entries of %d", c.Bytes(), sum, c.used.Len(), len(c.byKey))
		}
	}
	c.Put("json", objs1, &Fragment{blocks: make([]byte, limit)})
	if c.Get("json", objs1) != nil || c.Get("json", first) == nil {
		t.Error("a fragment that is larger than the cache displaces others")
	}
}

var objs1 = objects(1, 1_000_000)

// TestReadAtOnce: compress/gzip returns a whole fragment before it reads more (guarantee 2).
func TestReadAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	from, to := io.Pipe()
	done := make(chan error, 1)
	next := make(chan []byte)
	go func() {
		w := NewWriter(to)
		for data := range next {
			f, err := Compress(Reach(len(data)%2), func(to io.Writer) error { return write(to, data) })
			if err == nil {
				err = w.Fragment(f)
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- errors.Join(w.Close(), to.Close())
	}()
	var z *gzip.Reader
	for range 20 {
		want := content(r, 1+r.IntN(100_000))
		next <- want
		if z == nil {
			var err error
			if z, err = gzip.NewReader(from); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(z, got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: other ones, %v", len(want), err)
		}
	}
	close(next)
	if n, err := io.Copy(io.Discard, z); n != 0 || err != nil {
		t.Errorf("the end: %d bytes, %v", n, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
