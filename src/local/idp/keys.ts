/** The keys that the local identity provider signs access tokens with. They are generated once and stored in the data folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
import { writeWhole } from '#platform/files.ts';
import { StartFault } from '#platform/lifecycle.ts';

export interface SigningKeys {
  readonly kid: string;
  /** The private key with the id `kid`. */
  readonly privateKey: CryptoKey;
  /** The public keys of the key set, including older ones, so that their tokens stay valid. */
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

/** If two processes start at once on an empty folder, the first one's keys are used. */
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
    // The original error would quote the key.
    throw new StartFault(`${file} contains no ES256 keys. Repair it, or delete it to generate new ones.`);
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StartFault(`Cannot read ${file} (${error.code}).`);
  });
}

/** Of several processes, one makes the keys. */
async function makeKeys(file: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const text = `${JSON.stringify({ keys: [{ ...(await exportJWK(privateKey)), kid: randomUUID() }] }, null, 2)}\n`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(file, text, { mode: 0o600, createOnly: true });
  return readFile(file, 'utf8');
}
