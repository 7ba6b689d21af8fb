package storage

import (
	"iter"
	"sync/atomic"
)

// Encodings limits the memory of the second format that objects keep beside their JSON. It may be used from any
// goroutine. The objects that may keep an encoding are those between Admit and Release.
//
// When it is full, a new encoding is not kept. After encodings of several times the limit were not kept, a Sweep drops
// what has not been used since the Sweep before. So what is no longer used makes room, and a list of more objects than
// fit does not displace what the next list will use again.
type Encodings struct {
	limit int64
	// bytes is the size of all that are kept, declined of those that were not, since the last sweep.
	bytes, declined atomic.Int64
	// round counts sweeps.
	round atomic.Uint32
}

// NewEncodings returns Encodings that keep at most limit bytes.
func NewEncodings(limit int64) *Encodings { return &Encodings{limit: limit} }

// declinedRounds is how many times the limit is declined between two sweeps.
const declinedRounds = 4

// encoding is what an object keeps.
type encoding struct {
	data []byte
	// used is the round in which it was used last.
	used atomic.Uint32
}

// admitted is the encoding of an object that may keep one and has none.
var admitted = &encoding{}

// Admit allows an object that has none to keep an encoding.
func (e *Encodings) Admit(o *Object) { o.encoding.CompareAndSwap(nil, admitted) }

// Admits reports whether the object may keep an encoding.
func (e *Encodings) Admits(o *Object) bool { return o.encoding.Load() != nil }

// Release drops an object's encoding. It keeps none from then on.
func (e *Encodings) Release(o *Object) {
	if kept := o.encoding.Swap(nil); kept != nil {
		e.bytes.Add(-int64(len(kept.data)))
	}
}

// Get returns the encoding that the object keeps; nil if there is none. Callers must not modify it.
func (e *Encodings) Get(o *Object) []byte {
	kept := o.encoding.Load()
	if kept == nil || kept == admitted {
		return nil
	}
	if round := e.round.Load(); kept.used.Load() != round {
		kept.used.Store(round)
	}
	return kept.data
}

// Keep keeps an encoding if the object may and there is space. It reports whether Sweep should be called.
func (e *Encodings) Keep(o *Object, data []byte) (full bool) {
	if len(data) == 0 || o.encoding.Load() != admitted {
		return false
	}
	size := int64(len(data))
	if e.bytes.Add(size) > e.limit {
		e.bytes.Add(-size)
		declined := e.declined.Add(size)
		return declined >= declinedRounds*e.limit && e.declined.CompareAndSwap(declined, 0)
	}
	kept := &encoding{data: data}
	kept.used.Store(e.round.Load())
	if !o.encoding.CompareAndSwap(admitted, kept) {
		e.bytes.Add(-size)
	}
	return false
}

// Sweep drops the encodings of objects that were not used since the last Sweep.
func (e *Encodings) Sweep(objects iter.Seq[*Object]) {
	round := e.round.Add(1)
	for o := range objects {
		kept := o.encoding.Load()
		if kept == nil || kept == admitted || kept.used.Load()+1 >= round {
			continue
		}
		if o.encoding.CompareAndSwap(kept, admitted) {
			e.bytes.Add(-int64(len(kept.data)))
		}
	}
}

// Bytes is the size of all encodings that are kept.
func (e *Encodings) Bytes() int64 { return e.bytes.Load() }
