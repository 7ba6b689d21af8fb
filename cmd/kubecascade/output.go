package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// outputs are the reports that a command was asked for, each FORMAT or FORMAT=FILE.
type outputs []string

// check rejects formats that the command hasn't.
func (o outputs) check(formats ...string) error {
	for _, v := range o {
		if format, _, _ := strings.Cut(v, "="); !slices.Contains(formats, format) {
			return errUsage{fmt.Errorf("--output %q is not %s", v, strings.Join(formats, " or "))}
		}
	}
	return nil
}

// open makes the files that --output names, nil where it names none: before the run, which is in vain if it
// can't be reported.
func (o outputs) open() ([]*os.File, error) {
	files := make([]*os.File, len(o))
	for i, v := range o {
		_, name, toFile := strings.Cut(v, "=")
		if !toFile {
			continue
		}
		var err error
		if files[i], err = os.Create(name); err != nil {
			for _, f := range files[:i] {
				f.Close() // of a nil one it does nothing
			}
			return nil, errUsage{fmt.Errorf("--output %s: %w", v, err)}
		}
	}
	return files, nil
}

// write writes every format that was asked for, and text if none of them goes to standard output. One that
// can't be written doesn't keep the others from being written.
func (o outputs) write(stdout io.Writer, files []*os.File, formats map[string]func(io.Writer) error) error {
	var errs []error
	shown := false
	for i, v := range o {
		format, _, _ := strings.Cut(v, "=")
		if files[i] == nil {
			shown = true
			errs = append(errs, formats[format](stdout))
			continue
		}
		if err := errors.Join(formats[format](files[i]), files[i].Close()); err != nil {
			errs = append(errs, fmt.Errorf("--output %s: %w", v, err))
		}
	}
	if !shown {
		errs = append(errs, formats["text"](stdout))
	}
	return errors.Join(errs...)
}
