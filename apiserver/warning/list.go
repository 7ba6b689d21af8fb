package warning

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of 0-12, in runes.
const (
	// MaxRunes is the limit for all messages. The message that exceeds it is still sent, truncated to MaxEach.
	MaxRunes = 4096
	// MaxEach is the length to which each message is truncated if they don't fit.
	MaxEach = 256
)

// List is the list of messages of one request, in order. The zero value is empty; nil drops messages.
type List struct {
	messages []string
	seen     map[string]struct{}
	// least is the total length of the messages in runes if each is truncated to MaxEach.
	least int
}

// Add appends a message, unless it is empty, a duplicate, invalid in a header, or beyond the limit.
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

// Full reports whether no further message would be sent: even if truncated, the messages exceed the limit.
func (l *List) Full() bool { return l != nil && l.least > MaxRunes }

// Added returns all messages that were kept, without truncation.
func (l *List) Added() []string {
	if l == nil {
		return nil
	}
	return l.messages
}

// Sent returns the messages for the headers. They are complete if they fit. If not, all are truncated, including those
// before the limit, and the list ends at the limit.
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

// sendable reports whether a header can contain the message (apimachinery util/net: NewWarningHeader).
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
