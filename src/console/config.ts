import { randomBytes } from 'node:crypto';
import { address, secret } from '#platform/config.ts';

/** docs/specification/system.md#engines; docs/console.md. */
export const consoleSettings = {
  token: secret('CONSOLE_TOKEN', {
    make: () => randomBytes(32).toString('base64url'),
    valid: (raw) => (raw.length < 16 ? 'must be at least 16 characters' : undefined),
    meaning: 'Opens the operator’s pages of the console. Empty: they stay closed.',
  }),
  url: address('CONSOLE_URL', {
    meaning: 'Where browsers reach the console; requests that name another host are refused. Not set: its own address.',
  }),
} as const;
