/** Who is an operator: by an address or a claim of the identity provider (docs/operators.md#roles). */
import type { TokenVerifier } from '#platform/access/access.ts';
import { consoleProblems } from '../problems.ts';
import type { NamedOperator, Role, Roles } from '../sessions.ts';
import { type Claims, hasClaim, parseClaim } from './claim.ts';

export interface OperatorSettings {
  /** OPERATOR_EMAILS and OPERATOR_READER_EMAILS. */
  readonly full: readonly string[];
  readonly readers: readonly string[];
  /** OPERATOR_CLAIM and OPERATOR_READER_CLAIM. */
  readonly claim?: string | undefined;
  readonly readerClaim?: string | undefined;
}

export interface OperatorRoles extends Roles {
  ofClaims(claims: Claims): Role | undefined;
}

/** Ignores the case of addresses. Operators with both roles may change things. */
export function createRoles({ full, readers, claim, readerClaim }: OperatorSettings): OperatorRoles {
  const [ofChangers, ofReaders] = [claim, readerClaim].map((text) => text && parseClaim(text));
  const setOf = (emails: readonly string[]) => new Set(emails.map((email) => email.toLowerCase()));
  const [changers, others] = [setOf(full), setOf(readers)];
  return {
    ofAddress: (email) => {
      const address = email.toLowerCase();
      if (changers.has(address)) return 'full';
      return others.has(address) ? 'reader' : undefined;
    },
    ofClaims: (claims) => {
      if (ofChangers && hasClaim(claims, ofChangers)) return 'full';
      return ofReaders && hasClaim(claims, ofReaders) ? 'reader' : undefined;
    },
    claimSettings: JSON.stringify([claim, readerClaim]),
  };
}

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
