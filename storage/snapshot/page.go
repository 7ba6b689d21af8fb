package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// The format of a bbolt file (go.etcd.io/bbolt v1.5.0 internal/common: page.go, meta.go, bucket.go). It is in the
// machine's byte order; all machines that etcd supports are little-endian.
const (
	metaMagic, metaVersion = 0xED0CDAED, 2

	headSize    = 16 // of a page
	branchSize  = 16 // of an element of a branch page
	leafSize    = 16 // of an element of a leaf page
	bucketSize  = 16 // of a bucket's value
	metaSize    = 64
	checksumAt  = 56 // in a meta page
	branchPage  = 0x01
	leafPage    = 0x02
	bucketEntry = 0x01 // the flag of an element that is a bucket

	// minPage and maxPage limit the page sizes that bbolt tries (db.go: getPageSize).
	minPage, maxPage = 1 << 10, 1 << 14 << 2
	// maxDepth is more than the depth of a tree with 2^63 pages.
	maxDepth = 64
)

// meta is the content of a meta page.
type meta struct {
	pageSize int64
	// root is the page of the bucket of buckets; pages is the number of pages, including free ones.
	root, pages, txid uint64
}

// readMeta reads a meta page, which begins at an offset. The error matches ErrForeign if there is none.
func readMeta(r io.ReaderAt, at int64) (meta, error) {
	var b [headSize + metaSize]byte
	if _, err := r.ReadAt(b[:], at); err != nil {
		return meta{}, fmt.Errorf("%w: reading its head: %w", ErrTruncated, err)
	}
	m := b[headSize:]
	if binary.LittleEndian.Uint32(m) != metaMagic {
		return meta{}, ErrForeign
	}
	if v := binary.LittleEndian.Uint32(m[4:]); v != metaVersion {
		return meta{}, fmt.Errorf("%w: version %d of bbolt's format; only version %d is known", ErrNewer, v, metaVersion)
	}
	h := fnv.New64a()
	h.Write(m[:checksumAt])
	if h.Sum64() != binary.LittleEndian.Uint64(m[checksumAt:]) {
		return meta{}, fmt.Errorf("%w: the checksum of its head does not match", ErrDamaged)
	}
	got := meta{
		pageSize: int64(binary.LittleEndian.Uint32(m[8:])), root: binary.LittleEndian.Uint64(m[16:]),
		pages: binary.LittleEndian.Uint64(m[40:]), txid: binary.LittleEndian.Uint64(m[48:]),
	}
	if got.pageSize < minPage || got.pageSize > maxPage || got.pageSize&(got.pageSize-1) != 0 {
		return meta{}, fmt.Errorf("%w: its pages have %d bytes", ErrDamaged, got.pageSize)
	}
	return got, nil
}

// newestMeta reads both meta pages. One may be torn by a crash; the other is then that of the transaction before.
func newestMeta(r io.ReaderAt) (meta, error) {
	first, err := readMeta(r, 0)
	if err == nil {
		if second, err := readMeta(r, first.pageSize); err == nil && second.txid > first.txid {
			return second, nil
		}
		return first, nil
	}
	for size := int64(minPage); size <= maxPage; size *= 2 {
		if second, err := readMeta(r, size); err == nil && second.pageSize == size {
			return second, nil
		}
	}
	return meta{}, err
}

// tree reads the pages of a database.
type tree struct {
	r io.ReaderAt
	meta
	// left is the number of pages that this pass may still read. Each page is a part of one tree only, so a pass that
	// reads more pages than there are goes in a circle.
	left uint64
}

type page struct {
	data   []byte
	branch bool
	count  int
}

// read reads a page and its overflow pages.
func (t *tree) read(id uint64) (page, error) {
	if id < 2 || id >= t.pages { // 0 and 1 are meta pages
		return page{}, fmt.Errorf("%w: page %d of %d is referred to", ErrDamaged, id, t.pages)
	}
	var head [headSize]byte
	if _, err := t.r.ReadAt(head[:], int64(id)*t.pageSize); err != nil {
		return page{}, fmt.Errorf("reading page %d: %w", id, err)
	}
	overflow := uint64(binary.LittleEndian.Uint32(head[12:]))
	if binary.LittleEndian.Uint64(head[:]) != id || overflow >= t.pages-id {
		return page{}, fmt.Errorf("%w: page %d has another page's head", ErrDamaged, id)
	}
	if t.left < 1+overflow {
		return page{}, fmt.Errorf("%w: page %d is referred to more than once", ErrDamaged, id)
	}
	t.left -= 1 + overflow
	data := make([]byte, int64(1+overflow)*t.pageSize)
	if _, err := t.r.ReadAt(data, int64(id)*t.pageSize); err != nil {
		return page{}, fmt.Errorf("reading page %d: %w", id, err)
	}
	return parsePage(data, id)
}

// parsePage reads the head of a page, and checks that its elements are within it.
func parsePage(data []byte, id uint64) (page, error) {
	p := page{data: data, count: int(binary.LittleEndian.Uint16(data[10:]))}
	switch flags := binary.LittleEndian.Uint16(data[8:]); flags {
	case branchPage:
		p.branch = true
	case leafPage:
	default:
		return page{}, fmt.Errorf("%w: page %d has the type %#x", ErrDamaged, id, flags)
	}
	if headSize+p.count*leafSize > len(data) { // elements of branch pages have the same size
		return page{}, fmt.Errorf("%w: page %d has %d elements", ErrDamaged, id, p.count)
	}
	return p, nil
}

// slice returns the part of the page that the element at the offset refers to; ok is false if it is outside the page.
func (p page) slice(element int, pos, size uint32) (part []byte, ok bool) {
	from := int64(element) + int64(pos)
	if from+int64(size) > int64(len(p.data)) {
		return nil, false
	}
	return p.data[from : from+int64(size)], true
}

// child returns the id of the page that an element of a branch page refers to.
func (p page) child(i int) uint64 {
	return binary.LittleEndian.Uint64(p.data[headSize+i*branchSize+8:])
}

// entry is an element of a leaf page.
type entry struct {
	key, value []byte
	bucket     bool
}

func (p page) entry(i int) (e entry, ok bool) {
	at := headSize + i*leafSize
	field := func(n int) uint32 { return binary.LittleEndian.Uint32(p.data[at+4*n:]) }
	key, within := p.slice(at, field(1), field(2))
	if !within {
		return e, false
	}
	value, within := p.slice(at, field(1)+field(2), field(3))
	if !within || uint64(field(1))+uint64(field(2)) > 1<<32-1 {
		return e, false
	}
	return entry{key: key, value: value, bucket: field(0)&bucketEntry != 0}, true
}

// walk calls visit with the entries below a page, in order.
func (t *tree) walk(id uint64, depth int, visit func(entry) error) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: its pages are nested too deep", ErrDamaged)
	}
	p, err := t.read(id)
	if err != nil {
		return err
	}
	if !p.branch {
		return p.visit(id, visit)
	}
	for i := range p.count {
		if err := t.walk(p.child(i), depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

// visit calls visit with the entries of a leaf page.
func (p page) visit(id uint64, visit func(entry) error) error {
	for i := range p.count {
		e, ok := p.entry(i)
		if !ok {
			return fmt.Errorf("%w: entry %d of page %d is outside of it", ErrDamaged, i, id)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// bucket calls visit with the entries of a bucket; found is false if there is none of that name.
func (t *tree) bucket(name string, visit func(entry) error) (found bool, err error) {
	t.left = t.pages
	var value []byte
	err = t.walk(t.root, 0, func(e entry) error {
		if e.bucket && bytes.Equal(e.key, []byte(name)) {
			value, found = e.value, true
		}
		return nil
	})
	if err != nil || !found {
		return found, err
	}
	if len(value) < bucketSize {
		return true, fmt.Errorf("%w: the bucket %q has no head", ErrDamaged, name)
	}
	root := binary.LittleEndian.Uint64(value)
	if root != 0 {
		return true, t.walk(root, 0, visit)
	}
	// A small bucket is a page within its value.
	if len(value) < bucketSize+headSize {
		return true, fmt.Errorf("%w: the bucket %q has no page", ErrDamaged, name)
	}
	p, err := parsePage(value[bucketSize:], 0)
	if err == nil && p.branch {
		err = fmt.Errorf("%w: the bucket %q has a page of branches", ErrDamaged, name)
	}
	if err != nil {
		return true, err
	}
	return true, p.visit(0, visit)
}
