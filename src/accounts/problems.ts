import { defineProblems } from '#platform/problem.ts';

/** Problems of operators' requests about users (docs/accounts.md). */
export const accountProblems = defineProblems({
  user_not_found: {
    status: 404,
    message: 'No user has this email address. The user must sign in once, or name the user by id.',
  },
  user_ambiguous: { status: 409, message: 'More than one user has this email address. Name the user by id.' },
  account_not_deleted: {
    status: 503,
    message: 'The identity provider did not delete the account. Check IDP_SERVICE_KEY, and try again.',
    retryAfterS: 5,
  },
  account_blocked: {
    status: 403,
    message: 'This account is blocked. It cannot sign in or start anything new. Contact the operator of this service.',
  },
  own_account: { status: 409, message: 'You cannot block your own account. Another operator can.' },
  credits_out_of_range: { status: 409, message: 'The balance would be negative, or larger than 2,000,000,000.' },
});
