package chaos

import (
	"os"

	"golang.org/x/sys/windows"
)

// The system has no documented calls for it; debuggers use these.
var (
	ntdll    = windows.NewLazySystemDLL("ntdll.dll")
	suspends = ntdll.NewProc("NtSuspendProcess")
	resumes  = ntdll.NewProc("NtResumeProcess")
)

// suspendProcess stops a process, which may have ended, until resumeProcess.
func suspendProcess(p *os.Process) { control(p, suspends) }

// resumeProcess continues a stopped process, which may have ended.
func resumeProcess(p *os.Process) { control(p, resumes) }

func control(p *os.Process, call *windows.LazyProc) {
	h, err := windows.OpenProcess(windows.PROCESS_SUSPEND_RESUME, false, uint32(p.Pid))
	if err != nil {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	_, _, _ = call.Call(uintptr(h))
}
