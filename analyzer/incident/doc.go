// Package incident is the vocabulary of graphtrap: what every stage of the
// analyzer and every front end means by a report, a location, an origin, a
// time and a fact. It decides nothing; it only names things, so it imports
// nothing of ours.
package incident
