package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

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
