package main

import (
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
)

// functionTable returns everything that an expression may call.
func functionTable() string {
	var table strings.Builder
	table.WriteString("\n" + row("Function", "Result"))
	table.WriteString(row("---", "---"))
	for _, f := range expression.Functions() {
		table.WriteString(row(code(f.Signature), f.Doc))
	}
	return table.String() + "\n"
}
