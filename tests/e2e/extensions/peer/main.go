package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/kubecascade/kubecascade/tests/e2e/extensions/upstream"
)

func main() {
	dir := flag.String("data-dir", "", "an existing, empty directory")
	flag.Parse()
	if err := serve(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

// serve serves until it is interrupted.
func serve(dir string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	began := time.Now()
	config, stop, err := upstream.Start(quiet{}, dir, true)
	if err != nil {
		return err
	}
	defer stop()
	file := filepath.Join(dir, "kubeconfig")
	if err := upstream.WriteKubeconfig(config, file); err != nil {
		return err
	}
	fmt.Printf("ready in %d ms: %s, kubeconfig %s\n", time.Since(began).Milliseconds(), config.Host, file)
	<-ctx.Done()
	return nil
}

// quiet is a log that writes only errors.
type quiet struct{}

func (quiet) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "peer: "+format+"\n", args...)
}

func (quiet) Logf(string, ...any) {}

// Fatalf prints the error and ends the process, as the interface requires.
func (q quiet) Fatalf(format string, args ...any) {
	q.Errorf(format, args...)
	os.Exit(1)
}
