/** Made-up accounts, of the local identity provider and of `npm run seed`: an address is all there is to one. */
import { uuidOfName } from '#platform/ids.ts';

export interface Account {
  /** The same for the same address, on every machine and after every restart. */
  readonly id: string;
  readonly email: string;
}

/** What the consent page offers; any other address will do as well. */
export const offeredAddresses = ['ada@example.com', 'bob@example.com', 'demo@example.com'] as const;

/** What an account has when it is first signed in (docs/specification/auth.md#local-identity-provider). */
export const accountPlan = { plan: 'pro', credits: 1000 } as const;

/** A name space of our own for UUIDs of version 5 (RFC 9562 §5.5). */
const namespace = '6f0c1e6b6c1d4b0c9a5f1f0b7f2a4d11';

/** Case and surrounding spaces make no other account. */
export function accountOf(email: string): Account {
  const address = email.trim().toLowerCase();
  return { id: madeUpId(address), email: address };
}

/** A UUID of version 5: the same for the same name. */
export function madeUpId(name: string): string {
  return uuidOfName(namespace, name);
}
