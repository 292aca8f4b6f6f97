/** A claim of access tokens that names operators, such as `app_metadata.role=operator`. */
import { setting } from '#platform/config.ts';

export interface OperatorClaim {
  /** The names that lead to the value, from the outermost. */
  readonly path: readonly string[];
  readonly value: string;
}

export type Claims = Readonly<Record<string, unknown>>;

/** Users write these claims themselves, for example with `supabase.auth.updateUser`. */
const writtenByUsers: ReadonlySet<string> = new Set(['user_metadata', 'raw_user_meta_data', 'unsafe_metadata']);
/** The value that every access token has. */
const ofEveryUser = 'authenticated';

export function claimSetting(variable: string, meaning: string) {
  return setting<string>(variable, { meaning }, (raw) => {
    const { path, value } = parseClaim(raw);
    return `${path.join('.')}=${value}`;
  });
}

/** Throws for a claim that does not distinguish operators from users. */
export function parseClaim(raw: string): OperatorClaim {
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
export function hasClaim(claims: Claims, { path, value }: OperatorClaim): boolean {
  let found: unknown = claims;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return false;
    found = Reflect.get(found, part);
  }
  return Array.isArray(found) ? found.includes(value) : found === value;
}
