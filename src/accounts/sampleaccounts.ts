/** Invented accounts of the local identity provider and of `npm run seed`, derived from an email address. */
import { uuidOfName } from '#platform/ids.ts';

export interface Account {
  /** Derives the same id from the same address, on every machine and after every restart. */
  readonly id: string;
  readonly email: string;
}

/** The accounts that the consent page offers. Any other address works too. */
export const offeredAddresses = ['ada@example.com', 'bob@example.com', 'demo@example.com'] as const;

/** The plan and credits of an account at its first sign-in (docs/specification/auth.md#local-identity-provider). */
export const accountPlan = { plan: 'pro', credits: 1000 } as const;

/** A private namespace for UUIDs of version 5 (RFC 9562 §5.5). */
const namespace = '6f0c1e6b6c1d4b0c9a5f1f0b7f2a4d11';

/** Ignores case and surrounding spaces. */
export function accountOf(email: string): Account {
  const address = email.trim().toLowerCase();
  return { id: sampleId(address), email: address };
}

/** Returns a UUID of version 5, which is the same for the same name. */
export function sampleId(name: string): string {
  return uuidOfName(namespace, name);
}
