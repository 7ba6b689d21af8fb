package objectmeta

import (
	"time"
	"unicode/utf8"
)

// Canonical reports whether the metadata of an unstructured object stays as it is if it is decoded as an ObjectMeta and
// encoded again. It returns false for some that would stay, too: those with numbers that are not int64, for one.
func Canonical(metadata any) bool {
	m, ok := metadata.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range m {
		if !canonicalField(name, v) {
			return false
		}
	}
	return true
}

func canonicalField(name string, v any) bool {
	switch name {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return filled(v)
	case "generation":
		n, ok := v.(int64)
		return ok && n != 0
	case "deletionGracePeriodSeconds":
		_, ok := v.(int64)
		return ok
	case "creationTimestamp", "deletionTimestamp":
		return canonicalTime(v)
	case "labels", "annotations":
		m, ok := v.(map[string]any)
		for k, v := range m {
			if !utf8.ValidString(k) || !isText(v) {
				return false
			}
		}
		return ok && len(m) > 0
	case "finalizers":
		return each(v, isText)
	case "ownerReferences":
		return each(v, canonicalOwner)
	case "managedFields":
		return each(v, canonicalEntry)
	}
	return false
}

// each reports whether v is a list, not empty, and all its items are as they should be.
func each(v any, check func(any) bool) bool {
	list, ok := v.([]any)
	for _, item := range list {
		if !check(item) {
			return false
		}
	}
	return ok && len(list) > 0
}

// isText reports whether v is a string that JSON can have.
func isText(v any) bool {
	s, ok := v.(string)
	return ok && utf8.ValidString(s)
}

// filled is isText for fields that are omitted if they are empty.
func filled(v any) bool { return isText(v) && v != "" }

// canonicalTime reports whether v is a time in UTC without fractions of seconds. The zero time is encoded as null.
func canonicalTime(v any) bool {
	s, ok := v.(string)
	if !ok || len(s) != len("2006-01-02T15:04:05Z") || s[len(s)-1] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339, s)
	var b [len("2006-01-02T15:04:05Z")]byte
	return err == nil && !t.IsZero() && string(t.AppendFormat(b[:0], time.RFC3339)) == s // Parse accepts other forms
}

func canonicalOwner(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	always := 0
	for name, v := range m {
		switch name {
		case "apiVersion", "kind", "name", "uid": // these are not omitted
			if always++; !isText(v) {
				return false
			}
		case "controller", "blockOwnerDeletion":
			if _, ok := v.(bool); !ok {
				return false
			}
		default:
			return false
		}
	}
	return always == 4
}

func canonicalEntry(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range m {
		switch name {
		case "manager", "operation", "apiVersion", "fieldsType", "subresource":
			ok = filled(v)
		case "time":
			ok = canonicalTime(v)
		case "fieldsV1":
			ok = fieldSet(v, 0)
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// deepest is how deep a set of fields is followed.
const deepest = 500

// fieldSet reports whether v consists of objects only, as the sets of field managers do.
func fieldSet(v any, depth int) bool {
	m, ok := v.(map[string]any)
	if !ok || depth > deepest {
		return false
	}
	for k, v := range m {
		if !utf8.ValidString(k) || !fieldSet(v, depth+1) {
			return false
		}
	}
	return true
}
