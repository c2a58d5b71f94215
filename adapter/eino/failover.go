package eino

import (
	"fmt"
	"reflect"

	"github.com/cloudwego/eino/components/model"
)

// failover returns a function that gives skills to the failover models in cfg, which Eino calls
// when the agent's own model fails. The function does nothing if cfg has none.
//
// Eino has such models since 0.9, in the field ModelFailoverConfig of an agent's configuration.
// The field is found by reflection, because this package must also compile with older versions.
// apply replaces the host's ModelFailoverConfig by a copy. The error is [errFailover].
func (a *Adapter) failover(cfg any) (apply func(), err error) {
	field := reflect.ValueOf(cfg).Elem().FieldByName("ModelFailoverConfig")
	if !field.IsValid() || field.IsZero() {
		return func() {}, nil
	}
	if field.Kind() != reflect.Pointer || field.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%w: ModelFailoverConfig is a %s", errFailover, field.Type())
	}
	copied := reflect.New(field.Type().Elem())
	copied.Elem().Set(field.Elem())
	choose := copied.Elem().FieldByName("GetFailoverModel")
	if !returnsModel(choose) {
		return nil, fmt.Errorf("%w: GetFailoverModel of %s does not return a model", errFailover, field.Type())
	}
	if !choose.IsNil() {
		choose.Set(a.wrapChooser(reflect.ValueOf(choose.Interface())))
	}
	return func() { field.Set(copied) }, nil
}

// returnsModel reports whether f is a function that can return a wrapped model as its first
// result.
func returnsModel(f reflect.Value) bool {
	return f.IsValid() && f.Kind() == reflect.Func && f.Type().NumOut() > 0 && !f.Type().IsVariadic() &&
		reflect.TypeFor[*viewModel]().AssignableTo(f.Type().Out(0))
}

// wrapChooser returns the function choose, but with skills for the model that it returns.
func (a *Adapter) wrapChooser(choose reflect.Value) reflect.Value {
	return reflect.MakeFunc(choose.Type(), func(args []reflect.Value) []reflect.Value {
		results := choose.Call(args)
		inner, _ := results[0].Interface().(model.BaseChatModel)
		if wrapped, err := a.Model(inner); err == nil { // on an error it is nil or wrapped already
			results[0] = reflect.ValueOf(wrapped)
		}
		return results
	})
}
