package main

// Patches: RFC 6902 4.1 and 4.2 on the documents of a stream, by code of its own.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

type step struct {
	Document int             `json:"document"`
	Op       string          `json:"op"`
	Path     []any           `json:"path"`
	Value    json.RawMessage `json:"value"`
}

func patch(documents []any, one step) error {
	if one.Document < 0 || one.Document >= len(documents) {
		return errors.New("there is no such document")
	}
	var value any
	if one.Op == "add" {
		decoder := json.NewDecoder(bytes.NewReader(one.Value))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return err
		}
	}
	made, err := changed(documents[one.Document], one.Path, one.Op, value)
	documents[one.Document] = made
	return err
}

// changed is the node with the step taken below it (RFC 6902 4.1 and 4.2).
func changed(node any, path []any, op string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	last := len(path) == 1
	switch holder := node.(type) {
	case map[string]any:
		key, is := path[0].(string)
		if !is {
			return node, fmt.Errorf("%v is no key", path[0])
		}
		member, there := holder[key]
		if !there && (!last || op == "remove") {
			return node, fmt.Errorf("%q does not exist", key)
		}
		if last && op == "remove" {
			delete(holder, key)
			return node, nil
		}
		made, err := changed(member, path[1:], op, value)
		holder[key] = made
		return node, err
	case []any:
		if path[0] == "-" && last {
			return append(holder, value), nil
		}
		number, is := path[0].(float64)
		index := int(number)
		if !is || index < 0 || index >= len(holder) {
			return node, fmt.Errorf("%v is no index", path[0])
		}
		if last && op == "remove" {
			return append(holder[:index:index], holder[index+1:]...), nil
		}
		if last {
			return append(holder[:index:index], append([]any{value}, holder[index:]...)...), nil
		}
		made, err := changed(holder[index], path[1:], op, value)
		holder[index] = made
		return node, err
	}
	return node, fmt.Errorf("%v stands below neither a mapping nor a list", path[0])
}
