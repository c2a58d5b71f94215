package eino

import (
	"fmt"
	"reflect"

	"github.com/cloudwego/eino/components/model"
)

// failover returns a function that gives skills to the models that the agent
// falls back on when a call of its own model fails. It returns one that does
// nothing where there are none.
//
// Eino has such models since 0.9, in the field ModelFailoverConfig of an agent's
// configuration, and they take the place of the wrapped model there. The field
// is looked up by its name, because this package must also compile with versions
// that do not have it. The host's ModelFailoverConfig is copied, not changed. The
// error is [errFailover].
func (a *Adapter) failover(cfg any) (set func(), err error) {
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
		choose.Set(a.choosing(reflect.ValueOf(choose.Interface())))
	}
	return func() { field.Set(copied) }, nil
}

// returnsModel reports whether the first result of a function can be a [Adapter.Model].
func returnsModel(f reflect.Value) bool {
	return f.IsValid() && f.Kind() == reflect.Func && f.Type().NumOut() > 0 && !f.Type().IsVariadic() &&
		reflect.TypeFor[*viewModel]().AssignableTo(f.Type().Out(0))
}

// choosing returns the function choose, with the model that it returns wrapped.
func (a *Adapter) choosing(choose reflect.Value) reflect.Value {
	return reflect.MakeFunc(choose.Type(), func(args []reflect.Value) []reflect.Value {
		results := choose.Call(args)
		inner, _ := results[0].Interface().(model.BaseChatModel)
		if wrapped, err := a.Model(inner); err == nil { // else it is nil, or has skills
			results[0] = reflect.ValueOf(wrapped)
		}
		return results
	})
}
