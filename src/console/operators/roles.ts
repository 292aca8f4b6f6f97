/** Who is an operator by the address of the identity provider: OPERATOR_EMAILS and OPERATOR_READER_EMAILS. */
import type { TokenVerifier } from '#platform/access/tokens.ts';
import { consoleProblems } from '../problems.ts';
import type { Operator, Role } from '../sessions.ts';

export interface OperatorLists {
  readonly full: readonly string[];
  readonly readers: readonly string[];
}

export type RoleOf = (email: string) => Role | undefined;

/** Ignores case. An address in both lists may change things. */
export function createRoles({ full, readers }: OperatorLists): RoleOf {
  const setOf = (emails: readonly string[]) => new Set(emails.map((email) => email.toLowerCase()));
  const [changers, others] = [setOf(full), setOf(readers)];
  return (email) => {
    const address = email.toLowerCase();
    if (changers.has(address)) return 'full';
    return others.has(address) ? 'reader' : undefined;
  };
}

/** Throws 401 for an invalid token, and 403 for a user who is no operator. */
export async function identifyOperator(tokens: TokenVerifier, roleOf: RoleOf, accessToken: string): Promise<Operator> {
  const { email = '' } = await tokens.verify(accessToken);
  const role = roleOf(email);
  if (role === undefined) throw consoleProblems.not_an_operator();
  return { name: email.toLowerCase(), role };
}
