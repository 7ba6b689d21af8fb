package openapi

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
	"time"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// document is one document, built when it is first requested.
type document struct {
	// sum is the hash of the content: the ETag, and the hash in the index.
	sum   string
	since time.Time
	// build makes the JSON, toProtobuf converts it.
	build      func() ([]byte, error)
	toProtobuf func([]byte) ([]byte, error)

	// mu guards the compressed bytes. It is held while they are made, so that they are made once.
	mu             sync.Mutex
	json, protobuf []byte
}

// compressed returns the document as gzip.
func (d *document) compressed(asProtobuf bool) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if asProtobuf {
		return d.compressedProtobuf()
	}
	if d.json == nil {
		plain, err := d.build()
		if err != nil {
			return nil, err
		}
		if d.json, err = compress(plain); err != nil {
			return nil, err
		}
	}
	return d.json, nil
}

// compressedProtobuf is called with mu held.
func (d *document) compressedProtobuf() ([]byte, error) {
	if d.protobuf != nil {
		return d.protobuf, nil
	}
	plain, err := d.plainJSON()
	if err != nil {
		return nil, err
	}
	encoded, err := d.toProtobuf(plain)
	if err != nil {
		return nil, fmt.Errorf("encoding a document as protobuf: %w", err)
	}
	d.protobuf, err = compress(encoded)
	return d.protobuf, err
}

// plainJSON does not cache its result, as clients of protobuf seldom want JSON, too.
func (d *document) plainJSON() ([]byte, error) {
	if d.json == nil {
		return d.build()
	}
	return decompress(d.json)
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

func protobufV2(json []byte) ([]byte, error) {
	d, err := openapiv2.ParseDocument(json)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(d)
}

func protobufV3(json []byte) ([]byte, error) {
	d, err := openapiv3.ParseDocument(json)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(d)
}
