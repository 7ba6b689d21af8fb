//go:build unix

package chaos

import (
	"os"
	"syscall"
)

// suspendProcess stops a process, which may have ended, until resumeProcess.
func suspendProcess(p *os.Process) { _ = p.Signal(syscall.SIGSTOP) }

// resumeProcess continues a stopped process, which may have ended.
func resumeProcess(p *os.Process) { _ = p.Signal(syscall.SIGCONT) }
