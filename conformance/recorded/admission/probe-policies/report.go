package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// warnings collects those of one request.
type warnings struct{ all []string }

func (w *warnings) AddWarning(_, text string) { w.all = append(w.all, text) }

// report prints the answer to a case: the object up to its spec, or all of it if the case's name has the word spec.
func report(name string, err error, warnings []string, annotations map[string]string, obj runtime.Object) {
	extra := ""
	if len(warnings) > 0 {
		extra += fmt.Sprintf(" warnings=%q", warnings)
	}
	if len(annotations) > 0 {
		b, _ := json.Marshal(annotations)
		extra += " audit=" + string(b)
	}
	if err == nil {
		b, _ := json.Marshal(obj)
		s := string(b)
		if i := strings.Index(s, `,"spec"`); i > 0 && !strings.Contains(name, "spec") {
			s = s[:i]
		}
		fmt.Printf("%-30s OK%s %s\n", name, extra, s)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		b, _ := json.Marshal(st.Details)
		fmt.Printf("%-30s %d %s | %s | %s%s\n", name, st.Code, st.Reason, st.Message, b, extra)
		return
	}
	fmt.Printf("%-30s plain %T %v%s\n", name, err, err, extra)
}
