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

// broadcast is what the plain handler has in the place of watches: it passes on what is posted to all who listen,
// and stores nothing. How late that is on this machine no server can do better. Who doesn't listen fast enough
// holds up those who post.
type broadcast struct {
	mu sync.Mutex // guards listeners
	// listeners are who is sent lines, and whether they still are.
	listeners map[chan []byte]<-chan struct{}
}

// post sends the body to all, as a line of the size that an event has.
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

// listen sends the lines that there are, all at once.
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

// eventSize is about that of the events of fanOut.
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
