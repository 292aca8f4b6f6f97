/**
 * Structured logs (pino), one JSON line each, with the ids of the current request. They contain no secrets: no headers, query
 * strings or bodies are logged, and errors are reduced to known fields. As a second safeguard, every line is searched for text
 * that looks like a credential before it is written (docs/specification/http.md#errors).
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import { currentScope } from './telemetry/trace.ts';

export type Log = Logger;

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const logFormats = ['json', 'pretty'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogOptions {
  readonly level: string;
  /** Default: `json`. */
  readonly format?: LogFormat;
  readonly service?: string;
  /** The configured secrets, which are removed from every line. */
  readonly secrets?: readonly string[];
  /** For tests. Default: standard output. */
  readonly destination?: DestinationStream;
}

let opened: DestinationStream | undefined;
/** One stream for the process: it writes in the background, and two streams would mix up the order of lines. */
const standardOutput = () => (opened ??= pino.destination(1));

/** Prints a line after the lines that were logged before it. */
export function printLine(line: string): void {
  standardOutput().write(`${line}\n`);
}

export function createLog(options: LogOptions): Log {
  const withoutSecrets = createScrubber(options.secrets ?? []);
  const write = (line: string) => withoutSecrets(options.format === 'pretty' ? prettyLine(line) : line);
  return pino(
    {
      level: options.level,
      base: options.service === undefined ? {} : { service: options.service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      mixin: () => {
        const scope = currentScope();
        return scope === undefined ? {} : { requestId: scope.requestId, traceId: scope.trace.traceId };
      },
      hooks: { streamWrite: write },
    },
    options.destination ?? standardOutput(),
  );
}

/** Returns `04:07:13 warn  media  message  key=value`, with the stack of an error below it. */
function prettyLine(line: string): string {
  const { level, time, service, msg, err, ...rest } = JSON.parse(line) as Readonly<Record<string, unknown>> & {
    readonly err?: Partial<ErrorFacts>;
  };
  // After a line end, a value that another program wrote could look like the next entry.
  const facts = Object.entries(rest).map(([key, value]) =>
    `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`.replaceAll('\n', '\\n'),
  );
  const head = [String(time).slice(11, 19), String(level).padEnd(5), service, msg ?? err?.message, ...facts];
  const stack = err === undefined ? [] : stackOf(err).split('\n');
  const text = [head.filter((part) => part !== undefined).join('  '), ...stack.map((entry) => `    ${entry}`)].join(
    '\n',
  );
  return `${text.replaceAll(controls, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)}\n`;
}

/** Control characters other than tabs and line ends, because a terminal would execute them. */
const controls = /(?![\t\n])\p{Cc}/gu;

function stackOf({ stack, type, message, cause }: Partial<ErrorFacts>): string {
  const own = stack ?? `${type}: ${message}`;
  return cause === undefined ? own : `${own}\ncaused by ${stackOf(cause)}`;
}

interface ErrorFacts {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorFacts;
}

const deepestCause = 5;

/** Copies only known members, because drivers attach requests, headers and rows to their errors. */
function describeError(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error))
    return { type: typeof error, message: typeof error === 'string' ? error : 'not an error' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined || depth >= deepestCause ? {} : { cause: describeError(error.cause, depth + 1) }),
  };
}

/** Shorter values would remove ordinary words. */
const shortestSecret = 8;

function createScrubber(secrets: readonly string[]): (line: string) => string {
  const known = secrets.filter((secret) => secret.length >= shortestSecret);
  return (line) => {
    const scrubbed = line
      // Compact JWS and JWE, including sealed cookies.
      .replace(/\beyJ(?:(?!\beyJ)[\w-])*\.[\w-]*(?:\.[\w-]*){0,3}/g, '[token]')
      .replace(/\b(Bearer|Basic)( |%20)+[^\s"\\,]+/gi, '$1 [secret]')
      .replace(/\b(ka_\w+)=[^\s"\\;]+/g, '$1=[secret]')
      // The query string of a URL, which may contain a signature or an authorization code.
      .replace(/\?[^\s"'\\<>?=]+=[^\s"'\\<>]*/g, '?[query]')
      .replace(/:\/\/[^\s"'\\/@]+@/g, '://[secret]@');
    return known.reduce((text, secret) => text.replaceAll(secret, '[secret]'), scrubbed);
  };
}
