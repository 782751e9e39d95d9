package main

import (
	"bytes"
	"errors"
	"fmt"
)

// page is a file under docs.
type page struct {
	// path is relative to the root, with slashes.
	path string
	// make returns the page; before is what stands, nil for no file.
	make func(before []byte) ([]byte, error)
}

// pages returns every page that is generated, in whole or in part.
func pages() []page {
	return []page{
		{"docs/config.md", whole("schema/config.schema.json", configPage)},
		{"docs/schemas.md", whole("schema/wellknown/*.json", schemasPage)},
		{"docs/expressions.md", region("functions", functionTable)},
	}
}

// whole makes a page that says what it is generated from.
func whole(source string, content func() (string, error)) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) {
		text, err := content()
		if err != nil {
			return nil, err
		}
		return fmt.Appendf(nil, "<!-- Generated from %s by `make generate`: do not edit. -->\n\n%s", source, text), nil
	}
}

const regionEnd = "<!-- end -->"

// region makes a page whose part between the marks is generated.
func region(name string, content func() string) func([]byte) ([]byte, error) {
	return func(before []byte) ([]byte, error) {
		begin := []byte("<!-- generated: " + name + " -->\n")
		start := bytes.Index(before, begin)
		if start < 0 {
			return nil, errors.New("the mark <!-- generated: " + name + " --> is missing")
		}
		start += len(begin)
		length := bytes.Index(before[start:], []byte(regionEnd))
		if length < 0 {
			return nil, errors.New("the mark " + regionEnd + " is missing after <!-- generated: " + name + " -->")
		}
		after := append(bytes.Clone(before[:start]), content()...)
		return append(after, before[start+length:]...), nil
	}
}
