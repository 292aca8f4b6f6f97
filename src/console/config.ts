import { randomBytes } from 'node:crypto';
import { address, list, parseAddress, secret, setting } from '#platform/config.ts';
import { claimSetting } from './operators/roles.ts';

/** Settings of the console (docs/specification/system.md#engines; docs/console.md). */
export const consoleSettings = {
  token: secret('CONSOLE_TOKEN', {
    make: () => randomBytes(32).toString('base64url'),
    valid: (raw) => (raw.length < 16 ? 'must be at least 16 characters' : undefined),
  }),
  url: address('CONSOLE_URL'),
  agentUrl: address('AGENT_PUBLIC_URL'),
  mediaUrl: address('MEDIA_PUBLIC_URL'),
  memoryUrl: address('MEMORY_PUBLIC_URL'),
  traceUrl: setting('CONSOLE_TRACE_URL', (raw) => {
    if (!raw.includes('{traceId}')) throw new Error('must contain {traceId}');
    return parseAddress(raw);
  }),
  cmsEditUrl: address('CMS_EDIT_URL'),
  operators: list('OPERATOR_EMAILS'),
  claim: claimSetting('OPERATOR_CLAIM'),
  readerClaim: claimSetting('OPERATOR_READER_CLAIM'),
  readers: list('OPERATOR_READER_EMAILS'),
} as const;
