package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// action is the kind of a step.
type action string

const (
	// request sends a request and compares the status, Content-Type, Warning headers and body.
	request action = "request"
	// wait sends a GET until its condition holds or its timeout expires, and compares the last response.
	wait action = "wait"
	// watch compares the first events of a watch.
	watch action = "watch"
	// sleep waits for some seconds.
	sleep action = "sleep"
)

const (
	// admin is the user of a step that names no user.
	admin = "admin"
	// anonymous is the user without credentials.
	anonymous = "nobody"
)

// Scenario is a recorded file.
type Scenario struct {
	// Name is the file's path without its ending, such as scenarios/apply.
	Name  string
	steps []step
	// document is the whole file.
	document object
}

// step is a request with its recorded response. Strings may contain placeholders: ${ns}, and names that steps save.
type step struct {
	Do   action
	Name string
	// As is the user.
	As      string
	Method  string
	Path    string
	Headers map[string]string
	// Body is sent as JSON, Raw unchanged.
	Body json.RawMessage
	Raw  *string
	// Save maps names to the paths of values in the response's body.
	Save value
	// Compare is "status" if the body is not compared.
	Compare string
	// Ignore are the ends of the paths of fields that are not compared (default: metadata.managedFields).
	Ignore *[]string
	Until  condition
	// Timeout limits a wait (default: 30 s), and a watch's time without an event (default: 10 s). Seconds is the
	// duration of a sleep.
	Timeout, Seconds float64
	// Count is the number of events that are compared. If a watch ends earlier, its events so far are compared.
	Count int
	// Order is "any" if events are compared in the order of their objects' names.
	Order  string
	Expect value
}

// condition is the condition of a wait; all its fields must hold.
type condition struct {
	// Status is the response's code, or 0 for any.
	Status int
	// Equals maps paths in the body to their expected values.
	Equals map[string]value
	// Count is the number of items.
	Count *int
}

// Load reads the scenarios of the files whose path contains only. files maps paths to contents.
func Load(files map[string][]byte, only string) ([]Scenario, error) {
	var all []Scenario
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !strings.Contains(path, only) {
			continue
		}
		s, err := parse(strings.TrimSuffix(path, ".json"), files[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func parse(name string, file []byte) (Scenario, error) {
	var content struct{ Steps []step }
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields() // an unknown field would not be compared
	if err := d.Decode(&content); err != nil {
		return Scenario{}, err
	}
	for i, s := range content.Steps {
		if !slices.Contains([]action{request, wait, watch, sleep}, s.Do) {
			return Scenario{}, fmt.Errorf("step %d: the action %q is unknown", i, s.Do)
		}
	}
	v, err := decode(file)
	if err != nil {
		return Scenario{}, err
	}
	document, _ := v.(object) // Unmarshal above has checked that it is an object
	return Scenario{name, content.Steps, document}, nil
}

// lacking returns the users of the scenario that have no token.
func (s Scenario) lacking(tokens map[string]string) []string {
	var users []string
	for _, st := range s.steps {
		if st.As != "" && st.As != admin && st.As != anonymous && tokens[st.As] == "" {
			users = append(users, st.As)
		}
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// recorded returns the file with other responses, one for each step; nil for sleeps.
func (s Scenario) recorded(answers []any) ([]byte, error) {
	list, _ := find(s.document, "steps").([]any)
	steps := slices.Clone(list)
	for i, a := range answers {
		if o, ok := steps[i].(object); ok && a != nil {
			steps[i] = o.with("expect", a)
		}
	}
	flat, err := encode(s.document.with("steps", steps))
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := json.Indent(&file, flat, "", " "); err != nil {
		return nil, err
	}
	file.WriteByte('\n')
	return file.Bytes(), nil
}

// title returns the step's name, or its request.
func (s *step) title() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Method == "":
		return "GET " + s.Path
	}
	return s.Method + " " + s.Path
}

func (s *step) ignored() []string {
	if s.Ignore == nil {
		return []string{"metadata.managedFields"}
	}
	return *s.Ignore
}

// limit returns the step's timeout, or the default.
func (s *step) limit(otherwise time.Duration) time.Duration {
	if s.Timeout == 0 {
		return otherwise
	}
	return seconds(s.Timeout)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Paths returns the sorted paths of files.
func Paths(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
