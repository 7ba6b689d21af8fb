package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
)

// broadcast replaces watches in the plain handler: it forwards posted bodies to all listeners, and stores nothing. Its
// latency is the minimum for this machine. A slow listener delays the posts.
type broadcast struct {
	mu sync.Mutex // guards listeners
	// listeners has the channel of each listener, with a channel that is closed when it is gone.
	listeners map[chan []byte]<-chan struct{}
}

// post sends the body to all listeners, as a line of the size of an event.
func (b *broadcast) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	line := append(bytes.Join([][]byte{body, bytes.Repeat([]byte{' '}, max(0, eventSize-1-len(body)))}, nil), '\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	for c, gone := range b.listeners {
		select {
		case c <- line:
		case <-gone:
			delete(b.listeners, c)
		}
	}
	w.WriteHeader(http.StatusCreated)
}

// listen sends the pending lines together.
func (b *broadcast) listen(w http.ResponseWriter, r *http.Request) {
	c := make(chan []byte, 1024)
	b.mu.Lock()
	b.listeners[c] = r.Context().Done()
	b.mu.Unlock()
	out := http.NewResponseController(w)
	for err := out.Flush(); err == nil; err = out.Flush() {
		select {
		case line := <-c:
			for more := true; more && err == nil; {
				_, err = w.Write(line)
				select {
				case line = <-c:
				default:
					more = false
				}
			}
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// eventSize is about the size of fanOut's events.
const eventSize = 464

// broadcastRow is fanOut's case with the plain handler.
func (b *bench) broadcastRow(ctx context.Context, c fan, writes int) (rows []row) {
	err := b.plain(ctx, func(t *target) error {
		m, _, err := t.fanned(ctx, c, writes, "/feed", "/feed", "p")
		if err == nil {
			rows = append(rows, m.row("the same by a plain handler"))
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "measuring a limit:", err)
	}
	return rows
}
