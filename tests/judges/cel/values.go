package main

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
)

// read says what is wrong with the `value` of each JSONPatch in an expression, and how many code points it has:
//
//	a list with an Object{..} in it           the API server panics (kubernetes#142181)
//	a part of `object`                        it fails or gets lost (kubernetes#140164)
//	a variable that is not in `made`          it may be such a part
func read(expression string, made []string) ([]string, int) {
	size := utf8.RuneCountInString(expression)
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.TwoVarComprehensions(), ext.Strings(), ext.Sets())
	if err != nil {
		return []string{err.Error()}, size
	}
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return []string{issues.Err().Error()}, size
	}
	problems := []string{}
	root := ast.NavigateAST(parsed.NativeRep())
	structs := ast.MatchDescendants(root, func(one ast.NavigableExpr) bool {
		return one.Kind() == ast.StructKind && one.AsStruct().TypeName() == "JSONPatch"
	})
	for _, one := range structs {
		for _, field := range one.AsStruct().Fields() {
			if field.AsStructField().Name() == "value" {
				problems = append(problems, valueProblems(field.AsStructField().Value(), made)...)
			}
		}
	}
	return problems, size
}

func valueProblems(value ast.Expr, made []string) []string {
	problems := []string{}
	top := ast.NavigateExpr(ast.NewAST(value, nil), value)
	for _, one := range ast.MatchDescendants(top, func(ast.NavigableExpr) bool { return true }) {
		switch one.Kind() {
		case ast.ListKind:
			for _, element := range one.AsList().Elements() {
				if element.Kind() == ast.StructKind {
					problems = append(problems, fmt.Sprintf("a list of %s", element.AsStruct().TypeName()))
				}
			}
		case ast.IdentKind:
			if one.AsIdent() == "object" || one.AsIdent() == "oldObject" {
				problems = append(problems, "a part of object")
			}
		case ast.SelectKind:
			operand := one.AsSelect().Operand()
			if operand.Kind() == ast.IdentKind && operand.AsIdent() == "variables" && !slices.Contains(made, one.AsSelect().FieldName()) {
				problems = append(problems, "variables."+one.AsSelect().FieldName())
			}
		}
	}
	return problems
}
