/** What a refusal of the identity provider means: a dead credential, or one of which nothing is known (docs/specification/auth.md#refresh). */

export interface Refused {
  readonly kind: 'refused';
  /** GoTrue's error code, where it gives one. */
  readonly code: string | undefined;
}

export interface Unavailable {
  readonly kind: 'unavailable';
  readonly retryAfterS?: number;
  /** A wrong API key or a form that the provider does not read: not the user's credential is at fault. */
  readonly isOurFault?: boolean;
}

/** The statuses with which the provider itself refuses a credential. */
const final: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 422]);

/**
 * Of any status from 300 on. The credential is dead only when the provider itself says so, in JSON with an error code: a
 * gateway's 4xx, an HTML page and an empty body say nothing about it.
 */
export function readRefusal(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
): Refused | Unavailable {
  if (!final.has(status)) return { kind: 'unavailable', ...waitOf(headers) };
  const { code, isCoded, texts } = readError(body);
  if ((status === 400 && code === 'bad_json') || (status === 401 && texts.some((text) => /api[\s_-]?key/i.test(text))))
    return { kind: 'unavailable', isOurFault: true };
  return isCoded ? { kind: 'refused', code } : { kind: 'unavailable', ...waitOf(headers) };
}

const longestWaitS = 60;

function waitOf(headers: Readonly<Record<string, string | string[] | undefined>>): { readonly retryAfterS?: number } {
  const seconds = Number(headers['retry-after']);
  return Number.isInteger(seconds) && seconds > 0 ? { retryAfterS: Math.min(seconds, longestWaitS) } : {};
}

/**
 * Three shapes are spoken: `{ code: 400, error_code, msg }`, `{ code: "…", message }`, `{ error, error_description }`. A
 * gateway in front may speak none of them: then its whole text is what it says.
 */
function readError(body: Buffer): {
  readonly code: string | undefined;
  readonly isCoded: boolean;
  readonly texts: readonly string[];
} {
  const text = body.toString('utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { code: undefined, isCoded: false, texts: [text] };
  }
  if (typeof parsed !== 'object' || parsed === null) return { code: undefined, isCoded: false, texts: [text] };
  const fields = new Map<string, unknown>(Object.entries(parsed));
  const codes = ['error_code', 'code', 'error'].map((name) => fields.get(name) ?? undefined);
  const code = codes.find((value) => typeof value === 'string');
  const texts = [...fields.values()].filter((value) => typeof value === 'string');
  return { code, isCoded: codes.some((value) => value !== undefined), texts };
}
