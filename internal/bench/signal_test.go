package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asBench has the test's binary be the bench.
const asBench = "KUBECASCADE_TEST_AS_BENCH"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		silentServer(os.Args[2:])
	case os.Getenv(asBench) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// silentServer stands for a server that accepts connections and never answers. It prints its process id to the
// standard error when it has accepted one.
func silentServer(args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:"+args[slices.Index(args, "--insecure-port")+1])
	if err != nil {
		panic(err)
	}
	var open []net.Conn // not closed by the garbage collector
	for {
		c, err := ln.Accept()
		if err != nil {
			panic(err)
		}
		open = append(open, c)
		fmt.Fprintln(os.Stderr, "accepted", os.Getpid(), len(open))
	}
}

// TestSignal: an interrupted bench ends, also while it waits for an answer, and so does the server that it has started.
func TestSignal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c := exec.CommandContext(ctx, self, "-binary", self, "-only", "start")
			c.Env = append(os.Environ(), asBench+"=1", "TMPDIR="+t.TempDir())
			out, err := c.StderrPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			server := 0
			lines := bufio.NewScanner(out)
			for server == 0 && lines.Scan() {
				_, _ = fmt.Sscanf(lines.Text(), "accepted %d", &server)
			}
			if server == 0 {
				t.Fatal("the server accepted no connection")
			}
			t.Cleanup(func() { _ = syscall.Kill(server, syscall.SIGKILL) })
			if err := c.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			err = c.Wait()
			var exit *exec.ExitError
			if ctx.Err() != nil || !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("the bench ended with %v, after %v", err, ctx.Err())
			}
			if err := syscall.Kill(server, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("the server still runs: %v", err)
			}
		})
	}
}

// TestNames: names may contain commas.
func TestNames(t *testing.T) {
	known := []string{"list", "list, Table", "get", "list, metadata only"}
	for list, want := range map[string][]string{
		"":                             nil,
		"get":                          {"get"},
		"list,get":                     {"list", "get"},
		"list, Table":                  {"list, Table"},
		"list,list, Table,get":         {"list", "list, Table", "get"},
		"get,list, metadata only,list": {"get", "list, metadata only", "list"},
	} {
		got, err := names(list, known)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", list, err, diff)
		}
	}
	for _, list := range []string{"other", "list, other", "get,", ",", "list, table"} {
		if got, err := names(list, known); err == nil {
			t.Errorf("%q: %q", list, got)
		}
	}
	for _, name := range append(batchNames(), groupNames()...) {
		if strings.HasPrefix(name, ",") || strings.HasSuffix(name, ",") {
			t.Errorf("%q can't be named", name)
		}
	}
}
