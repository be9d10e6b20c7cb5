package cli

import (
	"strconv"
)

// claimArgs reads CLAIM_ID [ID...].
func claimArgs(args []string) (claim int64, ids []int64, err error) {
	if claim, err = strconv.ParseInt(args[0], 10, 64); err != nil {
		return 0, nil, usagef("%q is not a claim id: a whole number, as receive prints it", args[0])
	}
	ids, err = idArgs(args[1:])
	return claim, ids, err
}

// idArgs reads message ids; none give nil.
func idArgs(args []string) ([]int64, error) {
	var ids []int64
	for _, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil {
			return nil, usagef("%q is not a message id: a whole number, as send and receive print it", arg)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// given returns a pointer to a flag's value when the flag was used.
func given[T any](used bool, value *T) *T {
	if used {
		return value
	}
	return nil
}
