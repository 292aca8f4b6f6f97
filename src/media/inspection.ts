/** Looking at the bytes of an uploaded picture (document 000, POST /v1/assets step 2). */
import { createHash } from 'node:crypto';
import { type Engine, EngineBusy, EngineTimeout, type ImageFacts, PictureFault } from '#image/engine/engine.ts';
import { type ObjectBody, ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { Refusal } from './problems.ts';

export interface InspectionDeps {
  readonly objects: Pick<Objects, 'get'>;
  readonly engine: Pick<Engine, 'inspect'>;
}

/** A store that sends slower than this cannot hold a request for ever. */
const readTimeoutMs = 30_000;

export interface Findings extends ImageFacts {
  /** Hex. */
  readonly sha256: string;
  readonly md5: string;
}

const refusalByFault: Readonly<Record<PictureFault['reason'], Refusal>> = {
  unsupported: 'unsupported_image',
  undecodable: 'undecodable_image',
  too_large: 'image_too_large',
};

/**
 * Reads exactly the object that `head` describes. A refusal when the picture is at fault; `undefined` when the object is
 * gone or has become another one. Throws `engine_unavailable` and `overloaded`.
 */
export async function inspectImage(
  deps: InspectionDeps,
  storageKey: string,
  head: ObjectHead,
): Promise<Findings | Refusal | undefined> {
  const body = await readUnchanged(deps.objects, storageKey, head);
  if (body === undefined) return undefined;
  try {
    const facts = await deps.engine.inspect(body.bytes);
    return { ...facts, sha256: body.sha256, md5: body.md5 };
  } catch (error) {
    if (error instanceof PictureFault) return refusalByFault[error.reason];
    // A picture that takes too long now may be quick on an idle machine, so the object stays and the call may be repeated.
    if (error instanceof EngineBusy || error instanceof EngineTimeout) throw problems.overloaded({ cause: error });
    throw error;
  }
}

interface ReadObject {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly md5: string;
}

async function readUnchanged(
  objects: InspectionDeps['objects'],
  storageKey: string,
  head: ObjectHead,
): Promise<ReadObject | undefined> {
  try {
    const body = await objects.get(storageKey, {
      ifMatch: head.etag,
      signal: AbortSignal.timeout(readTimeoutMs),
    });
    return body && (await readWhole(body));
  } catch (error) {
    if (error instanceof ObjectChanged) return undefined;
    throw error;
  }
}

/** Digests are taken on the way in, a chunk at a time, so that a large picture does not hold the event loop. */
async function readWhole(body: ObjectBody): Promise<ReadObject> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  const bytes = Buffer.allocUnsafe(body.size);
  let length = 0;
  try {
    for await (const chunk of body.stream as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      md5.update(chunk);
      length += chunk.copy(bytes, length);
    }
  } catch (error) {
    throw problems.engine_unavailable({ cause: error });
  }
  if (length !== body.size) throw problems.engine_unavailable({ cause: new Error('the object ended early') });
  return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') };
}
