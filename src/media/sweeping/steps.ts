/** The position of a sweep of variants, as in its cursor: `<sweep>/index/<key>`, `<sweep>/diff/<bucket>/<key>` … */
import { isUuid } from '#platform/ids.ts';
import { isBucketName, isSafeKey } from '#platform/objects/keys.ts';

export type Step =
  | { readonly name: 'index'; readonly sweepId: string; readonly after: string | undefined }
  | {
      readonly name: 'diff' | 'verify';
      readonly sweepId: string;
      readonly bucket: string;
      readonly after: string | undefined;
    };

/** `undefined`: not the position of a sweep. */
export function readStep(text: string): Step | undefined {
  const [sweepId = '', name, ...rest] = text.split('/');
  if (!isUuid(sweepId)) return undefined;
  const bucket = name === 'index' ? '' : (rest.shift() ?? '');
  const after = rest.join('/') || undefined;
  if (after !== undefined && !isSafeKey(after)) return undefined;
  if (name === 'index') return { name, sweepId, after };
  if ((name !== 'diff' && name !== 'verify') || !isBucketName(bucket)) return undefined;
  return { name, sweepId, bucket, after };
}

export function writeStep(step: Step): string {
  const place = step.name === 'index' ? [] : [step.bucket];
  return [step.sweepId, step.name, ...place, step.after ?? ''].join('/');
}
