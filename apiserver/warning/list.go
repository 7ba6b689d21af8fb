package warning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of 0-12, in runes.
const (
	// MaxRunes is how much is sent in all. The message that exceeds it is still sent, cut to MaxEach.
	MaxRunes = 4096
	// MaxEach is how much of each message is sent if they don't fit whole.
	MaxEach = 256
)

// List is the messages of one request, in order. The zero value is empty; nil takes messages and drops them.
type List struct {
	messages []string
	seen     map[string]struct{}
	// least is how many runes the messages have when each is cut to MaxEach.
	least int
}

// Add appends a message, unless it is empty, there already, can't be sent, or would not be sent any more.
func (l *List) Add(message string) {
	if l == nil || message == "" || l.Full() || !sendable(message) {
		return
	}
	if _, there := l.seen[message]; there {
		return
	}
	if l.seen == nil {
		l.seen = map[string]struct{}{}
	}
	l.seen[message] = struct{}{}
	l.messages = append(l.messages, message)
	l.least += min(utf8.RuneCountInString(message), MaxEach)
}

// Full reports whether no further message would be sent: even cut, those that are there exceed the bound.
func (l *List) Full() bool { return l != nil && l.least > MaxRunes }

// Added returns all messages that were kept, whole.
func (l *List) Added() []string {
	if l == nil {
		return nil
	}
	return l.messages
}

// Sent returns the messages as they are sent. As long as they fit they are whole. From the first on that does not fit,
// all are cut, those before it too, and end when the bound is reached.
func (l *List) Sent() []string {
	all := l.Added()
	fit := 0
	for runes := 0; fit < len(all); fit++ {
		if runes += utf8.RuneCountInString(all[fit]); runes > MaxRunes {
			break
		}
	}
	if fit == len(all) {
		return slices.Clone(all)
	}
	var sent []string
	runes := 0
	for i, message := range all {
		if i > fit && runes >= MaxRunes {
			break
		}
		message = firstRunes(message, MaxEach)
		runes += utf8.RuneCountInString(message)
		sent = append(sent, message)
	}
	return sent
}

// sendable reports whether a header can hold the message (apimachinery util/net: NewWarningHeader).
func sendable(message string) bool {
	return utf8.ValidString(message) && !strings.ContainsFunc(message, unicode.IsControl)
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
