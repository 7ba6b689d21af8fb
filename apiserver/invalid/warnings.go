package invalid

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of 0-12, in runes.
const (
	// MaxWarningRunes is the limit of all messages. The message that exceeds it is still sent, but truncated to
	// MaxEachWarning.
	MaxWarningRunes = 4096
	// MaxEachWarning is the length to which each message is truncated if they don't fit.
	MaxEachWarning = 256
)

// Warnings are the messages of the Warning headers of one request, in order. The zero value is empty. A nil Warnings
// drops messages. It is not safe for concurrent use. Code that makes messages from a client's input must stop when Full
// returns true, so that its work is limited, too.
type Warnings struct {
	messages []string
	seen     map[string]struct{}
	// least is the total length of the messages in runes after each is truncated to MaxEachWarning.
	least int
}

// Add appends a message, unless it is empty, a duplicate, invalid in a header, or beyond the limit.
func (l *Warnings) Add(message string) {
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
	l.least += min(utf8.RuneCountInString(message), MaxEachWarning)
}

// Full reports whether no further message would be sent, because even the truncated messages exceed the limit.
func (l *Warnings) Full() bool { return l != nil && l.least > MaxWarningRunes }

// Added returns all kept messages without truncation.
func (l *Warnings) Added() []string {
	if l == nil {
		return nil
	}
	return l.messages
}

// Sent returns the messages for the headers. If they don't fit, all are truncated, and the list ends at the limit.
func (l *Warnings) Sent() []string {
	all := l.Added()
	fit := 0
	for runes := 0; fit < len(all); fit++ {
		if runes += utf8.RuneCountInString(all[fit]); runes > MaxWarningRunes {
			break
		}
	}
	if fit == len(all) {
		return slices.Clone(all)
	}
	var sent []string
	runes := 0
	for i, message := range all {
		if i > fit && runes >= MaxWarningRunes {
			break
		}
		message = firstRunes(message, MaxEachWarning)
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
