/** Who is an operator: by an address or a claim of the identity provider (docs/operators.md#roles). */
import type { TokenVerifier } from '#platform/access/access.ts';
import { setting } from '#platform/config.ts';
import { consoleProblems } from '../problems.ts';

const roleNames = ['full', 'reader'] as const;
/** A `reader` changes nothing. */
export type Role = (typeof roleNames)[number];

export interface NamedOperator {
  readonly name: string;
  /** The role that a claim of the token gives. `undefined`: the settings name the address. */
  readonly claimedRole: Role | undefined;
}

export interface OperatorSettings {
  /** OPERATOR_EMAILS and OPERATOR_READER_EMAILS. */
  readonly full: readonly string[];
  readonly readers: readonly string[];
  /** OPERATOR_CLAIM and OPERATOR_READER_CLAIM. */
  readonly claim?: string | undefined;
  readonly readerClaim?: string | undefined;
}

export type OperatorRoles = ReturnType<typeof createRoles>;

/** Ignores the case of addresses. Operators with both roles may change things. */
export function createRoles({ full, readers, claim, readerClaim }: OperatorSettings) {
  const [ofChangers, ofReaders] = [claim, readerClaim].map((text) => text && parseClaim(text));
  const setOf = (emails: readonly string[]) => new Set(emails.map((email) => email.toLowerCase()));
  const [changers, others] = [setOf(full), setOf(readers)];
  return {
    ofAddress: (email: string): Role | undefined => {
      const address = email.toLowerCase();
      if (changers.has(address)) return 'full';
      return others.has(address) ? 'reader' : undefined;
    },
    ofClaims: (claims: Claims): Role | undefined => {
      if (ofChangers && hasClaim(claims, ofChangers)) return 'full';
      return ofReaders && hasClaim(claims, ofReaders) ? 'reader' : undefined;
    },
    /** The settings of claims as text. */
    claimSettings: JSON.stringify([claim, readerClaim]),
  };
}

export const roleNamed = (text: string): Role | undefined => roleNames.find((role) => role === text);

/** Throws 401 for an invalid token, and 403 for a user who is no operator. */
export async function identifyOperator(
  tokens: TokenVerifier,
  roles: OperatorRoles,
  accessToken: string,
): Promise<NamedOperator> {
  const { email = '', userId, claims } = await tokens.verifyClaims(accessToken);
  const name = email.toLowerCase() || userId;
  const [byAddress, byClaim] = [roles.ofAddress(email), roles.ofClaims(claims)];
  if (byAddress === 'full' || (byAddress !== undefined && byClaim !== 'full')) return { name, claimedRole: undefined };
  if (byClaim === undefined) throw consoleProblems.not_an_operator();
  return { name, claimedRole: byClaim };
}

// A claim of access tokens that names operators, such as `app_metadata.role=operator`.

interface OperatorClaim {
  /** The names that lead to the value, from the outermost. */
  readonly path: readonly string[];
  readonly value: string;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Users write these claims themselves, for example with `supabase.auth.updateUser`. */
const writtenByUsers: ReadonlySet<string> = new Set(['user_metadata', 'raw_user_meta_data', 'unsafe_metadata']);
/** The value that every access token has. */
const ofEveryUser = 'authenticated';

export function claimSetting(variable: string) {
  return setting(variable, (raw) => {
    const { path, value } = parseClaim(raw);
    return `${path.join('.')}=${value}`;
  });
}

/** Throws for a claim that does not distinguish operators from users. */
function parseClaim(raw: string): OperatorClaim {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(raw) ?? [];
  const path = name.trim().split('.');
  if (path.includes('') || value.trim() === '')
    throw new Error('must be a claim and its value, such as app_metadata.role=operator');
  const own = path.find((part) => writtenByUsers.has(part.toLowerCase()));
  if (own !== undefined) throw new Error(`must not use ${own}, which users can change. Use app_metadata`);
  if (value.trim() === ofEveryUser) throw new Error(`must not be the value ${ofEveryUser}, which every user has`);
  return { path, value: value.trim() };
}

/** Reports whether the claim is this text, or a list that contains it. */
function hasClaim(claims: Claims, { path, value }: OperatorClaim): boolean {
  let found: unknown = claims;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return false;
    found = Reflect.get(found, part);
  }
  return Array.isArray(found) ? found.includes(value) : found === value;
}
