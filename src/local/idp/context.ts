/** What the routes of the identity provider use. */

import type { AccountTables, Welcome } from '#accounts/store.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Faults } from './faults.ts';
import type { SigningKeys } from './keys.ts';
import type { IdpTables } from './store.ts';

export interface IdpContext {
  /** LOCAL_IDP_SECRET. If empty, tokens and faults are disabled. */
  readonly secret: string;
  /** ANON_KEY: if a request contains a key, it must be this one. */
  readonly anonKey: string;
  /** Allows the deletion of accounts. */
  readonly serviceKey?: string | undefined;
  readonly faults: Faults;
  readonly db: Db<IdpTables>;
  readonly accounts: Db<AccountTables>;
  readonly welcome?: Welcome | undefined;
  /** In seconds. Default: 10, as in the hosted product. */
  readonly reuseIntervalS: number;
  /** The provider's own URL, without a trailing slash. */
  readonly publicUrl: string;
  /** Only these are accepted, with any text in place of a `*` at the end. Any other value silently becomes the first, as in GoTrue. */
  readonly redirectUrls: readonly string[];
  readonly keys: SigningKeys;
  readonly clock: Clock;
}
