package shellcmd

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// declare records export, readonly, declare and their like. Words that are not
// plain assignments, such as an option that makes a variable an alias of
// another, are for nobody to guess.
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

// isReference reports an option of declare that makes values names, or
// expressions.
func isReference(option string) bool {
	for _, letter := range "ni" {
		if len(option) > 1 && option[0] == '-' && slices.Contains([]rune(option), letter) {
			return true
		}
	}
	return false
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

// environment lists plain assignments of literal values, or none if there is any
// other.
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
