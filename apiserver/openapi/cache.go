package openapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
	"time"
)

// document is one document. It is built when it is first requested. It is reused while its sum stays the same, so it
// must refer only to its own inputs.
type document struct {
	// sum is the hash of the inputs: the ETag, and the hash in the index.
	sum   string
	since time.Time
	// build returns the document in JSON or protobuf.
	build func(protobuf bool) ([]byte, error)

	// mu guards the compressed bytes. It is held while the document is built, so that it is built once.
	mu             sync.Mutex
	json, protobuf []byte
}

// compressed returns the document, compressed with gzip.
func (d *document) compressed(asProtobuf bool) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	made := &d.json
	if asProtobuf {
		made = &d.protobuf
	}
	if *made != nil {
		return *made, nil
	}
	plain, err := d.build(asProtobuf)
	if err != nil {
		return nil, err
	}
	*made, err = compress(plain)
	return *made, err
}

func compress(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compressing a document: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing a document: %w", err)
	}
	return bytes.Clone(b.Bytes()), nil
}

func decompress(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompressing a document: %w", err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("decompressing a document: %w", err)
	}
	return plain, nil
}
