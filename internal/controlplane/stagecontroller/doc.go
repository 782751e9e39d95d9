// Package stagecontroller plays Kargo's Stage controller towards a Stage's
// status, for tests of what survives it.
//
// In: a client and the name of a Stage. Out: passes over it, each of which may
// undo what others wrote meanwhile, and counts of what was undone.
//
// Kargo's controller takes a copy of the whole status at the start of a pass and
// changes its copy step by step. After each step it patches the Stage with the
// difference between its copy and the last status that the server answered.
// What somebody else wrote during a pass is unknown to the difference at first,
// comes back with the answer to one patch, and is undone by the next.
//
// Kargo's steps often change nothing and so send nothing; the played ones all
// change a condition. It undoes as Kargo does, but more often.
package stagecontroller
