package render

import (
	"hash/maphash"
	"io"
	"runtime"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/gzipped"
	"github.com/kubecascade/kubecascade/storage"
)

// List is a list that is written in pieces, from cached bytes or item by item.
type List struct {
	rendering  *Rendering
	head, tail []byte
	// between is what separates items of JSON.
	between []byte
	runs    []run
	size    int
	// objs are the objects whose bytes are in the list.
	objs []*storage.Object
	// whole writes the list in place of all these; nil if they are set.
	whole func(io.Writer) error
}

// run is a part of a list that is compressed as one fragment.
type run struct {
	objs []*storage.Object
	// items are the objects in protobuf; nil for other formats, if there is a fragment, and if anew is set: then they are
	// encoded once more when they are written.
	items [][]byte
	anew  bool
	// rows are the rows of a Table, joined, without objs; nil for other lists, and if there is a fragment.
	rows []byte
	// fragment is the run as it was compressed before; nil if it was not. shared says that other lists may use it.
	fragment *gzipped.Fragment
	shared   bool
}

// Stream returns a list that is written in pieces. It returns nil if the list has to be made as a whole. If compressed
// is set and Size is GzipFrom or more, it may be written by Compress only.
func (x *Rendering) Stream(items []*storage.Object, meta metav1.ListMeta, compressed bool) (*List, error) {
	compressed = compressed && sizeOf(items) >= GzipFrom
	switch {
	case x.binaryList():
		l, err := x.protobufList(items, meta, compressed)
		if err == nil && l.size < GzipFrom && slices.ContainsFunc(l.runs, func(r run) bool { return r.fragment != nil }) {
			return x.protobufList(items, meta, false)
		}
		return l, err
	case x.rowByRow():
		return x.tableList(items, meta, compressed)
	case x.Format.Pretty:
	case x.plain() && x.Ready(items):
		return x.plainList(items, meta, compressed)
	case x.partial("PartialObjectMetadataList"):
		write := x.partialList(items, meta)
		if write == nil {
			return nil, nil
		}
		var n length
		err := write(&n)
		return &List{whole: write, size: int(n), objs: items}, err
	}
	return nil, nil
}

// sizeOf is the size of objects in bytes of JSON.
func sizeOf(objs []*storage.Object) (n int) {
	for _, o := range objs {
		n += len(o.JSON)
	}
	return n
}

// Ready reports whether all objects are in the stored version, and canonical for its schema. The response for others
// may depend on a conversion webhook.
func (x *Rendering) Ready(items []*storage.Object) bool {
	return !x.Resource.Custom || !slices.ContainsFunc(items, func(o *storage.Object) bool { return !x.canonical(o) })
}

// Size is the length of the list in bytes, not compressed.
func (l *List) Size() int { return l.size }

// Objects returns the objects that the list needs until it is written. A Table has rows of its own.
func (l *List) Objects() []*storage.Object { return l.objs }

// Held is the memory of what was encoded for the list, in bytes. Objects may keep it as well.
func (l *List) Held() (n int64) {
	for i := range l.runs {
		if l.runs[i].objs == nil { // a Table's
			n += l.runs[i].fragment.Memory() + int64(len(l.runs[i].rows))
		}
		for _, item := range l.runs[i].items {
			n += int64(len(item))
		}
	}
	return n
}

// Write writes the list.
func (l *List) Write(w io.Writer) error {
	if l.whole != nil {
		return l.whole(w)
	}
	if _, err := w.Write(l.head); err != nil {
		return err
	}
	for i := range l.runs {
		if i > 0 && len(l.between) > 0 {
			if _, err := w.Write(l.between); err != nil {
				return err
			}
		}
		if err := l.writeRun(w, &l.runs[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(l.tail)
	return err
}

// writeRun writes the items of a run.
func (l *List) writeRun(w io.Writer, r *run) error {
	var tag []byte
	for _, data := range r.items {
		tag = appendHead(tag[:0], listItem, len(data))
		if _, err := w.Write(tag); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	if r.items != nil {
		return nil
	}
	if r.rows != nil {
		_, err := w.Write(r.rows)
		return err
	}
	if r.anew {
		return l.rendering.writeAnew(w, r.objs)
	}
	for i, o := range r.objs {
		if i > 0 {
			if _, err := w.Write(l.between); err != nil {
				return err
			}
		}
		if err := l.rendering.writeItem(w, o); err != nil {
			return err
		}
	}
	return nil
}

// Compresses reports whether Compress can be called.
func (l *List) Compresses() bool { return l.whole == nil }

// Compress writes the list as a gzip stream. Fragments are compressed once.
func (l *List) Compress(to io.Writer) error {
	w := gzipped.NewWriter(to)
	if err := w.Raw(l.head); err != nil {
		return err
	}
	for i := range l.runs {
		r := &l.runs[i]
		if i > 0 {
			if err := w.Raw(l.between); err != nil {
				return err
			}
		}
		f, err := l.compressed(r)
		if err != nil {
			return err
		}
		if err := w.Fragment(f); err != nil {
			return err
		}
	}
	if err := w.Raw(l.tail); err != nil {
		return err
	}
	return w.Close()
}

// compressed returns the fragment of a run.
func (l *List) compressed(r *run) (*gzipped.Fragment, error) {
	if r.fragment != nil {
		return r.fragment, nil
	}
	all, format := l.rendering.Fragments, l.rendering.fragmentKey()
	if r.shared { // another list may have compressed it since
		if f := all.Get(format, r.objs); f != nil {
			return f, nil
		}
	}
	f, err := gzipped.Compress(l.rendering.Reach, func(w io.Writer) error { return l.writeRun(w, r) })
	if err == nil && r.shared {
		all.Put(format, r.objs, f)
	}
	runtime.Gosched() // short responses run first
	return f, err
}

const (
	// runBytes is the usual size of a run in bytes of JSON. A shorter one compresses worse, and a change of one object
	// costs the compression of its whole run. Runs have at least leastRun bytes, and end after mostRun.
	runBytes = 32 << 10
	leastRun = runBytes / 4
	mostRun  = runBytes * 4
)

// cut divides objects into runs, and looks up which of them have been compressed. Where a run ends depends on the
// revisions and sizes of the objects near it, so that a change changes one or two runs, and pages and selections share
// some.
func (x *Rendering) cut(objs []*storage.Object, compressed bool) (runs []run) {
	if !compressed && !x.binaryList() {
		return []run{{objs: objs}}
	}
	format := ""
	if compressed && x.Fragments != nil {
		format = x.fragmentKey()
	}
	for from, to := 0, 0; from < len(objs); from = to {
		to = from + runLength(objs[from:])
		r := run{objs: objs[from:to]}
		if r.shared = format != ""; r.shared {
			r.fragment = x.Fragments.Get(format, r.objs)
		}
		runs = append(runs, r)
	}
	return runs
}

// runLength is the number of objects of the run at the beginning.
func runLength(objs []*storage.Object) int {
	var c Cut
	for i, o := range objs {
		if c.Ends(o) {
			return i + 1
		}
	}
	return len(objs)
}

// runSeed is that of the hashes of keys.
var runSeed = maphash.MakeSeed()

// Cut divides objects into runs, one after the other.
type Cut struct {
	// size is that of the run so far, last the revision of its last object; 0 for none.
	size int
	last int64
}

// Ends reports whether a run ends with the next object. It seldom reads what the object only refers to, which is in no
// processor cache when a list begins: the keys decide only among objects of one write, such as a rollback's.
func (c *Cut) Ends(o *storage.Object) bool {
	c.size += len(o.JSON)
	h := scattered(uint64(o.Revision))
	if o.Revision == c.last {
		h ^= maphash.String(runSeed, o.Key)
	}
	c.last = o.Revision
	ends := h%uint64(max(1, runBytes/max(1, len(o.JSON)))) == 0
	if c.size < mostRun && (!ends || c.size < leastRun) {
		return false
	}
	*c = Cut{}
	return true
}

// scattered returns a hash of a number (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
func scattered(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// length counts what is written to it.
type length int

func (n *length) Write(p []byte) (int, error) {
	*n += length(len(p))
	return len(p), nil
}
