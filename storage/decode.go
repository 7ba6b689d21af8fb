package storage

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Decode turns a record into an object. It never fails: a value that is no JSON object with metadata, or whose metadata
// can't be read, results in an object with Err set. Name and namespace come from the key. A record with revision 0
// represents an object that is not stored, as in a dry run: it gets no resourceVersion. The object may share the
// record's bytes.
func (d *Decoder) Decode(r Record) *Object {
	o := &Object{Key: r.Key, Revision: r.ModRevision, Stale: r.Stale}
	collection, rest, known := Collection(d.Root, r.Key)
	if known {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			o.Meta.Namespace, rest = rest[:i], rest[i+1:]
		}
		o.Meta.Name = rest
	}
	identity := o.Meta
	var paths []FieldPath
	if known && d.Fields != nil {
		paths = d.Fields(collection)
	}
	err := r.Err
	if err == nil {
		err = d.decode(o, r.Value, paths)
	}
	if err != nil {
		o.JSON, o.Fields, o.Meta = nil, nil, identity
		o.Err = &corruptError{r, err}
		return o
	}
	if known {
		o.Meta.Name, o.Meta.Namespace = identity.Name, identity.Namespace
	}
	return o
}

// corruptError is the reason why a value can't be decoded. It has the record for Object.Stored.
type corruptError struct {
	record Record
	cause  error
}

// Error names the key.
func (e *corruptError) Error() string {
	return fmt.Sprintf("%v: %s: %v", ErrCorrupt, e.record.Key, e.cause)
}

// Unwrap returns ErrCorrupt and the cause.
func (e *corruptError) Unwrap() []error { return []error{ErrCorrupt, e.cause} }

// Size returns the number of bytes that Stored returns, or a few more.
func (o *Object) Size() int {
	if corrupt := new(corruptError); errors.As(o.Err, &corrupt) {
		return len(corrupt.record.Value)
	}
	return len(o.JSON)
}

// Stored returns the value that an object was decoded from, or, if that was protobuf or CBOR, the same in JSON. If
// sealed is true, the value could not be decrypted, and is returned as it is stored.
func (o *Object) Stored() (value []byte, sealed bool, err error) {
	if corrupt := new(corruptError); errors.As(o.Err, &corrupt) {
		return corrupt.record.Value, corrupt.record.Err != nil, nil
	}
	value, err = unsplice(o.JSON)
	return value, false, err
}

// decode sets JSON, Meta and Fields.
func (d *Decoder) decode(o *Object, value []byte, paths []FieldPath) error {
	if by := EncryptedBy(value); by != nil {
		return fmt.Errorf("it is encrypted by %s; --encryption-provider-config has the keys", by)
	}
	if format := format(value); format != "" {
		if d.Transcode == nil {
			return errors.New("only JSON can be read")
		}
		var err error
		value, err = convert("reading "+format, func() ([]byte, error) { return d.Transcode(value) })
		if err != nil {
			return err
		}
	}
	if err := d.parse(o, value, paths); err != nil || d.Upgrade == nil {
		return err
	}
	from, kind := o.Meta.APIVersion, o.Meta.Kind
	newer, err := convert("converting it from "+from, func() ([]byte, error) { return d.Upgrade(from, kind, value) })
	if err != nil || newer == nil {
		return err
	}
	o.Meta = Meta{}
	return d.parse(o, newer, paths)
}

// convert calls a function, and recovers its panics: any client of etcd may have stored the bytes.
func convert(what string, f func() ([]byte, error)) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	return f()
}

// format returns the name of the value's format; empty for JSON. kube-apiserver can store custom resources as CBOR (AM
// pkg/runtime/serializer/cbor; feature gate CBORServingAndStorage).
func format(value []byte) string {
	switch {
	case bytes.HasPrefix(value, []byte("k8s\x00")):
		return "protobuf"
	case bytes.HasPrefix(value, []byte("\xd9\xd9\xf7")):
		return "CBOR"
	}
	return ""
}

// parse sets JSON, Meta and Fields of a value in JSON.
func (d *Decoder) parse(o *Object, value []byte, paths []FieldPath) (err error) {
	var c cut
	if o.JSON, c, err = splice(value, o.Revision); err != nil {
		return err
	}
	meta := c.get("metadata")
	if o.Meta, err = parseMeta(slices.Concat(meta[:c.managed], meta[c.managedEnd:])); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	o.Meta.APIVersion, o.Meta.Kind, o.Fields = c.text("apiVersion"), c.text("kind"), c.fields(paths)
	o.begin, o.end = c.begin, c.end
	return nil
}

// Revise returns the object with another revision: a DELETED event shows the last state with the revision of the
// deletion (C-63). The result shares all but JSON with o.
func (d *Decoder) Revise(o *Object, rev int64) *Object {
	n := &Object{Key: o.Key, Revision: rev, JSON: o.JSON, Meta: o.Meta, Fields: o.Fields, Err: o.Err}
	n.verified.Store(o.verified.Load())
	if o.Err != nil {
		return n
	}
	out, c, err := splice(o.JSON, rev)
	if err != nil { // only an object that wasn't made by Decode can get here
		n.Err = fmt.Errorf("%w: %s: %w", ErrCorrupt, o.Key, err)
		return n
	}
	n.JSON, n.begin, n.end = out, c.begin, c.end
	return n
}
