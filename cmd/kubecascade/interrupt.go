package main

import (
	"context"
	"os"
	"os/signal"
	"time"
)

// echo is the time within which a second signal counts as a repetition of the first: timeout(1) sends a signal to the
// process and to its group, and a process gets a signal of the terminal again if its parent forwards it.
const echo = time.Second

// untilSignal returns a context that the first signal to end cancels. The second one ends the process at once.
func untilSignal(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 1)
	ends := endSignals()
	signal.Notify(signals, ends...)
	go func() {
		first := <-signals
		cancel()
		for again := time.After(echo); ; {
			select {
			case s := <-signals:
				if s == first {
					continue
				}
				os.Exit(1)
			case <-again:
				signal.Reset(ends...) // the next signal ends the process
				return
			}
		}
	}()
	return ctx
}
