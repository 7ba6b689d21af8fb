package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a story waits for an expected event. It bounds failures only: nothing
// waits that long in a test that passes.
const patience = 60 * time.Second

// process is a server in the background.
type process struct {
	cmd *exec.Cmd
	// ready is its first line.
	ready string
	// rest is what it printed after that, stderr what it logged, and err how it ended; all are for
	// after done is closed.
	rest, stderr bytes.Buffer
	err          error
	done         chan struct{}
}

// readyLine is the one line that serve prints; the plain port may be missing.
var readyLine = regexp.MustCompile(
	`^kubecascade \S+ ready in \d+ ms: (?:(http://\S+) )?(https://\S+), kubeconfig (.+)$`)

// serveBackground is "serve [as NAME] [FLAG...]": it starts a server on free ports, unless the
// flags say otherwise, and waits until it is ready. It sets $URL, $PORT, $SECURE_URL,
// $SECURE_PORT and $KUBECONFIG, with NAME_ in front if there is one; its line is standard output.
func serveBackground(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("a server that doesn't start is 'refused kubecascade serve ...'")
	}
	name, args := naming(args)
	p := start(ts, append([]string{"serve", "--insecure-port=-1", "--secure-port=0"}, args...))
	m := readyLine.FindStringSubmatch(p.ready)
	if m == nil {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
		ts.Fatalf("the server printed %q: %v\n%s", p.ready, p.err, &p.stderr)
	}
	of(ts).servers[name] = p
	fmt.Fprintln(ts.Stdout(), p.ready)
	prefix := ""
	if name != "" {
		prefix = name + "_"
	}
	ts.Setenv(prefix+"KUBECONFIG", m[3])
	for i, v := range []string{"", "SECURE_"} {
		u, err := url.Parse(m[i+1])
		ts.Check(err)
		ts.Setenv(prefix+v+"URL", m[i+1])
		ts.Setenv(prefix+v+"PORT", u.Port())
	}
}

// start starts kubecascade and waits for its first line, or its end. It is killed with the story.
func start(ts *testscript.TestScript, args []string) *process {
	p := &process{cmd: command(ts, "kubecascade", args...), done: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = receptive()
	out, err := p.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	ts.Defer(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
	})
	ready := make(chan string, 1)
	go func() {
		defer close(p.done)
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n') // at the end, a line that doesn't match
		ready <- strings.TrimSuffix(line, "\n")
		_, _ = lines.WriteTo(&p.rest) // the pipe ends with the process
		p.err = p.cmd.Wait()
	}()
	select {
	case p.ready = <-ready:
	case <-time.After(patience):
		ts.Fatalf("the server isn't ready after %v", patience)
	}
	return p
}

// naming takes "as NAME" off the front.
func naming(args []string) (string, []string) {
	if len(args) >= 2 && args[0] == "as" {
		return args[1], args[2:]
	}
	return "", args
}

func server(ts *testscript.TestScript, args []string) *process {
	name, rest := naming(args)
	p := of(ts).servers[name]
	if p == nil || len(rest) > 0 {
		ts.Fatalf("there is no server %q, or %q is too much", name, rest)
	}
	return p
}

// signalServer is "signal SIGNAL [as NAME]": it sends TERM, INT or KILL.
func signalServer(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}
	if neg || len(args) == 0 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal TERM|INT|KILL [as NAME]")
	}
	ts.Check(send(server(ts, args[1:]).cmd.Process, signals[args[0]]))
}

// exits is "[!] exits [as NAME]": it waits for the end of a server, whose log is standard error,
// and checks that its exit code is 0, or with ! another one or a signal.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	p := server(ts, args)
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("the server doesn't end")
	}
	fmt.Fprint(ts.Stderr(), p.stderr.String())
	if p.rest.Len() > 0 {
		ts.Fatalf("the server printed more than a line: %s", &p.rest)
	}
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) || (p.err != nil) != neg {
		ts.Fatalf("the server ended with: %v", p.err)
	}
	name, _ := naming(args)
	delete(of(ts).servers, name)
}

// shutdown is "shutdown [as NAME]": signal TERM, then exits.
func shutdown(ts *testscript.TestScript, neg bool, args []string) {
	signalServer(ts, false, append([]string{"TERM"}, args...))
	exits(ts, neg, args)
}
