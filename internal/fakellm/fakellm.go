// Package fakellm is the former name of package satcheltest.
package fakellm

import "github.com/satchel-go/satchel/satcheltest"

type (
	Script   = satcheltest.Script
	Server   = satcheltest.Server
	Request  = satcheltest.Request
	Response = satcheltest.Response
	Message  = satcheltest.Message
	Call     = satcheltest.Call
	Tool     = satcheltest.Tool
	Turn     = satcheltest.Turn
	Step     = satcheltest.Step
	Usage    = satcheltest.Usage
)

var (
	New       = satcheltest.New
	Plan      = satcheltest.Plan
	Do        = satcheltest.Do
	Load      = satcheltest.Load
	SkillOpen = satcheltest.SkillOpen
	Text      = satcheltest.Text
	Calls     = satcheltest.Calls
	Fail      = satcheltest.Fail
	To        = satcheltest.To
)

const NoID = satcheltest.NoID
