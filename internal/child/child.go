package child

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// grace is the time in which a command must end after the server has ended. Then it is killed.
const grace = 10 * time.Second

// Exit codes of shells (POSIX, Shell Command Language, 2.8.2): for a command that was found but can't be executed, for
// one that is not found, and the base to which the number of the signal is added that ended a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignaled      = 128
)

// Child is a command that was not started yet, or runs.
type Child struct {
	// The caller may set the environment and the streams of Cmd before Run.
	Cmd *exec.Cmd
	// Shell reports whether it is a shell that the user didn't name.
	Shell bool
	abort context.CancelFunc
}

// New returns the command, or a shell if there are no arguments. It is terminated when ctx ends. The error, an
// ExitError, reports that the command is not found.
func New(ctx context.Context, args []string) (*Child, error) {
	k := &Child{Shell: len(args) == 0}
	if k.Shell {
		args = []string{userShell()}
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, notStarted(args[0], err)
	}
	ctx, k.abort = context.WithCancel(ctx)
	k.Cmd = exec.CommandContext(ctx, path, args[1:]...)
	k.Cmd.Args[0] = args[0]
	k.Cmd.SysProcAttr = attributes(k.Shell)
	k.Cmd.Cancel = func() error { return terminate(k.Cmd.Process, k.Shell) }
	k.Cmd.WaitDelay = grace
	return k, nil
}

// Run runs the command to its end, passes signals on to it, and ends it when ended is closed. The error has its exit
// code.
func (k *Child) Run(signals <-chan os.Signal, ended <-chan struct{}) error {
	defer k.abort()
	runtime.LockOSThread() // with attributes, the system ends the command when this thread ends
	defer runtime.UnlockOSThread()
	if err := k.Cmd.Start(); err != nil {
		return notStarted(k.Cmd.Args[0], err)
	}
	release, err := bind(k.Cmd.Process)
	if err != nil {
		k.abort()
		return errors.Join(err, k.Cmd.Wait())
	}
	defer func() { _ = release() }() // the command has ended
	done := make(chan error, 1)
	go func() { done <- k.Cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if passesOn(s) {
				_ = k.Cmd.Process.Signal(s) // it may have ended
			}
		case <-ended:
			ended = nil
			k.abort()
		case err := <-done:
			return exitOf(k.Cmd.ProcessState, err)
		}
	}
}

// ExitError has the exit code of a command, or that of a shell for one that did not run.
type ExitError struct {
	Code int
	// Err is nil if there is nothing to report but the code.
	Err error
}

// Error returns the wrapped error's message, or else the exit code.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the wrapped error, or nil.
func (e *ExitError) Unwrap() error { return e.Err }

// exitOf returns the error with the exit code of a process that ended, or nil if it is 0. err is the error of Wait, if
// the state is not known.
func exitOf(state *os.ProcessState, err error) error {
	if state == nil {
		return fmt.Errorf("waiting for the command: %w", err)
	}
	if w, ok := state.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return &ExitError{Code: exitSignaled + int(w.Signal())}
	}
	if code := state.ExitCode(); code != 0 {
		return &ExitError{Code: code}
	}
	return nil
}

// notStarted returns the error for a command that can't be started, with a shell's exit code.
func notStarted(name string, err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err // without the name
	}
	code := exitNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	return &ExitError{code, fmt.Errorf("starting %s: %w", name, err)}
}

// Signaled returns the exit code for the end by a signal.
func Signaled(s os.Signal) int {
	n, _ := s.(syscall.Signal) // all signals are of this type, on all systems
	return exitSignaled + int(n)
}

// inherited has the variables that would lead clients in the command to another server.
var inherited = []string{"KUBECONFIG", "KUBECASCADE_URL", "KUBECASCADE_INSECURE_URL", "KUBECACHEDIR",
	"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}

// Environment returns env for clients of a server; insecureURL may be empty.
//
// Clients in a pod find the API server by KUBERNETES_SERVICE_HOST and _PORT and authenticate with files whose paths are
// fixed (client-go rest/config.go: InClusterConfig). Such files, if there are any, belong to the cluster of the
// surrounding pod. Without the variables, clients use KUBECONFIG. kubectl's caches are keyed by address and valid for
// hours, but another server may have had the same port before.
func Environment(env []string, kubeconfig, url, insecureURL string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(inherited, func(i string) bool { return strings.EqualFold(i, name) }) // as on Windows
	})
	// A kubeconfig in temporary data is removed with it, and so are the caches beside it.
	env = append(env, "KUBECONFIG="+kubeconfig, "KUBECASCADE_URL="+url,
		"KUBECACHEDIR="+filepath.Join(filepath.Dir(kubeconfig), "kubectl"))
	if insecureURL != "" {
		env = append(env, "KUBECASCADE_INSECURE_URL="+insecureURL)
	}
	return env
}
