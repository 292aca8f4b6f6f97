import { defineProblems } from '#platform/problem.ts';

/** Problems of the operator's commands (docs/accounts.md). */
export const accountProblems = defineProblems({
  user_not_found: { status: 404, message: 'No user has this address yet: let them sign in once, or name the id.' },
  user_ambiguous: { status: 409, message: 'More than one user has this address: name the id.' },
});
