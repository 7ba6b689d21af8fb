package gzipped

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Fragment is a compressed string. It is immutable.
type Fragment struct {
	// blocks are blocks of DEFLATE (RFC 1951) that end at a byte, without a last one.
	blocks []byte
	// size is the number of bytes before compression, crc their CRC-32.
	size int64
	crc  uint32
}

// Size is the number of bytes before compression.
func (f *Fragment) Size() int64 { return f.size }

// Memory is the number of bytes after compression; 0 for nil.
func (f *Fragment) Memory() int64 {
	if f == nil {
		return 0
	}
	return int64(len(f.blocks))
}

// Bytes is the fragment as Parse reads it.
func (f *Fragment) Bytes() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, sums+len(f.blocks)), uint64(f.size))
	return append(binary.LittleEndian.AppendUint32(b, f.crc), f.blocks...)
}

// sums is the length of what Bytes has before the blocks.
const sums = 8 + 4

// Parse returns a fragment from its Bytes, which must not change.
func Parse(b []byte) Fragment {
	return Fragment{
		blocks: b[sums:], size: int64(binary.LittleEndian.Uint64(b)), crc: binary.LittleEndian.Uint32(b[8:]),
	}
}

// Reach says where the client is that gets a fragment. It decides how much shorter compression must make it.
type Reach int

const (
	// Far is a client on another host. Its fragments are compressed.
	Far Reach = iota
	// Near is a client on this host. To decompress a byte takes it 7 to 23 ns, and to send one over the loopback
	// interface, and receive it, takes both together 3 to 5 ns. So a fragment that isn't at least nearGain times shorter
	// consists of stored blocks, which need no decompression (docs/performance-notes.md).
	Near
)

// nearGain is how many times shorter compression must make a fragment for a client on this host.
const nearGain = 4

// Key distinguishes what is made for one Reach from what is made for another.
func (r Reach) Key() string {
	if r == Near {
		return ";near"
	}
	return ""
}

// compressor is reused, as its tables take hundreds of KiB. That of klauspost/compress takes a third to two thirds of
// the standard library's time, for as many bytes (docs/performance-notes.md).
type compressor struct {
	to *flate.Writer
	// raw is what was compressed, for clients nearby, and out its compressed form. They grow to the size of the largest
	// fragment.
	raw, out bytes.Buffer
}

var compressors = sync.Pool{New: func() any {
	c := &compressor{}
	z, err := flate.NewWriter(&c.out, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	c.to = z
	return c
}}

// counting counts and sums what is written, and keeps it in raw unless that is nil.
type counting struct {
	to   io.Writer
	raw  *bytes.Buffer
	size int64
	crc  uint32
}

func (c *counting) Write(b []byte) (int, error) {
	c.size += int64(len(b))
	c.crc = crc32.Update(c.crc, crc32.IEEETable, b)
	if c.raw != nil {
		c.raw.Write(b)
	}
	return c.to.Write(b)
}

// Compress makes a fragment of what write writes, for clients within reach.
func Compress(reach Reach, write func(io.Writer) error) (*Fragment, error) {
	c := compressors.Get().(*compressor)
	defer compressors.Put(c)
	c.raw.Reset()
	c.out.Reset()
	c.to.Reset(&c.out)
	in := &counting{to: c.to}
	if reach == Near {
		in.raw = &c.raw
	}
	if err := write(in); err != nil {
		return nil, err
	}
	if err := c.to.Flush(); err != nil { // it ends at a byte
		return nil, err
	}
	f := &Fragment{size: in.size, crc: in.crc}
	if reach == Near && nearGain*c.out.Len() > c.raw.Len() {
		f.blocks = block(appendStored(nil, c.raw.Bytes()), 0, 0) // after an empty block Go's reader returns what it has
	} else {
		f.blocks = bytes.Clone(c.out.Bytes())
	}
	return f, nil
}

// header is that of compress/gzip for the fastest level: no name, no time, an unknown system.
var header = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255}

// stored is the most bytes of a stored block.
const stored = 1<<16 - 1

// Writer writes a gzip stream. Close ends it, without closing the underlying writer.
type Writer struct {
	to   io.Writer
	size int64
	crc  uint32
	// begun says that the header was written.
	begun bool
	buf   []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

func (w *Writer) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	_, err := w.to.Write(header)
	return err
}

// Raw writes bytes that aren't compressed: few ones between fragments.
func (w *Writer) Raw(b []byte) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.size += int64(len(b))
	w.crc = crc32.Update(w.crc, crc32.IEEETable, b)
	w.buf = appendStored(w.buf[:0], b)
	_, err := w.to.Write(w.buf)
	return err
}

// appendStored appends stored blocks with these bytes.
func appendStored(to, b []byte) []byte {
	to = slices.Grow(to, len(b)+(len(b)/stored+2)*blockHead) // with an empty one after them
	for len(b) > 0 {
		n := min(len(b), stored)
		to = append(block(to, 0, n), b[:n]...)
		b = b[n:]
	}
	return to
}

// blockHead is the length of the head of a stored block.
const blockHead = 5

// block appends the head of a stored block.
func block(to []byte, final byte, n int) []byte {
	to = binary.LittleEndian.AppendUint16(append(to, final), uint16(n))
	return binary.LittleEndian.AppendUint16(to, ^uint16(n))
}

// Fragment writes a fragment.
func (w *Writer) Fragment(f *Fragment) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.size += f.size
	w.crc = joined(w.crc, f.crc, f.size)
	_, err := w.to.Write(f.blocks)
	return err
}

// Close writes the end of the stream.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	end := block(nil, 1, 0)
	end = binary.LittleEndian.AppendUint32(end, w.crc)
	end = binary.LittleEndian.AppendUint32(end, uint32(w.size))
	_, err := w.to.Write(end)
	return err
}
