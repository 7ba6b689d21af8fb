package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// documents are seeds: valid and broken ones of every kind of token.
var documents = []string{
	`{}`, `[]`, ` [ ] `, `{"a":1,"b":[true,false,null],"c":{"d":"e"}}`, `"x"`, `0`, `-0`, `1.5e-3`, `1E+2`, `null`, `true`,
	`false`,
	`{"a":1,"a":2}`, `{"\u0061":"\ud83d\ude00\ud800\n\/"}`, "\"\xff\xed\xa0\x80\"", "\"é\u2028\x7f\"",
	`[1e999999999,123456789012345678901234567890]`,
	``, ` `, `{`, `[`, `"`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{1:2}`,
	`{a:1}`, `{}x`, `[]]`, `{}{}`,
	`01`, `-`, `1.`, `.5`, `1e`, `+1`, `tru`, `nulll`, `NaN`, "\"a\nb\"", "\"\x00\"", `"\x"`, `"\u12"`, `"\`, "\ufeff{}",
	"[1]\x00", `'a'`, `{"a":1]`, `[1}`,
	`{"a":"}{][,:\"\\"}`, `"\\\\\""`,
}

func TestScannerEqualsEncodingJSON(t *testing.T) {
	for _, d := range documents {
		compare(t, []byte(d))
	}
}

func FuzzScanner(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(d))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data) })
}

// compare compares with encoding/json: what is valid, the tokens, and the punctuation.
func compare(t *testing.T, data []byte) {
	t.Helper()
	s := New(data)
	s.Skip()
	valid := json.Valid(data)
	if s.Done() != valid {
		t.Fatalf("%q: valid is %v, want %v (%v)", data, s.Done(), valid, s.Err())
	}
	again := New(data)
	got := tokens(nil, &again)
	if again.Done() != valid {
		t.Fatalf("%q: read by its values valid is %v, want %v (%v)", data, again.Done(), valid, again.Err())
	}
	if !valid {
		for range Marks(data) { // ends
		}
		return
	}
	if want := reference(t, data); !slices.Equal(got, want) {
		t.Fatalf("%q: tokens\n%q, want\n%q", data, got, want)
	}
	compareMarks(t, data)
}

// tokens reads a value by all methods of the scanner: brackets, names and strings with a quote before them, and
// literals as they are written.
func tokens(to []string, s *Scanner) []string {
	switch c := s.Peek(); c {
	case '{':
		if !s.Open('{') {
			return to
		}
		to = append(to, "{")
		for first := true; ; first = false {
			name, at, ok := s.Key(first)
			if !ok {
				return append(to, "}")
			}
			if s.data[at] != '"' {
				panic(fmt.Sprintf("a name is at %d", at))
			}
			to = tokens(append(to, `"`+name.Value()), s)
		}
	case '[':
		if !s.Open('[') {
			return to
		}
		to = append(to, "[")
		for first := true; s.More(first, ']'); first = false {
			to = tokens(to, s)
		}
		return append(to, "]")
	case '"':
		return append(to, `"`+s.ReadString().Value())
	}
	at := s.Offset()
	s.Skip()
	return append(to, string(s.From(at)))
}

// reference is tokens by encoding/json.
func reference(t *testing.T, data []byte) (to []string) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		v, err := d.Token()
		if err != nil {
			return to
		}
		switch v := v.(type) {
		case json.Delim, json.Number, bool:
			to = append(to, fmt.Sprint(v))
		case string:
			to = append(to, `"`+v)
		case nil:
			to = append(to, "null")
		default:
			t.Fatalf("a token is a %T", v)
		}
	}
}

// compareMarks compares with the bytes that stand outside of strings by a count of quotes.
func compareMarks(t *testing.T, data []byte) {
	t.Helper()
	var got, want []int
	for i, c := range Marks(data) {
		if data[i] != c {
			t.Fatalf("%q: %q at %d", data, c, i)
		}
		got = append(got, i)
	}
	quoted, escaped := false, false
	for i, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && strings.IndexByte("{}[],:", c) >= 0:
			want = append(want, i)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q: marks at %v, want %v", data, got, want)
	}
}

// TestDepthIsLimited: the bound is that of encoding/json, and the error is ErrDepth.
func TestDepthIsLimited(t *testing.T) {
	for _, depth := range []int{MaxDepth, MaxDepth + 1} {
		for _, pair := range []string{"[]", `{"a":}`} {
			data := []byte(strings.Repeat(pair[:len(pair)-1], depth) + "1" + strings.Repeat(pair[len(pair)-1:], depth))
			s := New(data)
			s.Skip()
			if s.Done() != json.Valid(data) || errors.Is(s.Err(), ErrDepth) == s.Done() {
				t.Errorf("%d deep: done %v, encoding/json %v: %v", depth, s.Done(), json.Valid(data), s.Err())
			}
		}
	}
}

// TestStringsAreComparedDecoded: a string is compared and copied as what it represents.
func TestStringsAreComparedDecoded(t *testing.T) {
	for written, want := range map[string]string{
		`"kind"`: "kind", `"k\u0069nd"`: "kind", `"\ud83d\ude00"`: "\U0001F600", `"\ud800x"`: "\ufffdx", "\"\xff\"": "\ufffd",
		`"a\"b\\c\/\b\f\n\r\t"`: "a\"b\\c/\b\f\n\r\t", `""`: "", `"é"`: "é",
	} {
		s := New([]byte(written))
		got := s.ReadString()
		if !got.Is(want) || got.Is(want+"x") || got.Value() != want || !utf8.ValidString(got.Value()) || !s.Done() {
			t.Errorf("%s is %q, want %q", written, got.Value(), want)
		}
	}
}

// TestSeekReadsAValueAgain: a reader may go back and read a value once more.
func TestSeekReadsAValueAgain(t *testing.T) {
	s := New([]byte(` {"a": [1, 2] } `))
	s.Open('{')
	s.Key(true)
	at := s.Offset()
	s.Skip()
	first := string(s.From(at))
	s.Seek(at)
	s.Skip()
	if second := string(s.From(at)); first != " [1, 2]" || second != first {
		t.Errorf("%q, then %q", first, second)
	}
	if s.More(false, '}') || !s.Done() {
		t.Errorf("it isn't done: %v", s.Err())
	}
}

// TestSkippingAllocatesNothing: skipping a document allocates no memory.
func TestSkippingAllocatesNothing(t *testing.T) {
	data := []byte(`{"a":[1,{"b":"c\u0064"},null,true]}`)
	if n := testing.AllocsPerRun(10, func() {
		s := New(data)
		s.Skip()
		marks := 0
		for range Marks(data) {
			marks++
		}
		if from, _ := Member(data, "a"); !s.Done() || marks == 0 || from == 0 {
			t.Error("it wasn't read")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
