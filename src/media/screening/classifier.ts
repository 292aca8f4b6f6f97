/**
 * The external classifier (MEDIA_SCREENING_URL; docs/specification/media.md#screening): receives the bytes, and returns
 * whether they match and their labels. Only a well-formed response counts. There is no breaker and no retry: each image needs a response
 * of its own.
 */

import { Pool } from 'undici';
import { z } from 'zod';
import { assertOutsideTransaction } from '#platform/db/db.ts';
import { readAtMost } from '#platform/http/bodies.ts';
import { withDeadline } from '#platform/resilience.ts';
import { toStorableLine } from '#platform/storable.ts';
import { currentScope, writeTrace } from '#platform/telemetry/trace.ts';
import { userAgent } from '#platform/version.ts';
import { type Label, label } from './labels.ts';

export interface Classifiable {
  readonly assetId: string;
  /** The detected mime. */
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export interface Classification {
  /** The name of the list that matched, and `''` if it has none. `undefined`: no match. */
  readonly list: string | undefined;
  readonly labels: readonly Label[];
}

export interface Classifier {
  /** Rejects unless the response is well-formed. */
  classify(image: Classifiable, signal: AbortSignal): Promise<Classification>;
  close(): Promise<void>;
}

const answerSchema = z
  .object({ match: z.boolean().optional(), list: z.string().optional(), labels: z.array(label).optional() })
  .refine(({ match, labels }) => match !== undefined || labels !== undefined, 'has neither match nor labels');

const longestAnswerMs = 10_000;
const maxAnswerBytes = 64 * 1024;
/** More than the images in memory (service.ts). */
const maxConnections = 16;
const longestListName = 200;

export function createClassifier(address: string, timeoutMs = longestAnswerMs): Classifier {
  const url = new URL(address);
  const pool = new Pool(url.origin, { connections: maxConnections, connect: { timeout: 2000 } });

  async function request({ assetId, mime, bytes }: Classifiable, signal: AbortSignal): Promise<Classification> {
    const scope = currentScope();
    const response = await pool.request({
      method: 'POST',
      // Redirects are not followed: the bytes go only to the configured URL.
      path: url.pathname + url.search,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        'content-type': mime,
        'x-asset-id': assetId,
        ...credentialOf(url),
        ...(scope && writeTrace(scope.trace)),
      },
      body: bytes,
      signal,
    });
    const body = await readAtMost(response.body, maxAnswerBytes, tooLong);
    if (response.statusCode !== 200) throw new Error(`the classifier returned ${response.statusCode}`);
    const { match, list = '', labels = [] } = answerSchema.parse(JSON.parse(body.toString('utf8')));
    return { list: match ? toStorableLine(list, longestListName) : undefined, labels };
  }

  return {
    classify: (image, signal) => {
      assertOutsideTransaction('the classifier');
      return withDeadline(timeoutMs, (ended) => request(image, ended), signal);
    },
    close: () => pool.destroy(),
  };
}

/** A name and password in the URL, as browsers send them. */
function credentialOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const both = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(both).toString('base64')}` };
}

function tooLong(): Error {
  return new Error(`the classifier returned more than ${maxAnswerBytes} bytes`);
}
