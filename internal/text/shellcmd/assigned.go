package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare records export, readonly, declare and similar commands. It refuses words whose effect
// cannot be known, such as an option that makes one variable an alias of another.
func (l *lister) declare(c *Command, decl *syntax.DeclClause) {
	c.Args = []string{decl.Variant.Value}
	c.Sets = names(decl.Args)
	for _, arg := range decl.Args {
		if arg.Name != nil {
			c.Open = true
			continue
		}
		value, err := literal(arg.Value)
		if err != nil {
			l.fail("a declaration that is not literal")
			return
		}
		if !c.Open {
			c.Args = append(c.Args, value)
		}
		l.subscript([]string{value})
	}
	if decl.Variant.Value == "nameref" || slices.ContainsFunc(c.Args[1:], isReference) {
		l.fail("a variable that stands for another")
	}
}

// isReference reports whether an option of declare makes bash read the values as
// names or expressions.
func isReference(option string) bool {
	return strings.HasPrefix(option, "-") && strings.ContainsAny(option, "ni")
}

func names(assigns []*syntax.Assign) []string {
	var all []string
	for _, assign := range assigns {
		if assign.Name != nil {
			all = append(all, assign.Name.Value)
		}
	}
	return all
}

// environment lists the assignments as NAME=value. It returns nil if one of them is not plain or
// has no literal value.
func environment(assigns []*syntax.Assign) []string {
	var all []string
	for _, assign := range assigns {
		if assign.Append || assign.Naked || assign.Name == nil || assign.Index != nil || assign.Array != nil {
			return nil
		}
		value := ""
		if assign.Value != nil {
			var err error
			if value, err = literal(assign.Value); err != nil {
				return nil
			}
		}
		all = append(all, assign.Name.Value+"="+value)
	}
	return all
}
