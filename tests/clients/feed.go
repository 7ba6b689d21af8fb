package main

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// stream is a watch of the server that begins with initial events.
type stream struct {
	body   io.Closer
	framer runtime.Framer
	frames io.Reader
	// raw is what was received, compressed if the server compresses.
	raw bytes.Buffer
	// frame is the last one.
	frame []byte
}

func newStream(res *http.Response) (*stream, error) {
	s := &stream{body: res.Body, framer: json.Framer, frame: make([]byte, 1<<20)}
	if strings.Contains(res.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
		s.framer = protobuf.LengthDelimitedFramer
	}
	var events io.Reader = io.TeeReader(res.Body, &s.raw)
	if isGzip(res.Header) {
		z, err := gzip.NewReader(events)
		if err != nil {
			return nil, err
		}
		events = z
	}
	s.frames = s.framer.NewFrameReader(io.NopCloser(events))
	return s, nil
}

func isGzip(h http.Header) bool { return h.Get("Content-Encoding") == "gzip" }

// next returns the next event without its framing. It is valid until the one after it.
func (s *stream) next() ([]byte, error) {
	n, err := s.frames.Read(s.frame)
	return s.frame[:n], err
}

// pass reads the initial events up to the bookmark that ends them.
func (s *stream) pass() error {
	for {
		event, err := s.next()
		if err != nil {
			return fmt.Errorf("initial events: %w", err)
		}
		if bytes.Contains(event, []byte(metav1.InitialEventsAnnotationKey)) {
			return nil
		}
	}
}

// framed returns an event as it is in the server's stream before compression.
func (s *stream) framed(event []byte) ([]byte, error) {
	var b bytes.Buffer
	_, err := s.framer.NewFrameWriter(&b).Write(event)
	if s.framer == json.Framer {
		b.WriteByte('\n')
	}
	return b.Bytes(), err
}

// feed sends an event for each write of a fan-out to all watches of one form: the server's event for the first write,
// with another name and the time of the write, which have the same length in all events. As the server does, it
// compresses each event once, into blocks of DEFLATE that refer to nothing before them and end at a byte.
type feed struct {
	// uri and header are those of the first watch.
	uri    string
	header http.Header

	mu sync.Mutex // guards the rest
	// event is the server's event; nil before there is one. name and sent are where they are in it.
	event      []byte
	name, sent int
	count      int
	// z compresses to packed; nil if the streams are not compressed.
	z      *flate.Writer
	packed bytes.Buffer
	open   []*listener
}

// join adds a watch until leave is called.
func (f *feed) join() (l *listener, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l = &listener{more: make(chan struct{}, 1)}
	f.open = append(f.open, l)
	return l, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open = slices.DeleteFunc(f.open, func(o *listener) bool { return o == l })
	}
}

// eventNames are the names that the server generates for the objects of a fan-out.
var eventNames = regexp.MustCompile(eventPrefix + `[a-z0-9]{5}`)

// record has the server make the object, with a watch of it, and keeps the event. mu is held.
func (f *feed) record(p *recorder, r *http.Request, body []byte) error {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	res, err := p.pass(ctx, http.MethodGet, f.uri, f.header, nil)
	if err != nil {
		return err
	}
	s, err := newStream(res)
	if err != nil {
		return errors.Join(err, res.Body.Close())
	}
	defer s.body.Close()
	if err := s.pass(); err != nil {
		return err
	}
	if _, err := p.ask(r, http.MethodPost, r.URL.RequestURI(), r.Header, body); err != nil {
		return err
	}
	event, err := s.next()
	if err != nil {
		return fmt.Errorf("the event of %s: %w", r.URL, err)
	}
	if event, err = s.framed(event); err != nil {
		return err
	}
	name, sent := eventNames.FindIndex(event), bytes.Index(event, []byte(sentMark))
	if name == nil || sent < 0 {
		return fmt.Errorf("the event of %s has no name or time: %q", r.URL, event)
	}
	f.event, f.name, f.sent = event, name[0]+len(eventPrefix), sent
	if isGzip(res.Header) {
		f.z, err = flate.NewWriter(&f.packed, flate.BestSpeed)
	}
	return err
}

// publish sends the event of a write to all watches.
func (f *feed) publish(p *recorder, r *http.Request, body []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.event == nil {
		if err := f.record(p, r, body); err != nil {
			return err
		}
	}
	copy(f.event[f.name:], fmt.Sprintf("%05d", f.count%100000))
	copy(f.event[f.sent:], body[bytes.Index(body, []byte(sentMark)):][:sentLength])
	f.count++
	out := f.event
	if f.z != nil {
		f.packed.Reset()
		f.z.Reset(&f.packed)
		_, err := f.z.Write(f.event)
		if err := errors.Join(err, f.z.Flush()); err != nil {
			return err
		}
		out = f.packed.Bytes()
	}
	for _, l := range f.open {
		l.add(out)
	}
	return nil
}

// listener is a watch of a feed.
type listener struct {
	mu      sync.Mutex // guards pending
	pending []byte
	// more has an element if there is something pending.
	more chan struct{}
}

func (l *listener) add(event []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, event...)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// forward sends what is pending, all at once, until the client has gone.
func (l *listener) forward(ctx context.Context, w http.ResponseWriter) {
	c := http.NewResponseController(w)
	for out := []byte(nil); ; {
		if c.Flush() != nil {
			return
		}
		select {
		case <-l.more:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		out, l.pending = l.pending, out[:0]
		l.mu.Unlock()
		if _, err := w.Write(out); err != nil {
			return
		}
	}
}
