package audit

import (
	"bytes"
	"encoding/json"
)

// withoutManagedFields removes managedFields from the JSON of an object, of the items of a list, or of the objects in
// the rows of a Table (N-25). It returns other data unchanged.
func withoutManagedFields(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"managedFields"`)) {
		return data
	}
	return edited(data, map[string]edit{
		"metadata": omitManagedFields, "items": eachOf(withoutManagedFields),
		"rows": eachOf(func(row []byte) []byte { return edited(row, map[string]edit{"object": withoutManagedFields}) }),
	})
}

// edit returns the new JSON of a value, or nil to remove the value.
type edit func([]byte) []byte

func omitManagedFields(metadata []byte) []byte {
	return edited(metadata, map[string]edit{"managedFields": func([]byte) []byte { return nil }})
}

// edited applies edits, by member name, to the JSON of an object. It returns other data unchanged.
func edited(data []byte, by map[string]edit) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members == nil {
		return data
	}
	for name, edit := range by {
		value, ok := members[name]
		if !ok {
			continue
		}
		if members[name] = edit(value); members[name] == nil {
			delete(members, name)
		}
	}
	return encoded(members, data)
}

// eachOf returns an edit of an array that edits each of its elements.
func eachOf(one edit) edit {
	return func(data []byte) []byte {
		var elements []json.RawMessage
		if json.Unmarshal(data, &elements) != nil {
			return data
		}
		for i, e := range elements {
			elements[i] = one(e)
		}
		return encoded(elements, data)
	}
}

// encoded returns the JSON of value, or otherwise if value can't be encoded.
func encoded(value any, otherwise []byte) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return otherwise
	}
	return data
}
