/** Deletes objects, in bulk if the server supports DeleteObjects. */
import { escapeXml } from '../../escaping.ts';
import { type S3Answer, type S3Client, S3Fault } from './client.ts';
import { md5Base64 } from './sigv4.ts';
import { readXml, textOf } from './xml.ts';

/** Whether the server supports DeleteObjects, once known. */
interface Abilities {
  bulkDelete: boolean;
}

interface Removal {
  readonly removed: string[];
  readonly failed: { key: string; reason: string }[];
}

/** The limit of S3 for one DeleteObjects request. */
const keysPerCall = 1000;
/** For servers without DeleteObjects. */
const callsAtOnce = 16;

export async function removeFromS3(
  client: S3Client,
  bucket: string,
  abilities: Abilities,
  keys: readonly string[],
): Promise<Removal> {
  const removed: string[] = [];
  const failed: Removal['failed'] = [];
  const wanted = [...new Set(keys)];
  for (let start = 0; start < wanted.length; start += keysPerCall) {
    const some = wanted.slice(start, start + keysPerCall);
    const outcome = await removeSome(client, bucket, abilities, some);
    removed.push(...outcome.removed);
    failed.push(...outcome.failed);
  }
  return { removed, failed };
}

async function removeSome(
  client: S3Client,
  bucket: string,
  abilities: Abilities,
  keys: readonly string[],
): Promise<Removal> {
  if (keys.length === 1 || !abilities.bulkDelete) return removeOneByOne(client, bucket, keys);
  try {
    return await removeTogether(client, bucket, keys);
  } catch (error) {
    if (!(error instanceof S3Fault)) throw error;
    // A missing bucket has nothing to remove.
    if (error.code === 'NoSuchBucket') return { removed: [...keys], failed: [] };
    if (error.status !== 501 && error.status !== 405) throw error;
    abilities.bulkDelete = false;
    return removeOneByOne(client, bucket, keys);
  }
}

/** Some servers require Content-MD5 here, as S3 once did. */
async function removeTogether(client: S3Client, bucket: string, keys: readonly string[]): Promise<Removal> {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
  const body = Buffer.from(`<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${objects}</Delete>`);
  const headers = { 'content-type': 'application/xml', 'content-md5': md5Base64(body) };
  const request = { method: 'POST', bucket, query: { delete: '' }, headers, body, repeat: 'always' } as const;
  return client.call(request, async (answer) => outcomeOf(readXml(await answer.body.text()), keys));
}

/** A 200 proves nothing: a key is gone only if the response names it as deleted. */
function outcomeOf(result: ReturnType<typeof readXml>, keys: readonly string[]): Removal {
  if (result.name !== 'DeleteResult') throw new Error(`the S3 server responded to a deletion with ${result.name}`);
  const gone = new Set<string>();
  const reasons = new Map<string, string>();
  for (const child of result.children) {
    const key = textOf(child, 'Key');
    const code = textOf(child, 'Code') ?? 'unknown';
    if (key === undefined) continue;
    if (child.name === 'Deleted' || code === 'NoSuchKey') gone.add(key);
    else if (child.name === 'Error') reasons.set(key, code);
  }
  const removed = keys.filter((key) => gone.has(key) && !reasons.has(key));
  const failed = keys
    .filter((key) => !gone.has(key) || reasons.has(key))
    .map((key) => ({ key, reason: reasons.get(key) ?? 'not confirmed' }));
  return { removed, failed };
}

async function removeOneByOne(client: S3Client, bucket: string, keys: readonly string[]): Promise<Removal> {
  const removed: string[] = [];
  const failed: Removal['failed'] = [];
  for (let start = 0; start < keys.length; start += callsAtOnce) {
    const some = keys.slice(start, start + callsAtOnce);
    await Promise.all(
      some.map(async (key) => {
        const reason = await removeOne(client, bucket, key);
        if (reason === undefined) removed.push(key);
        else failed.push({ key, reason });
      }),
    );
  }
  return { removed, failed };
}

/** Returns the reason of a failure, or `undefined`. */
async function removeOne(client: S3Client, bucket: string, key: string): Promise<string | undefined> {
  try {
    await client.call({ method: 'DELETE', bucket, key, repeat: 'always' }, async (answer: S3Answer) => {
      await answer.body.dump();
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof S3Fault) || error.status >= 500) throw error;
    return error.status === 404 ? undefined : (error.code ?? String(error.status));
  }
}
