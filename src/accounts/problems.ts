import { defineProblems } from '#platform/problem.ts';

/** Problems of the operator's commands (docs/accounts.md). */
export const accountProblems = defineProblems({
  user_not_found: {
    status: 404,
    message: 'No user has this email address. The user must sign in once, or name the user by id.',
  },
  user_ambiguous: { status: 409, message: 'More than one user has this email address. Name the user by id.' },
});
