/** Structured logs (pino), one JSON line each. Nothing secret: no headers, no query strings, no bodies are logged. */
import { type Logger, pino } from 'pino';

export type Log = Logger;

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export function createLog(options: { readonly level: string; readonly service?: string }): Log {
  return pino({
    level: options.level,
    base: options.service === undefined ? {} : { service: options.service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
