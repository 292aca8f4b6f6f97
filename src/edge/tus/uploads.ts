/** Resumable uploads (docs/specification/media.md#resumable-uploads). Their addresses are signed, and the store keeps their state. */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ResumeTerms, readAddress } from '#platform/objects/addresses.ts';
import { isSafeKey, ObjectExists, type Objects } from '#platform/objects/objects.ts';
import { OffsetConflict, type ResumableUpload, UploadEnded, UploadTakenOver } from '#platform/objects/resumable.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { EdgeContext } from '../context.ts';
import { edgeProblems } from '../problems.ts';
import { segmentsBehindFirst, targetOf } from '../targets.ts';
import { receivePiece } from './sessions.ts';

// The tus resumable upload protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload): core, expiration and termination.

export const tusVersion = '1.0.0';

/** Answers to OPTIONS. The uploads exist before the first request, so the creation extension is not among these. */
export const tusCapabilities = {
  'tus-resumable': tusVersion,
  'tus-version': tusVersion,
  'tus-extension': 'expiration,termination',
};

/** Headers of the protocol that pages may send and read, beside those of files. */
export const tusRequestHeaders = [
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'X-HTTP-Method-Override',
  'X-Requested-With',
];
export const tusResponseHeaders = [
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Expires',
];

/** For clients that can send neither PATCH nor DELETE, this header replaces the method. */
export function methodOf({ method, headers }: FastifyRequest): string {
  const override = headers['x-http-method-override'];
  return typeof override === 'string' ? override.toUpperCase() : method;
}

/** Throws 412. A request in another version must not be processed. */
export function assertVersion(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers['tus-resumable'] === tusVersion) return;
  reply.header('tus-version', tusVersion);
  throw edgeProblems.unsupported_version();
}

/** Throws 415 and 400. */
function offsetOf({ headers }: FastifyRequest): number {
  if (headers['content-type']?.toLowerCase() !== 'application/offset+octet-stream')
    throw problems.unsupported_media_type({ message: 'The content type must be application/offset+octet-stream.' });
  const offset = headers['upload-offset'];
  if (typeof offset !== 'string' || !/^\d{1,15}$/.test(offset))
    throw invalid('headers.upload-offset', 'must be a whole number of bytes');
  return Number(offset);
}

interface FoundUpload {
  readonly upload: ResumableUpload;
  readonly objects: Objects;
  /** The value of `Upload-Expires`. */
  readonly expires: string;
}

export async function describeUpload(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const found = findUpload(deps, request);
  const { upload } = found;
  // A client reads the offset after its connection broke. What arrived before is being stored.
  const isFree = await deps.sessions.yielded(upload.id);
  const offset = await durableOffset(found);
  // The process that received the last byte may have died before it created the object.
  if (offset === upload.size) {
    if (!isFree) throw edgeProblems.upload_in_progress({ retryAfterS: 1 });
    await completeUpload(found);
  }
  return reply
    .headers({
      'upload-offset': String(offset),
      'upload-length': String(upload.size),
      'upload-expires': found.expires,
      'cache-control': 'no-store',
    })
    .send();
}

export async function appendToUpload(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const found = findUpload(deps, request);
  const { upload, objects, expires } = found;
  const offset = offsetOf(request);
  const left = upload.size - offset;
  const announced = request.headers['content-length'];
  const size = announced === undefined ? undefined : Number(announced);
  if (left < 0 || (size !== undefined && size > left)) throw tooLarge(upload.size);
  if (!(await deps.sessions.yielded(upload.id))) throw edgeProblems.upload_in_progress({ retryAfterS: 1 });
  const stored = await durableOffset(found);
  if (stored !== offset) throw conflict(stored);
  const answer = (newOffset: number) =>
    reply
      .code(204)
      .headers({ 'upload-offset': String(newOffset), 'upload-expires': expires })
      .send();
  if (left === 0) {
    await completeUpload(found);
    return answer(offset);
  }
  const place = deps.uploads.begin(objects.bucket, upload.key);
  try {
    const arrival = receivePiece(request, reply, {
      maxBytes: left,
      wrongSize: () => tooLarge(upload.size),
      hasRoomFor: (bytes) => {
        session.moved();
        return place.add(bytes);
      },
      noRoom: place.noRoom,
    });
    const session = deps.sessions.begin(upload.id, arrival);
    try {
      const newOffset = await objects.resumable.append(upload, offset, arrival.body);
      const fault = arrival.fault();
      if (fault !== undefined && newOffset < upload.size) throw fault;
      return answer(newOffset);
    } finally {
      session.settle();
    }
  } catch (error) {
    throw asProblem(error);
  } finally {
    place.end();
  }
}

export async function terminateUpload(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const found = findUpload(deps, request);
  const { upload, objects } = found;
  if (!(await deps.sessions.interrupt(upload.id))) throw edgeProblems.upload_in_progress({ retryAfterS: 1 });
  // A whole upload is an object, which its owner deletes by its asset.
  if ((await durableOffset(found)) === upload.size) throw edgeProblems.upload_ended();
  await objects.resumable.terminate(upload);
  return reply.code(204).send();
}

/** An address that was changed is unknown. */
function findUpload({ addressKey, bucket, clock }: EdgeContext, { raw }: FastifyRequest): FoundUpload {
  const { path, query } = targetOf(raw);
  const [name = '', ...rest] = segmentsBehindFirst(path) ?? [];
  const key = rest.join('/');
  const terms = isSafeKey(key) ? readAddress(addressKey, { method: 'PATCH', bucket: name, key, query }) : undefined;
  const objects = bucket(name);
  if (terms?.method !== 'PATCH' || objects === undefined) throw problems.not_found();
  if (terms.expires * 1000 <= clock.now()) throw edgeProblems.upload_ended({ message: 'The upload has expired.' });
  return { upload: uploadOf(terms), objects, expires: new Date(terms.expires * 1000).toUTCString() };
}

const uploadOf = ({ upload, key, size, contentType }: ResumeTerms): ResumableUpload => ({
  id: upload,
  key,
  size,
  contentType,
});

/** An object under the key, by whatever upload, is the whole upload if it has its size. Throws 410. */
async function durableOffset({ upload, objects }: FoundUpload): Promise<number> {
  const sizeOfObject = async () => {
    const head = await objects.head(upload.key);
    if (head !== undefined && head.size !== upload.size) throw edgeProblems.upload_ended({ message: taken });
    return head?.size;
  };
  const size = await sizeOfObject();
  if (size !== undefined) return size;
  try {
    return await objects.resumable.offset(upload);
  } catch (error) {
    if (!(error instanceof UploadEnded)) throw error;
    // Another process may have completed it since the first look.
    const completed = await sizeOfObject();
    if (completed === undefined) throw edgeProblems.upload_ended();
    return completed;
  }
}

async function completeUpload({ upload, objects }: FoundUpload): Promise<void> {
  if ((await objects.head(upload.key)) !== undefined) return;
  try {
    await objects.resumable.append(upload, upload.size, Readable.from([]));
  } catch (error) {
    if (!(error instanceof ObjectExists)) throw asProblem(error);
  }
}

function asProblem(error: unknown): unknown {
  if (error instanceof OffsetConflict) return conflict(error.offset);
  if (error instanceof UploadEnded) return edgeProblems.upload_ended({ cause: error });
  // The next request reads the offset of the other process, or finds the object.
  if (error instanceof UploadTakenOver || error instanceof ObjectExists)
    return edgeProblems.upload_in_progress({ retryAfterS: 1, cause: error });
  return error;
}

const conflict = (offset: number) =>
  edgeProblems.offset_conflict({ message: `The upload is at offset ${offset}. Continue from there.` });

const tooLarge = (size: number) => problems.payload_too_large({ message: `The upload has a length of ${size} bytes.` });

const taken = 'Another upload has created the object.';
