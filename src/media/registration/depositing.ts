/**
 * `POST /v1/deposits`: an image that another service made becomes an asset in one request (docs/media.md#post-v1deposits). It is stored
 * once, with its mark, after it was inspected and screened. What is blocked is stored as it was sent, and removed as an upload is.
 */
import { setImmediate } from 'node:timers/promises';
import type { Caller } from '#platform/access/caller.ts';
import { parseJson } from '#platform/json.ts';
import { ObjectExists, type ObjectHead } from '#platform/objects/objects.ts';
import { invalid } from '#platform/problem.ts';
import { type RegistrationRequest, registrationRequest } from '../api.ts';
import { isImage } from '../assets/sizelimits.ts';
import type { MediaContext } from '../context.ts';
import { rewriteImage } from '../metadata/rewriting.ts';
import { mediaProblems, refusalProblem } from '../problems.ts';
import { reserveRoom } from '../quota/reserving.ts';
import { startHashes } from '../reading/unchanged.ts';
import type { ExactDigests } from '../screening/messages.ts';
import { busy, type Inspection, inspectImage, inspectionOf, screenInspected } from './inspection.ts';
import * as registration from './registration.ts';

/** As `application/octet-stream`: the registration as JSON in one line, a line feed, and the bytes of the image. */
export interface Deposit {
  readonly length: number;
  readonly body: AsyncIterable<Buffer>;
}

/** Of the first line: prompts and references are the longest fields. */
const mostLineBytes = 64 * 1024;
const lineFeed = 0x0a;
/** Digests of longer pieces would block other requests. */
const pieceBytes = 256 * 1024;

/** Throws as `reserveUpload` and `registerAsset` do. */
export async function depositAsset(
  deps: MediaContext,
  caller: Caller,
  deposit: Deposit,
): Promise<registration.Registration> {
  if (!(deposit.length <= deps.limits.maxImageBytes + mostLineBytes)) throw mediaProblems.asset_too_large();
  const owner = caller.kind === 'user' ? caller.userId : undefined;
  const leave = await deps.images.acquire({ owner, kind: 'upload', bytes: deposit.length }).catch(busy);
  let stored: { readonly request: RegistrationRequest; readonly object: registration.MarkedObject | undefined };
  try {
    const { request, bytes } = await receive(deposit);
    if (bytes.length > deps.limits.maxImageBytes) throw mediaProblems.asset_too_large();
    stored = { request, object: await store(deps, registration.declaredBy(caller, request), bytes) };
  } finally {
    leave();
  }
  return registration.registerAsset(deps, caller, stored.request, undefined, stored.object);
}

async function receive({ length, body }: Deposit) {
  const whole = Buffer.allocUnsafe(length);
  let received = 0;
  let start = 0;
  for await (const chunk of body) {
    received += chunk.copy(whole, received);
    if (start === 0) start = whole.subarray(0, received).indexOf(lineFeed) + 1;
    if (start === 0 && received > mostLineBytes) break;
  }
  if (start === 0 || received !== length) throw invalid('body', 'must be a line of JSON and the bytes of an image');
  const request = parse(whole.toString('utf8', 0, start));
  return { request, bytes: whole.subarray(start) };
}

function parse(line: string): RegistrationRequest {
  const json = parseJson(line);
  if (json === undefined) throw invalid('body', 'must begin with a line of JSON');
  const { data, error } = registrationRequest.safeParse(json);
  const [issue] = error?.issues ?? [];
  if (data === undefined) throw invalid(['body', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
  if (!isImage(data.mime)) throw invalid('body.mime', 'must be that of an image');
  return data;
}

/** `undefined`: an earlier attempt has stored an object. Throws the refusal of bytes that are not stored. */
async function store(
  deps: MediaContext,
  declared: registration.DeclaredUpload,
  bytes: Buffer,
): Promise<registration.MarkedObject | undefined> {
  const { assetId, ownerId } = declared.identity;
  const inspecting = inspectImage(deps, bytes, ownerId);
  inspecting.catch(() => undefined);
  // The decoder works on threads of its own.
  const digests = await digestsOf(bytes);
  const { made, generated } = await rewriteImage(bytes, registration.wantedOf(deps, declared), deps.credentials);
  const ofMade = made === bytes ? digests : await digestsOf(made);
  const shown = await inspecting;
  if (typeof shown === 'string') throw refusalProblem(shown);
  const inspection = inspectionOf(shown, digests);
  const verdict = await screenInspected(deps, assetId, inspection);
  const isBlocked = verdict.match !== undefined;
  const head = await put(deps, declared, isBlocked ? bytes : made, ownerId);
  const asStored: Inspection = isBlocked ? inspection : inspectionOf(shown, ofMade);
  return head && { head, inspection: asStored, generated: generated ?? declared.facts.generated, verdict };
}

async function put(
  deps: MediaContext,
  { identity: { assetId, requestedMime }, storageKey }: registration.DeclaredUpload,
  bytes: Uint8Array,
  ownerId: string,
): Promise<ObjectHead | undefined> {
  const size = bytes.length;
  await reserveRoom(deps, { assetId, ownerId, storageKey, byteSize: size, maxSize: size, resumable: false });
  try {
    return await deps.objects.put(storageKey, bytes, { contentType: requestedMime, size, createOnly: true });
  } catch (error) {
    if (error instanceof ObjectExists) return undefined;
    throw error;
  }
}

async function digestsOf(bytes: Uint8Array): Promise<ExactDigests> {
  const hashes = startHashes();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await setImmediate();
    hashes.update(bytes.subarray(at, at + pieceBytes));
  }
  return hashes.digests();
}
