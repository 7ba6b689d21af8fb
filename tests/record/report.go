package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// warnings collects those of one request.
type warnings struct{ all []string }

func (w *warnings) AddWarning(_, text string) { w.all = append(w.all, text) }

// report prints the answer to a case.
func report(name string, err error, warnings []string) {
	if err == nil {
		fmt.Printf("%-34s OK warnings=%q\n", name, warnings)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		d := ""
		if st.Details != nil {
			b, _ := json.Marshal(st.Details)
			d = string(b)
		}
		fmt.Printf("%-34s %d %s | %s | %s\n", name, st.Code, st.Reason, mask(st.Message), mask(d))
		return
	}
	fmt.Printf("%-34s plain %T | %s\n", name, err, mask(err.Error()))
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// mask replaces what differs from run to run.
func mask(s string) string {
	return ports.ReplaceAllString(uids.ReplaceAllString(s, "<uid>"), "HOST")
}
