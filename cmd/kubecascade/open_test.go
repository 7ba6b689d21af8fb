package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// opened is a request in flight.
type opened struct {
	*request
	// release sends the held body; done is closed after the end of the response.
	release, done chan struct{}
	// body and header are the response and err is its error, after done.
	body, header string
	err          error
	// so is the part of the response that has arrived so far.
	so progress
}

// openRequest is "open NAME ..." with the rest as of http: it sends a request and returns while it is in flight. One
// with a body is held where the server waits for the body; another, a watch, where its headers have arrived. finish
// gets the response.
func openRequest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: open NAME [FLAG...] METHOD URL [BODY]")
	}
	r, err := newRequest(ts, args[1:])
	ts.Check(err)
	o := &opened{request: r, release: make(chan struct{}), done: make(chan struct{})}
	inFlight := make(chan struct{})
	waits := r.body != nil
	if waits {
		r.header.Set("Expect", "100-continue")
		r.body = &held{r: r.body, release: o.release}
	}
	req, err := http.NewRequest(r.method, r.url, r.body)
	ts.Check(err)
	trace := &httptrace.ClientTrace{Got100Continue: func() { close(inFlight) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	req.Header = r.header
	go func() {
		defer close(o.done)
		res, err := r.client.Do(req)
		if err != nil {
			o.err = err
			return
		}
		if !waits {
			close(inFlight)
		}
		res.Body = tee{io.TeeReader(res.Body, &o.so), res.Body}
		o.body, o.header, o.err = r.read(res)
	}()
	select {
	case <-inFlight:
		of(ts).requests[args[0]] = o
	case <-o.done:
		ts.Fatalf("%s %s has ended already: %v\n%s%s", r.method, r.url, o.err, o.header, o.body)
	case <-time.After(patience):
		ts.Fatalf("%s %s isn't served", r.method, r.url)
	}
}

// progress collects the received bytes and signals when there are more.
type progress struct {
	// mu guards the rest.
	mu   sync.Mutex
	data []byte
	more chan struct{}
}

func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data = append(p.data, b...)
	if p.more != nil {
		close(p.more)
		p.more = nil
	}
	return len(b), nil
}

// look returns what has arrived and a channel that is closed when there is more.
func (p *progress) look() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more == nil {
		p.more = make(chan struct{})
	}
	return string(p.data), p.more
}

// tee is a body that is read through a TeeReader.
type tee struct {
	io.Reader
	io.Closer
}

// sees is "sees NAME PATTERN": it waits until the response to an open request, a watch, matches the pattern.
func sees(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || of(ts).requests[args[0]] == nil {
		ts.Fatalf("usage: sees NAME PATTERN, of an open request")
	}
	o := of(ts).requests[args[0]]
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	deadline := time.After(patience)
	for {
		so, more := o.so.look()
		if pattern.MatchString(so) {
			return
		}
		select {
		case <-more:
		case <-o.done:
			if so, _ = o.so.look(); pattern.MatchString(so) {
				return
			}
			ts.Fatalf("it ended: %v\n%s%s", o.err, o.header, o.body)
		case <-deadline:
			ts.Fatalf("after %v it has only received\n%s", patience, so)
		}
	}
}

// held is a body that isn't read before it is released.
type held struct {
	r       io.Reader
	release <-chan struct{}
}

func (h *held) Read(p []byte) (int, error) {
	<-h.release
	return h.r.Read(p)
}

// finishRequest is "[!] finish NAME": it sends the held body, waits for the end of the response, and prints and fails
// as http does.
func finishRequest(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || of(ts).requests[args[0]] == nil {
		ts.Fatalf("usage: finish NAME, of an open request")
	}
	o := of(ts).requests[args[0]]
	delete(of(ts).requests, args[0])
	close(o.release)
	<-o.done // bounded by the client's timeout
	fmt.Fprint(ts.Stdout(), o.body)
	fmt.Fprint(ts.Stderr(), o.header)
	if (o.err != nil) != neg {
		ts.Fatalf("%s %s: %v", o.method, o.url, o.err)
	}
}
