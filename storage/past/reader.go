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
	// Bytes limits the memory of the chunks (default 48 MiB).
	Bytes int64
	// Idle is how long an unused chunk is kept (default one minute).
	Idle time.Duration
	// Ahead returns a key that has about n of the prefix's objects between from and itself; empty if there are fewer.
	// It limits the keys that etcd has to count for one read. Any key is correct, but a good one, estimated from the
	// newest state, saves reads. Default: none.
	Ahead func(prefix, from string, n int) string
	// Known returns the object that was stored under the key at that mod revision, if it is in memory. Most objects
	// haven't changed since; they needn't be decoded, nor be in memory twice. Default: none.
	Known func(key string, rev int64) *storage.Object
}

// Reader reads past revisions and shares what it has read. Make one with New. Its methods may be called from any
// goroutine.
type Reader struct {
	store   storage.Store
	decoder *storage.Decoder
	ahead   func(prefix, from string, n int) string
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
		o.Bytes = 48 << 20
	}
	if o.Idle <= 0 {
		o.Idle = time.Minute
	}
	if o.Ahead == nil {
		o.Ahead = func(string, string, int) string { return "" }
	}
	if o.Known == nil {
		o.Known = func(string, int64) *storage.Object { return nil }
	}
	return &Reader{store: store, decoder: decoder, ahead: o.Ahead, known: o.Known, turns: make(chan struct{}, reads),
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

// chunk reads the chunk that begins at s, or waits for the caller that is already reading it.
func (r *Reader) chunk(ctx context.Context, s start, want int) (*chunk, error) {
	for {
		r.mu.Lock()
		f := r.flights[s]
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
		if !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return f.chunk, f.err
		}
		if err := ctx.Err(); err != nil { // otherwise only the other caller's context is done
			return nil, err
		}
	}
}

// fly carries out a flight. If it panics, the waiting callers get an error.
func (r *Reader) fly(ctx context.Context, s start, want int, f *flight) {
	f.err = storage.ErrUnavailable
	defer func() {
		r.mu.Lock()
		delete(r.flights, s)
		r.mu.Unlock()
		close(f.done)
	}()
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
	f.chunk, f.err = r.read(ctx, s, r.records(s.place, want))
}

// records is how many records a read requests. The size of the first one is unknown. Those that follow it request more
// than one page, as counting the rest is most of their cost.
func (r *Reader) records(p place, want int) int64 {
	average := r.kept.average(p)
	if average == 0 {
		return int64(min(max(want, 1), firstRecords))
	}
	return min(max(readBytes/average, 1), mostRecords)
}

// read reads from etcd and keeps the chunk.
func (r *Reader) read(ctx context.Context, s start, limit int64) (*chunk, error) {
	// etcd needn't count what follows the chunk if the chunk before it knows.
	rest, known := r.kept.remaining(s)
	end := ""
	if known {
		end = r.ahead(s.prefix, s.from, int(limit))
	}
	if end <= s.from || !strings.HasPrefix(end, s.prefix) {
		end = ""
	}
	page, err := r.store.List(
		ctx, storage.Range{Prefix: s.prefix, From: s.from, End: end, Limit: limit, Revision: s.revision},
	)
	if err != nil {
		return nil, err
	}
	r.count(len(page.Records))
	c := &chunk{start: s, next: end, after: page.Remaining, objects: make([]*storage.Object, len(page.Records))}
	if end != "" {
		c.after = rest - int64(len(page.Records))
	}
	for i, record := range page.Records {
		page.Records[i].Value = nil
		o := r.known(record.Key, record.ModRevision)
		if o == nil {
			o = r.decoder.Decode(record)
		}
		c.objects[i] = o
		c.json += int64(len(o.JSON))
		if page.More {
			c.next = o.Key + "\x00"
		}
	}
	r.kept.add(c)
	return c, nil
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
