/** The keys that the local identity provider signs access tokens with: made once, kept in the data folder. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CryptoKey,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import { z } from 'zod';
import { StartFault } from '#platform/lifecycle.ts';

export interface SigningKeys {
  readonly kid: string;
  /** Of `kid`. */
  readonly privateKey: CryptoKey;
  /** What the key set shows: the public halves of all keys, so that tokens signed by an earlier one stay good. */
  readonly published: readonly JWK[];
  /** Finds the key of a token among the published ones. */
  readonly verify: JWTVerifyGetKey;
}

const keyFile = z.object({
  keys: z
    .array(
      z.object({
        kty: z.literal('EC'),
        crv: z.literal('P-256'),
        x: z.string(),
        y: z.string(),
        d: z.string(),
        kid: z.string(),
      }),
    )
    .min(1),
});

/** Of two processes that start at once on an empty folder, the first one's keys stand. */
export async function openSigningKeys(dataDir: string): Promise<SigningKeys> {
  const file = join(dataDir, 'idp', 'keys.json');
  const text = (await readIfThere(file)) ?? (await makeKeys(file));
  try {
    const { keys } = keyFile.parse(JSON.parse(text));
    const [current = keys[0]] = keys;
    const privateKey = current === undefined ? undefined : await importJWK(current, 'ES256');
    if (current === undefined || privateKey === undefined || privateKey instanceof Uint8Array)
      throw new Error('no key');
    const published = keys.map(({ kty, crv, x, y, kid }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }));
    return { kid: current.kid, privateKey, published, verify: createLocalJWKSet({ keys: published }) };
  } catch {
    // The reason would quote the key.
    throw new StartFault(`${file} holds no ES256 keys; mend it, or remove it to have a new one made.`);
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartFault(`${file} cannot be read (${error.code}).`);
  });
}

/** Whole or not at all: a draft is put in place by a link, which never replaces what is there. */
async function makeKeys(file: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const text = `${JSON.stringify({ keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID() }] }, null, 2)}\n`;
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}
