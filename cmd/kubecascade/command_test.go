package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// command returns a program in the script's directory and environment, as far as they matter to it.
func command(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = ts.MkAbs(".")
	c.Env = os.Environ()
	for _, v := range []string{"HOME", "TMPDIR", "KUBECONFIG"} {
		c.Env = append(c.Env, v+"="+ts.Getenv(v))
	}
	return c
}

// run runs http or a program to its end, within the story's patience.
func run(ts *testscript.TestScript, args []string) (stdout, stderr string, err error) {
	if args[0] == "http" {
		r, err := newRequest(ts, args[1:])
		ts.Check(err)
		return r.do()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := command(ts, args[0], args[1:]...)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	if err := c.Start(); err != nil {
		return "", "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() }) // it may have ended
	defer stop()
	err = c.Wait()
	return o.String(), e.String(), err
}

// refused is "refused COMMAND": it must end with exit code 1 or 2, print nothing to standard output and
// an error to standard error.
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: refused COMMAND")
	}
	stdout, stderr, err := run(ts, args)
	fmt.Fprint(ts.Stdout(), stdout)
	fmt.Fprint(ts.Stderr(), stderr)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 2 || stdout != "" ||
		!strings.HasPrefix(stderr, "Error: ") {
		ts.Fatalf("%v", err)
	}
}

// until is "[!] until PATTERN COMMAND": it runs the command, http or a program, again and again
// until what it prints matches the pattern, or with ! doesn't match it; whether it fails doesn't matter.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] until PATTERN COMMAND")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.After(patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		stdout, stderr, err := run(ts, args[1:])
		if pattern.MatchString(stdout+stderr) != neg {
			fmt.Fprint(ts.Stdout(), stdout)
			fmt.Fprint(ts.Stderr(), stderr)
			return
		}
		select {
		case <-again.C:
		case <-deadline:
			ts.Fatalf("after %v it still prints (%v):\n%s%s", patience, err, stdout, stderr)
		}
	}
}

// capture is "capture NAME COMMAND": the line that the command, http or a program, prints becomes
// the value of a variable.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: capture NAME COMMAND")
	}
	stdout, stderr, err := run(ts, args[1:])
	if value := strings.TrimSpace(stdout); err == nil && value != "" {
		ts.Setenv(args[0], value)
		return
	}
	ts.Fatalf("%v\n%s%s", err, stdout, stderr)
}

// fill is "fill TEMPLATE FILE": it writes the template to the file with the variables replaced.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill TEMPLATE FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}

// cut is "cut FILE BYTES": it leaves so many bytes of the file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE BYTES")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// mode is "mode PERMISSIONS FILE...", in octal digits.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE...")
	}
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, file := range args[1:] {
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if have := info.Mode().Perm(); have != os.FileMode(want) {
			ts.Fatalf("%s has mode %o", file, have)
		}
	}
}

// kubectl is "[!] kubectl ARGS...", as exec kubectl.
func kubectl(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("kubectl", args...)
	var exit *exec.ExitError
	if (err != nil) != neg || neg && !errors.As(err, &exit) {
		ts.Fatalf("kubectl: %v", err)
	}
}

// empty is "empty DIRECTORY": there is nothing in it.
func empty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty DIRECTORY")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("there is %v", entries)
	}
}

// filler is "filler NAME BYTES": it makes the variable that long.
func filler(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: filler NAME BYTES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Setenv(args[0], strings.Repeat("x", n))
}

// passed is "passed REPORT": of a report on a server without a collector no case has passed that needs one. The
// others may be late on a busy machine, so they are run for themselves.
func passed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: passed REPORT")
	}
	var report struct {
		Results []struct{ Name, Needs, Outcome string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &report))
	if len(report.Results) < 100 {
		ts.Fatalf("there are only %d results", len(report.Results))
	}
	var wrong []string
	for _, r := range report.Results {
		if strings.Contains(r.Needs, "collector") && r.Outcome == "passed" {
			wrong = append(wrong, fmt.Sprintf("%s, which needs %q, has %s", r.Name, r.Needs, r.Outcome))
		}
	}
	if len(wrong) > 0 {
		ts.Fatalf("%s", strings.Join(wrong, "\n"))
	}
}

// code is "code N COMMAND ARGS...": as exec, but the exit code must be N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	have := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		have = exit.ExitCode()
	}
	if have != want {
		ts.Fatalf("exit code %d, not %d", have, want)
	}
}
