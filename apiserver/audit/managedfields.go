package audit

import (
	"bytes"
	"encoding/json"
)

// withoutManagedFields is the JSON of an object, a list or a Table without the managedFields of the object, of the
// items, or of the rows' objects (N-25). What is not such JSON stays as it is.
func withoutManagedFields(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"managedFields"`)) {
		return data
	}
	return edited(data, map[string]edit{
		"metadata": omitManagedFields, "items": eachOf(withoutManagedFields),
		"rows": eachOf(func(row []byte) []byte { return edited(row, map[string]edit{"object": withoutManagedFields}) }),
	})
}

// edit returns the new JSON of a value; nil removes it.
type edit func([]byte) []byte

func omitManagedFields(metadata []byte) []byte {
	return edited(metadata, map[string]edit{"managedFields": func([]byte) []byte { return nil }})
}

// edited is an object whose members of these names are edited.
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

// eachOf edits the elements of an array.
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

// encoded is the JSON of parts of valid JSON.
func encoded(value any, otherwise []byte) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		return otherwise
	}
	return data
}
