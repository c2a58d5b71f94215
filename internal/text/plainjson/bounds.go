package plainjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
)

// ErrSize is wrapped when a value has more elements or bytes than it may have.
var ErrSize = errors.New("too large")

// SizeOf estimates how many bytes a value takes in JSON, without encoding it. The estimate is
// never too high, except that it counts omitted fields and the white space of raw JSON. SizeOf
// stops when it has counted more than limit.
func SizeOf(v any, limit int) int {
	room := limit
	measure(reflect.ValueOf(v), &room)
	return limit - room
}

var rawMessage = reflect.TypeFor[json.RawMessage]()

func measure(v reflect.Value, room *int) {
	*room--
	switch v.Kind() {
	case reflect.String:
		*room -= Size(v.String()) + 1
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			measure(v.Elem(), room)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if *room -= v.Len(); v.Type() != rawMessage {
				*room -= v.Len() / 3
			}
			return
		}
		for i := 0; i < v.Len() && *room >= 0; i++ {
			measure(v.Index(i), room)
		}
	case reflect.Map:
		for at := v.MapRange(); *room >= 0 && at.Next(); {
			measure(at.Key(), room)
			measure(at.Value(), room)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && *room >= 0; i++ {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				measure(v.Field(i), room)
			}
		}
	}
}

// Members calls yield for each member of a JSON object, in order. It holds one member in memory
// at a time. The error is that of yield, or says that raw is no object.
func Members(raw []byte, yield func(name string, value json.RawMessage) error) error {
	d, err := within(raw, '{')
	for err == nil && d.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if text, ok := name.(string); ok && err == nil {
			err = yield(text, value)
		}
	}
	return err
}

// Elements returns the elements of a JSON array. The error wraps ErrSize if there are more than
// most, or says that raw is no array.
func Elements(raw []byte, most int) (list []json.RawMessage, err error) {
	d, err := within(raw, '[')
	for err == nil && d.More() {
		if len(list) == most {
			return nil, ErrSize
		}
		var value json.RawMessage
		if err = d.Decode(&value); err == nil {
			list = append(list, value)
		}
	}
	return list, err
}

// Count returns the number of members of a valid JSON object, or of elements of an array. It
// allocates nothing.
func Count(raw []byte) int {
	depth, n, quoted, empty := 0, 0, false, true
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '"':
			quoted = true
		case c == ',' && depth == 1:
			n++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				if !empty {
					n++
				}
				return n
			}
		}
		empty = empty && depth == 0
		if c == '{' || c == '[' {
			depth++
		}
	}
	return n
}

// within returns a decoder after the opening delimiter of raw.
func within(raw []byte, open json.Delim) (*json.Decoder, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	got, err := d.Token()
	if err == nil && got != open {
		err = errors.New("want " + map[json.Delim]string{'{': "an object", '[': "a list"}[open])
	}
	return d, err
}
