package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// outputs are the values of --output, each FORMAT or FORMAT=FILE.
type outputs []string

// check rejects unsupported formats.
func (o outputs) check(formats ...string) error {
	for _, v := range o {
		if format, _, _ := strings.Cut(v, "="); !slices.Contains(formats, format) {
			return errUsage{fmt.Errorf("--output %q is not %s", v, strings.Join(formats, " or "))}
		}
	}
	return nil
}

// outputFlag declares --output of a command with one answer, in one of the formats. The first is the default.
func outputFlag(c *cobra.Command, format *string, formats ...string) {
	c.Flags().StringVarP(format, "output", "o", formats[0], "format of the answer: "+strings.Join(formats, ", "))
	offer(c, "output", fixed(formats...))
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(formats, *format) {
			return errUsage{fmt.Errorf("--output %q is not %s", *format, strings.Join(formats, " or "))}
		}
		return run(c, args)
	}
}

// open creates the files of --output, nil for values without one. It is called before the run, so that no run is lost
// because its report can't be written.
func (o outputs) open() ([]*os.File, error) {
	files := make([]*os.File, len(o))
	for i, v := range o {
		if _, name, toFile := strings.Cut(v, "="); toFile {
			var err error
			if files[i], err = os.Create(name); err != nil {
				return nil, errUsage{fmt.Errorf("--output %s: %w", v, err)}
			}
		}
	}
	return files, nil
}

// write writes every requested format, and text if none of them goes to standard output. An error with one doesn't
// prevent the others.
func (o outputs) write(stdout io.Writer, files []*os.File, formats map[string]func(io.Writer) error) error {
	var errs []error
	for i, v := range o {
		format, _, toFile := strings.Cut(v, "=")
		if !toFile {
			errs = append(errs, formats[format](stdout))
		} else if err := errors.Join(formats[format](files[i]), files[i].Close()); err != nil {
			errs = append(errs, fmt.Errorf("--output %s: %w", v, err))
		}
	}
	if !slices.Contains(files, nil) {
		errs = append(errs, formats["text"](stdout))
	}
	return errors.Join(errs...)
}

// style returns the style of answers on an output: with the width and the colours of a terminal, if it is one.
func style(w io.Writer) explain.Style {
	s := explain.Style{Now: time.Now()}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Color = colored(os.Getenv)
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = width
	}
	return s
}

// colored reports whether the environment lets a terminal have colours: an empty NO_COLOR counts as unset
// (no-color.org).
func colored(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }
