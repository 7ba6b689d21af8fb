package past

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// The bounds of one read from etcd, in records and in bytes of their JSON.
const (
	firstRecords = 500
	mostRecords  = 5000
	readBytes    = 1 << 20
	// reads is how many are under way at a time.
	reads = 4
)

// Options bound a Reader. Zero values mean the defaults.
type Options struct {
	// Bytes bounds the memory of the chunks that are kept (default 48 MiB).
	Bytes int64
	// Idle is how long a chunk is kept that isn't used (default one minute).
	Idle time.Duration
	// Ahead returns a key that has about n of the prefix's objects between from and itself; empty if there are fewer. It
	// bounds the keys that etcd has to count for one read. Any key is right, but a good one saves reads: the newest state
	// tells. Default: none.
	Ahead func(prefix, from string, n int) string
	// Known returns the object that was stored under the key at that mod revision, if it is in memory: as most objects
	// haven't changed since, they needn't be decoded, nor be in memory twice. Default: none.
	Known func(key string, rev int64) *storage.Object
}

// Reader reads past revisions and shares what it has read. Make one with New. Its methods may be called from any
// goroutine.
type Reader struct {
	store   storage.Store
	decoder *storage.Decoder
	ahead   func(prefix, from string, n int) string
	known   func(key string, rev int64) *storage.Object
	// turns has one element for each read that is under way.
	turns chan struct{}
	kept  *chunks
	// mu guards flights and counts.
	mu      sync.Mutex
	flights map[start]*flight
	counts  Counts
}

// Counts are what a Reader has asked of etcd since it was made.
type Counts struct {
	// Reads is how many times it asked for records, Records how many it was sent.
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

// flight is a read that is under way. done is closed when chunk and err are set.
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

// Held is how many bytes of memory the chunks take that are kept.
func (r *Reader) Held() int64 { return r.kept.held() }

// Counts returns what has been asked of etcd.
func (r *Reader) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// chunk reads the chunk that begins at s, or waits for the caller who is reading it already.
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
		if err := ctx.Err(); err != nil { // else only the other caller's context is done
			return nil, err
		}
	}
}

// fly carries out a flight. What a panic leaves behind is an error to those who wait.
func (r *Reader) fly(ctx context.Context, s start, want int, f *flight) {
	f.err = storage.ErrUnavailable
	defer func() {
		r.mu.Lock()
		delete(r.flights, s)
		r.mu.Unlock()
		close(f.done)
	}()
	if f.chunk = r.kept.find(s); f.chunk != nil { // it was read since the caller looked
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

// records is how many a read asks for. Nothing is known of the first one's size; those that follow it ask for more
// than one page, as counting the rest is most of their cost.
func (r *Reader) records(p place, want int) int64 {
	average := r.kept.average(p)
	if average == 0 {
		return int64(min(max(want, 1), firstRecords))
	}
	return min(max(readBytes/average, 1), mostRecords)
}

// read asks etcd and keeps the answer.
func (r *Reader) read(ctx context.Context, s start, limit int64) (*chunk, error) {
	// What follows the chunk needn't be counted if that is known of the one before it.
	rest, known := r.kept.remaining(s)
	end := ""
	if known {
		end = r.ahead(s.prefix, s.from, int(limit))
	}
	if end <= s.from || !strings.HasPrefix(end, s.prefix) {
		end = ""
	}
	page, err := r.store.List(ctx, storage.Range{Prefix: s.prefix, From: s.from, End: end, Limit: limit, Revision: s.revision})
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

// exists returns storage.ErrCompacted if etcd has forgotten the place's revision. It reads no record.
func (r *Reader) exists(ctx context.Context, p place) error {
	_, err := r.store.List(ctx, storage.Range{Prefix: p.prefix + "\x00", Limit: 1, Revision: p.revision})
	return err
}
