package event

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of correlation (client-go tools/record/events_cache.go).
const (
	// mostTexts an object has for one reason before they are combined, unless none came for combineFor.
	mostTexts  = 10
	combineFor = 10 * time.Minute
	// burst is how many Events an object may have at once; another one is granted every refill.
	burst  = 25
	refill = 5 * time.Minute
	// mostRemembered are kept of each kind of memory, at least; twice as many at most.
	mostRemembered = 2048
)

// Event is what is to be said of an object.
type Event struct {
	// Type is corev1.EventTypeNormal or EventTypeWarning.
	Type, Reason, Message string
}

// Correlator decides whether an Event is new, a repetition, or one too many. Its zero value has no memory.
// It belongs to one goroutine.
type Correlator struct {
	told    memory[string, *told]
	similar memory[similarity, *texts]
	tokens  memory[types.UID, *bucket]
}

// told is an Event that was sent.
type told struct {
	name  string
	first metav1.Time
	count int32
}

// similarity is what Events have in common that differ in their texts.
type similarity struct {
	uid                     types.UID
	component, kind, reason string
}

type texts struct {
	messages map[string]bool
	last     time.Time
}

type bucket struct {
	left float64
	at   time.Time
}

// Correlate returns the Event to send: a new one if its Count is 1, or else the state that the stored one of
// its name is to have; ok is false if it is one too many. serial tells Events of one moment apart.
func (c *Correlator) Correlate(component string, about corev1.ObjectReference, e Event, now time.Time, serial uint32) (out *corev1.Event, ok bool) {
	if c.combine(similarity{about.UID, component, e.Type, e.Reason}, e.Message, now) {
		e.Message = "(combined from similar events): " + e.Message
	}
	if !c.grant(about.UID, now) {
		return nil, false
	}
	key := fmt.Sprint(component, "\x00", about.UID, "\x00", e.Type, "\x00", e.Reason, "\x00", c.said(e.Message))
	known, ok := c.told.get(key)
	if !ok {
		known = &told{name: fmt.Sprintf("%s.%x", about.Name, now.UnixNano()+int64(serial)), first: metav1.NewTime(now)}
		c.told.put(key, known)
	}
	known.count++
	namespace := about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault // J-19
	}
	return &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Name: known.name, Namespace: namespace},
		InvolvedObject: about, Reason: e.Reason, Message: e.Message, Type: e.Type,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: known.first, LastTimestamp: metav1.NewTime(now), Count: known.count,
	}, true
}

// said is what tells Events with one reason apart: their text, unless they are combined.
func (c *Correlator) said(message string) string {
	const combined = "(combined from similar events): "
	if len(message) > len(combined) && message[:len(combined)] == combined {
		return combined
	}
	return message
}

// combine reports whether there have been too many texts for one reason.
func (c *Correlator) combine(s similarity, message string, now time.Time) bool {
	t, ok := c.similar.get(s)
	if !ok || now.Sub(t.last) > combineFor {
		t = &texts{messages: map[string]bool{}}
		c.similar.put(s, t)
	}
	t.last = now
	if !t.messages[message] && len(t.messages) >= mostTexts {
		return true
	}
	t.messages[message] = true
	return false
}

// grant takes a token, if there is one.
func (c *Correlator) grant(uid types.UID, now time.Time) bool {
	b, ok := c.tokens.get(uid)
	if !ok {
		b = &bucket{left: burst, at: now}
		c.tokens.put(uid, b)
	}
	b.left = min(burst, b.left+float64(now.Sub(b.at))/float64(refill))
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// memory is a map that forgets what was not asked for while many others were.
type memory[K comparable, V any] struct{ young, old map[K]V }

func (m *memory[K, V]) get(key K) (v V, ok bool) {
	if v, ok = m.young[key]; ok {
		return v, true
	}
	if v, ok = m.old[key]; ok {
		m.put(key, v)
	}
	return v, ok
}

func (m *memory[K, V]) put(key K, v V) {
	if m.young == nil || len(m.young) >= mostRemembered {
		m.young, m.old = map[K]V{}, m.young
	}
	m.young[key] = v
}
