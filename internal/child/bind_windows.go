package child

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"

	"golang.org/x/sys/windows"
)

// bind puts a process that was just started, and those that it starts from then on, into a job, whose processes the
// system ends when kubecascade is killed. release must be called when the process has ended; other processes in the job
// then continue, as on other systems.
func bind(p *os.Process) (release func() error, err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("job object: create: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, windows.CloseHandle(job))
		}
	}()
	if err = limitJob(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		return nil, err
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return nil, fmt.Errorf("job object: open the process: %w", err)
	}
	if err = errors.Join(windows.AssignProcessToJobObject(job, process), windows.CloseHandle(process)); err != nil {
		return nil, fmt.Errorf("job object: assign the process: %w", err)
	}
	return func() error { return errors.Join(limitJob(job, 0), windows.CloseHandle(job)) }, nil
}

// limitJob sets the limits of a job.
func limitJob(job windows.Handle, flags uint32) error {
	limits := &windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	value := reflect.ValueOf(limits)
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		value.Pointer(), uint32(value.Elem().Type().Size()))
	runtime.KeepAlive(limits)
	if err != nil {
		return fmt.Errorf("job object: set limits: %w", err)
	}
	return nil
}
