package past

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// The limits of one read from etcd, in records and in bytes of their JSON.
const (
	firstRecords = 500
	mostRecords  = 5000
	readBytes    = 1 << 20
	// reads is how many reads run at a time.
	reads = 4
)

// Options configure a Reader. Zero values mean the defaults.
type Options struct {
	// Bytes limits the memory of the chunks (default 16 MiB).
	Bytes int64
	// Idle is how long an unused chunk is kept (default one minute).
	Idle time.Duration
	// Newest returns the first n of the prefix's objects from a key on in the newest state. It limits the keys that etcd
	// has to count for one read, and what was not written since need not be read. Default: nothing is known.
	Newest func(prefix, from string, n int) Part
	// Known returns the object that was stored under the key at that mod revision, if it is in memory. Most objects
	// haven't changed since; they needn't be decoded, nor be in memory twice. Default: none.
	Known func(key string, rev int64) *storage.Object
}

// Part is a part of a collection at one revision.
type Part struct {
	// Revision is the revision of the state; 0 if nothing is known.
	Revision int64
	// Objects are in key order, without gaps.
	Objects []*storage.Object
	// End is the key of the object after them; empty if there is none.
	End string
}

// Reader reads past revisions and shares what it has read. Make one with New. Its methods may be called from any
// goroutine.
type Reader struct {
	store   storage.Store
	decoder *storage.Decoder
	newest  func(prefix, from string, n int) Part
	known   func(key string, rev int64) *storage.Object
	// turns has one element for each active read.
	turns chan struct{}
	kept  *chunks
	// mu guards flights and counts.
	mu      sync.Mutex
	flights map[start]*flight
	counts  Counts
}

// Counts are the requests of a Reader to etcd.
type Counts struct {
	// Reads is the number of reads, Records the number of records received.
	Reads, Records int64
}

// place is a collection, or a namespace of it, at one revision.
type place struct {
	prefix   string
	revision int64
}

// start is where a read begins.
type start struct {
	place
	from string
}

// flight is an active read. done is closed when chunk and err are set.
type flight struct {
	done  chan struct{}
	chunk *chunk
	err   error
}

// New returns a reader of the store; decoder is the cache's.
func New(store storage.Store, decoder *storage.Decoder, o Options) *Reader {
	if o.Bytes <= 0 {
		o.Bytes = 16 << 20
	}
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.Newest == nil {
		o.Newest = func(string, string, int) Part { return Part{} }
	}
	if o.Known == nil {
		o.Known = func(string, int64) *storage.Object { return nil }
	}
	return &Reader{store: store, decoder: decoder, newest: o.Newest, known: o.Known, turns: make(chan struct{}, reads),
		kept: newChunks(o.Bytes, o.Idle), flights: map[start]*flight{}}
}

// Held is the memory of the chunks in bytes.
func (r *Reader) Held() int64 { return r.kept.held() }

// Counts returns the requests to etcd so far.
func (r *Reader) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// chunk reads the chunk that begins at s, or waits for the caller that is already reading it. Reads that begin at the
// same key of several revisions take turns: what one of them has read is mostly what the others need.
func (r *Reader) chunk(ctx context.Context, s start, want int) (*chunk, error) {
	for {
		r.mu.Lock()
		f := r.flights[s]
		other := f == nil
		if other {
			f = r.beside(s)
		}
		if f == nil {
			f = &flight{done: make(chan struct{})}
			r.flights[s] = f
			r.mu.Unlock()
			r.fly(ctx, s, want, f)
			return f.chunk, f.err
		}
		r.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !other && !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return f.chunk, f.err
		}
		if err := ctx.Err(); err != nil { // otherwise only the other caller's context is done
			return nil, err
		}
	}
}

// beside returns an active read that begins at the same key of another revision; nil if there is none.
func (r *Reader) beside(s start) *flight {
	for at, f := range r.flights {
		if at.prefix == s.prefix && at.from == s.from {
			return f
		}
	}
	return nil
}

// fly carries out a flight. If it panics, the waiting callers get an error. The garbage that a read has made may have
// to be collected: the callers that wait for the chunk don't wait for that, but the next read in this turn does, as it
// would make more.
func (r *Reader) fly(ctx context.Context, s start, want int, f *flight) {
	f.err = storage.ErrUnavailable
	land := sync.OnceFunc(func() {
		r.mu.Lock()
		delete(r.flights, s)
		r.mu.Unlock()
		close(f.done)
	})
	defer land()
	if f.chunk = r.kept.find(s); f.chunk != nil { // another caller has read it meanwhile
		f.err = nil
		return
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		f.err = ctx.Err()
		return
	}
	if f.chunk, f.err = r.read(ctx, s, r.records(s.place, want)); f.err == nil {
		land()
	}
}

// records is how many records a read requests. The size of the first one is unknown. Those that follow it request whole
// pages, so that reads at several revisions begin at the same keys.
func (r *Reader) records(p place, want int) int64 {
	average := r.kept.average(p)
	if average == 0 {
		return int64(min(max(want, 1), firstRecords))
	}
	n := int(min(max(readBytes/average, 1), mostRecords))
	if want > 0 && want < n {
		n -= n % want
	}
	return int64(n)
}

// read makes the chunk that begins at s, and keeps it.
func (r *Reader) read(ctx context.Context, s start, limit int64) (*chunk, error) {
	part := r.newest(s.prefix, s.from, int(limit))
	if part.End != "" && (part.End <= s.from || !strings.HasPrefix(part.End, s.prefix)) {
		part = Part{}
	}
	rest, counted := r.kept.remaining(s)
	var c *chunk
	var err error
	if !part.lacks(rest, counted) {
		c, err = r.derive(ctx, s, part, limit)
	}
	switch {
	case err != nil:
		return nil, err
	case c == nil && counted:
		c, err = r.fetch(ctx, s, part.End, limit)
	case c == nil: // etcd counts what follows
		c, err = r.fetch(ctx, s, "", limit)
	case !counted && c.next != "":
		rest, err = r.number(ctx, s, "")
		counted = true
	}
	if err != nil {
		return nil, err
	}
	if counted {
		c.after = rest - int64(len(c.objects))
	}
	for _, o := range c.objects {
		c.json += int64(len(o.JSON))
	}
	r.kept.add(c)
	return c, nil
}

// fetch reads up to limit of the records before end from etcd. The chunk's after counts those before end only.
func (r *Reader) fetch(ctx context.Context, s start, end string, limit int64) (*chunk, error) {
	page, err := r.list(ctx, s, end, limit)
	if err != nil {
		return nil, err
	}
	c := &chunk{start: s, next: end, after: page.Remaining, objects: r.objects(s, page.Records)}
	if page.More {
		c.next = c.objects[len(c.objects)-1].Key + "\x00"
	}
	return c, nil
}

// list reads up to limit of the records before end from etcd.
func (r *Reader) list(ctx context.Context, s start, end string, limit int64) (storage.Page, error) {
	page, err := r.store.List(
		ctx, storage.Range{Prefix: s.prefix, From: s.from, End: end, Limit: limit, Revision: s.revision},
	)
	if err == nil {
		r.count(len(page.Records))
	}
	return page, err
}

// number is how many objects there are from the start on, before end. It reads at most one of them.
func (r *Reader) number(ctx context.Context, s start, end string) (int64, error) {
	page, err := r.list(ctx, s, end, 1)
	return int64(len(page.Records)) + page.Remaining, err
}

// objects decodes records, except those of which the objects are in memory.
func (r *Reader) objects(s start, records []storage.Record) []*storage.Object {
	earlier, later := r.kept.neighbours(s)
	all := make([]*storage.Object, len(records))
	for i, record := range records {
		records[i].Value = nil
		o := r.known(record.Key, record.ModRevision)
		for _, n := range []*neighbour{earlier, later} {
			if o == nil {
				if o = n.get(record.Key); o != nil && o.Revision != record.ModRevision {
					o = nil
				}
			}
		}
		if o == nil {
			o = r.decoder.Decode(record)
		}
		all[i] = o
	}
	return all
}

func (r *Reader) count(records int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Reads++
	r.counts.Records += int64(records)
}

// exists returns storage.ErrCompacted if etcd has compacted the place's revision. It reads no record.
func (r *Reader) exists(ctx context.Context, p place) error {
	_, err := r.store.List(ctx, storage.Range{Prefix: p.prefix + "\x00", Limit: 1, Revision: p.revision})
	return err
}
