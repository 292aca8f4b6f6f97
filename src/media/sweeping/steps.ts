/** How far a sweep of variants has come, as its cursor says: `<sweep>/note/<key>`, `<sweep>/strike/<bucket>/<key>` … */

import { isUuid } from '#platform/ids.ts';
import { isBucketName, isSafeKey } from '#platform/objects/keys.ts';

export type Step =
  | { readonly name: 'note'; readonly sweepId: string; readonly after: string | undefined }
  | {
      readonly name: 'strike' | 'judge';
      readonly sweepId: string;
      readonly bucket: string;
      readonly after: string | undefined;
    };

/** `undefined`: no sweep has come so far. */
export function readStep(text: string): Step | undefined {
  const [sweepId = '', name, ...rest] = text.split('/');
  if (!isUuid(sweepId)) return undefined;
  const bucket = name === 'note' ? '' : (rest.shift() ?? '');
  const after = rest.join('/') || undefined;
  if (after !== undefined && !isSafeKey(after)) return undefined;
  if (name === 'note') return { name, sweepId, after };
  if ((name !== 'strike' && name !== 'judge') || !isBucketName(bucket)) return undefined;
  return { name, sweepId, bucket, after };
}

export function writeStep(step: Step): string {
  const place = step.name === 'note' ? [] : [step.bucket];
  return [step.sweepId, step.name, ...place, step.after ?? ''].join('/');
}
