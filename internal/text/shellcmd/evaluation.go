package shellcmd

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// In an arithmetic expression bash evaluates the value of a variable as another expression, and
// the subscript in a[$(cmd)] as shell text. So a number that is not literal can run a command.

// arithm refuses expressions that contain more than numbers.
func (l *lister) arithm(expr syntax.ArithmExpr) {
	if expr == nil {
		return
	}
	syntax.Walk(expr, func(node syntax.Node) bool {
		word, ok := node.(*syntax.Word)
		if !ok {
			return l.err == nil
		}
		if value, err := literal(word); err != nil || !isNumber(value) {
			l.fail("an arithmetic expression with variables")
		}
		return false
	})
}

// subscript refuses words that a builtin can take for an element of an array,
// because it would evaluate the subscript.
func (l *lister) subscript(args []string) {
	for _, arg := range args {
		if _, inside, found := strings.Cut(arg, "["); found && strings.ContainsAny(inside, "$`") {
			l.fail("a subscript that is evaluated")
		}
	}
}

func isNumber(value string) bool {
	return value != "" && strings.Trim(value, "0123456789") == ""
}

// param refuses expansions that evaluate a value, and those that set a variable.
func (l *lister) param(exp *syntax.ParamExp) {
	switch {
	case exp.Excl:
		l.fail("an indirect expansion (${!…})")
	case exp.Exp != nil && (exp.Exp.Op == syntax.OtherParamOps || exp.Exp.Op == syntax.AssignUnset || exp.Exp.Op == syntax.AssignUnsetOrNull):
		l.fail("an expansion that sets or evaluates a variable (${…=…}, ${…@…})")
	case exp.Slice != nil:
		l.arithm(exp.Slice.Offset)
		l.arithm(exp.Slice.Length)
	}
	if index, ok := exp.Index.(*syntax.Word); ok {
		if text := index.Lit(); text == "@" || text == "*" {
			return // all elements
		}
	}
	l.arithm(exp.Index)
}

// test refuses the operators of [[ ]] whose operands are numbers or names of
// variables.
func (l *lister) test(clause *syntax.TestClause) {
	syntax.Walk(clause, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.BinaryTest:
			switch node.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				l.fail("a comparison of numbers in [[ ]]")
			}
		case *syntax.UnaryTest:
			if node.Op == syntax.TsVarSet || node.Op == syntax.TsRefVar {
				l.fail("a test of a variable's name in [[ ]]")
			}
		}
		return l.err == nil
	})
}
