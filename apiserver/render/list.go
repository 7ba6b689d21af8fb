package render

import (
	"errors"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// List is a list that is written in pieces.
type List struct {
	head, tail []byte
	// first is written before the first item, between before each other item.
	first, between []byte
	// tagged is set if a tag and the length are written before each item, as in protobuf.
	tagged bool
	// items are the encoded items. The objects in objs follow them; encode is called when each is written. In protobuf,
	// an object that can't be decoded is omitted.
	items  [][]byte
	objs   []*storage.Object
	encode func(*storage.Object) ([]byte, error)
	size   int
}

// Stream returns a list that is written in pieces, or nil if the list must be made as a whole.
func (x *Rendering) Stream(items []*storage.Object, meta metav1.ListMeta) (*List, error) {
	switch {
	case x.binaryList():
		return x.protobufList(items, meta)
	case x.rowByRow():
		return x.tableList(items, meta)
	case x.Format.Pretty:
	case x.plain() && x.Ready(items):
		return x.plainList(items, meta)
	case x.partial("PartialObjectMetadataList"):
		return x.partialList(items, meta)
	}
	return nil, nil
}

// SizeOf returns the size of the objects in bytes of JSON.
func SizeOf(objs []*storage.Object) (n int64) {
	for _, o := range objs {
		n += int64(len(o.JSON))
	}
	return n
}

// Ready reports whether the cached bytes of all objects can be sent. Otherwise a conversion webhook may be needed.
func (x *Rendering) Ready(items []*storage.Object) bool {
	return !x.Resource.Custom || !slices.ContainsFunc(items, func(o *storage.Object) bool { return !x.canonical(o) })
}

// Size returns the length of the list in bytes, before compression.
func (l *List) Size() int { return l.size }

// Write writes the list.
func (l *List) Write(w io.Writer) error {
	if _, err := w.Write(l.head); err != nil {
		return err
	}
	for i, item := range l.items {
		if err := l.writeItem(w, i == 0, item); err != nil {
			return err
		}
	}
	for i, o := range l.objs {
		item, err := l.encode(o)
		if l.tagged && errors.Is(err, storage.ErrCorrupt) {
			continue // its length is not in the size of the list
		}
		if err != nil {
			return err
		}
		if err := l.writeItem(w, i == 0 && len(l.items) == 0, item); err != nil {
			return err
		}
	}
	_, err := w.Write(l.tail)
	return err
}

// writeItem writes an item and what precedes it.
func (l *List) writeItem(w io.Writer, first bool, item []byte) error {
	before := l.between
	switch {
	case l.tagged:
		before = appendHead(nil, listItem, len(item))
	case first:
		before = l.first
	}
	if len(before) > 0 {
		if _, err := w.Write(before); err != nil {
			return err
		}
	}
	_, err := w.Write(item)
	return err
}

// measure sets the size of a list in JSON, whose items are parts of stored bytes.
func (l *List) measure() error {
	l.size = len(l.head) + len(l.tail)
	if n := len(l.items) + len(l.objs); n > 0 {
		l.size += len(l.first) + (n-1)*len(l.between)
	}
	for _, item := range l.items {
		l.size += len(item)
	}
	for _, o := range l.objs {
		item, err := l.encode(o)
		if err != nil {
			return err
		}
		l.size += len(item)
	}
	return nil
}
