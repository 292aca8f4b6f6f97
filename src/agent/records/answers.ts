/** A failure in the words of its provider, for operators. Users get `explainFailure` instead. */

const longest = 2000;
/** Errors wrap each other; a circle must end. */
const deepest = 5;

/** Has no request, because that has the prompt and the key. `undefined`: the error has no text. */
export function answerOf(error: unknown): string | undefined {
  const lines: string[] = [];
  let at = error;
  for (let depth = 0; at instanceof Error && depth < deepest; at = innerOf(at), depth += 1) {
    const line = lineOf(at);
    if (line !== '' && !lines.includes(line)) lines.push(line);
  }
  // Calls of media providers have their reason as a text.
  if (typeof at === 'string') lines.push(at);
  // PostgreSQL stores no NUL.
  const text = lines.join('\n').replaceAll('\0', '').toWellFormed();
  return text === '' ? undefined : text.slice(0, longest);
}

/** `lastError`: of the AI SDK's error after its retries. `errors`: one for each address of a host that refused the connection. */
const innerOf = (error: Error): unknown =>
  Reflect.get(error, 'lastError') ?? error.cause ?? Object(Reflect.get(error, 'errors'))[0];

function lineOf(error: Error): string {
  const [status, body] = [
    Reflect.get(error, 'statusCode') ?? Reflect.get(error, 'status'),
    Reflect.get(error, 'responseBody'),
  ];
  const answer = typeof body === 'string' && body !== '' ? body.slice(0, longest) : error.message;
  return typeof status === 'number' ? `${status} ${answer}` : answer;
}
