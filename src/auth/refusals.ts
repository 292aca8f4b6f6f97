/**
 * Interprets a rejection by the identity provider: a dead credential, or one whose state is unknown (docs/specification/auth.md#refresh).
 */

export interface Refused {
  readonly kind: 'refused';
  /** GoTrue's error code, if there is one. */
  readonly code: string | undefined;
}

export interface Unavailable {
  readonly kind: 'unavailable';
  readonly retryAfterS?: number;
  /** A wrong API key or an invalid request: the fault is not in the user's credential. */
  readonly isOurFault?: boolean;
}

/** The statuses with which the provider itself rejects a credential. */
const final: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 422]);

/**
 * Interprets any status from 300 on. The credential is dead only if the provider itself confirms it, in JSON with an error code. A
 * gateway's 4xx, an HTML page or an empty body is no evidence.
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
 * Reads three formats: `{ code: 400, error_code, msg }`, `{ code: "…", message }`, `{ error, error_description }`. For a gateway's
 * response in another format, it uses the whole text.
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
