import texts from './accountdeleted.json' with { type: 'json' };
import { builtIn } from './builtin.ts';

/** The account no longer exists. The mail is sent to the address in the request. */
export const accountDeleted = builtIn({
  name: 'account_deletion.deleted',
  audience: 'account',
  texts,
});
