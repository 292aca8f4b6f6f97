/**
 * The identity of users for MCP servers (docs/specification/agent.md#mcp-with-identity): a token for each request, signed with a key
 * that all processes share. No service of Atelier accepts it, because they verify tokens with the keys of the identity provider.
 */
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { createSealer, type Sealer } from '#platform/access/sealing.ts';
import { type Db, holdName, transaction } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';
import { insertKey, listSealedKeys } from './signingkeystore.ts';

export interface IdentityOptions {
  readonly db: Db<AgentTables>;
  /** The URL of the agent, for servers that compare `iss`. */
  readonly issuer: string;
  /** INTERNAL_KEY, which seals the keys. Without one, there are none. */
  readonly secrets: readonly string[];
}

export interface Identity {
  /** A token for one request of the user to the server at this URL. */
  tokenFor(userId: string, url: string): Promise<string>;
  /** The public keys, as a JSON Web Key Set. */
  keys(): Promise<{ readonly keys: readonly JWK[] }>;
}

const algorithm = 'ES256';
const lifetime = '5m';
/** Another process may have replaced the key. */
const freshMs = 60_000;

type Keys = readonly JWK[];

export function createIdentity({ db, issuer, secrets }: IdentityOptions): Identity {
  const sealer = secrets.length > 0 ? createSealer(secrets, 'identity key') : undefined;
  let read: { readonly keys: Promise<Keys>; readonly atMs: number } | undefined;
  const all = (): Promise<Keys> => {
    if (read !== undefined && performance.now() - read.atMs < freshMs) return read.keys;
    const keys = sealer === undefined ? Promise.resolve([]) : readKeys(db, sealer);
    keys.catch(() => {
      read = undefined;
    });
    read = { keys, atMs: performance.now() };
    return keys;
  };
  return {
    async tokenFor(userId, url) {
      const [newest] = await all();
      if (newest?.kid === undefined) throw new Error('INTERNAL_KEY must be set to sign identities');
      return new SignJWT({})
        .setProtectedHeader({ alg: algorithm, kid: newest.kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setSubject(userId)
        .setAudience(url)
        .setIssuedAt()
        .setExpirationTime(lifetime)
        .setJti(randomUUID())
        .sign(await importJWK(newest, algorithm));
    },
    async keys() {
      const keys = await all();
      return { keys: keys.map(({ d: _private, ...key }) => key) };
    },
  };
}

/** The first process makes the first key. A key that was sealed with another INTERNAL_KEY is replaced. */
async function readKeys(db: Db<AgentTables>, sealer: Sealer): Promise<Keys> {
  const open = (sealed: readonly string[]) =>
    sealed.flatMap((one): JWK[] => {
      const text = sealer.unseal(one);
      return text === undefined ? [] : [JSON.parse(text)];
    });
  const found = open(await listSealedKeys(db));
  if (found.length > 0) return found;
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = randomUUID();
  const key = { ...(await exportJWK(privateKey)), kid, alg: algorithm, use: 'sig' };
  return transaction(db, async (tx) => {
    await holdName(tx, 'agent signing keys');
    const others = open(await listSealedKeys(tx));
    if (others.length > 0) return others;
    await insertKey(tx, kid, sealer.seal(JSON.stringify(key)));
    return [key];
  });
}
