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

// action is what a step does.
type action string

const (
	// request sends a request and compares status, Content-Type, Warning headers and body.
	request action = "request"
	// wait sends a GET until its condition holds or its time is up, and compares the last answer.
	wait action = "wait"
	// watch compares the first events of a watch.
	watch action = "watch"
	// sleep waits for some seconds.
	sleep action = "sleep"
)

const (
	// admin is the user that a step speaks as unless it names another.
	admin = "admin"
	// anonymous is a user without credentials.
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

// step is a request with its recorded answer. Strings may have placeholders, ${ns} and those that steps save.
type step struct {
	Do   action
	Name string
	// As is the user.
	As      string
	Method  string
	Path    string
	Headers map[string]string
	// Body is sent as JSON, Raw as it is.
	Body json.RawMessage
	Raw  *string
	// Save has names and the paths in the answer's body of the values that get them.
	Save value
	// Compare is "status" if the body isn't compared.
	Compare string
	// Ignore are the ends of paths of fields that aren't compared (default: metadata.managedFields).
	Ignore *[]string
	Until  condition
	// Timeout bounds a wait (default: 30), and the time without an event of a watch (default: 10); Seconds are a
	// sleep's.
	Timeout, Seconds float64
	// Count is how many events are compared; a watch that ends before is compared as far as it came.
	Count int
	// Order is "any" if events are compared in the order of their objects' names.
	Order  string
	Expect value
}

// condition is what a wait waits for; all of it must hold.
type condition struct {
	// Status is the answer's code, 0 for any.
	Status int
	// Equals has paths in the body and the values there.
	Equals map[string]value
	// Count is the number of items.
	Count *int
}

// Load reads the scenarios of the files, which are named by their paths, whose path contains only.
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
	d.DisallowUnknownFields() // what isn't understood would not be compared
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
	document, _ := v.(object) // it has been decoded as one before
	return Scenario{name, content.Steps, document}, nil
}

// lacking returns the users that have no token, though the scenario needs one.
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

// recorded returns the file with other answers, one for each step; those of sleeps are nil.
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

// title is the step's name, or its request.
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

// limit is the step's timeout, or the default.
func (s *step) limit(otherwise time.Duration) time.Duration {
	if s.Timeout == 0 {
		return otherwise
	}
	return seconds(s.Timeout)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Paths returns the sorted paths of files.
func Paths(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
