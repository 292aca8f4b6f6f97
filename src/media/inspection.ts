/** Looking at the bytes of an uploaded picture (document 000, POST /v1/assets step 2). */
import { createHash } from 'node:crypto';
import { type Engine, EngineBusy, EngineTimeout, type ImageFacts, PictureFault } from '#image/engine/engine.ts';
import type { Permits } from '#image/engine/permits.ts';
import { type ObjectBody, ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { type IdleDeadline, startIdleDeadline } from '#platform/resilience/deadline.ts';
import type { Refusal } from './problems.ts';

export interface InspectionDeps {
  readonly objects: Pick<Objects, 'get'>;
  readonly engine: Pick<Engine, 'inspect'>;
  /** Bounds how many pictures are held in memory at once: they are read whole before the engine takes its turn. */
  readonly pictures: Permits;
}

export interface Findings extends ImageFacts {
  /** Hex. */
  readonly sha256: string;
  readonly md5: string;
}

/** A read may take long as long as it moves. */
const readIdleMs = 5000;

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
  try {
    const release = await deps.pictures.acquire();
    try {
      const read = await readUnchanged(deps.objects, storageKey, head);
      return read && { ...(await deps.engine.inspect(read.bytes)), ...read.digests };
    } finally {
      release();
    }
  } catch (error) {
    if (error instanceof PictureFault) return refusalByFault[error.reason];
    // A picture that takes too long now may be quick on an idle machine: the object stays, the call may be repeated.
    if (error instanceof EngineBusy || error instanceof EngineTimeout) throw problems.overloaded({ cause: error });
    throw error;
  }
}

interface ReadObject {
  readonly bytes: Uint8Array;
  readonly digests: { readonly sha256: string; readonly md5: string };
}

async function readUnchanged(
  objects: InspectionDeps['objects'],
  storageKey: string,
  head: ObjectHead,
): Promise<ReadObject | undefined> {
  const deadline = startIdleDeadline(readIdleMs);
  try {
    const body = await objects.get(storageKey, { ifMatch: head.etag, signal: deadline.signal });
    return body && (await deadline.race(readWhole(body, deadline)));
  } catch (error) {
    if (error instanceof ObjectChanged) return undefined;
    throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
  } finally {
    deadline.stop();
  }
}

/** Digests are taken on the way in, a chunk at a time, so that a large picture does not hold the event loop. */
async function readWhole(body: ObjectBody, deadline: IdleDeadline): Promise<ReadObject> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  const bytes = Buffer.allocUnsafe(body.size);
  let length = 0;
  for await (const chunk of body.stream as AsyncIterable<Buffer>) {
    deadline.touch();
    sha256.update(chunk);
    md5.update(chunk);
    chunk.copy(bytes, length);
    length += chunk.length;
  }
  if (length !== body.size) throw new Error(`the object ended after ${length} of ${body.size} bytes`);
  return { bytes, digests: { sha256: sha256.digest('hex'), md5: md5.digest('hex') } };
}
