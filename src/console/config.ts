import { randomBytes } from 'node:crypto';
import { address, list, parseAddress, secret, setting } from '#platform/config.ts';
import { claimSetting } from './operators/claim.ts';

/** Settings of the console (docs/specification/system.md#engines; docs/console.md). */
export const consoleSettings = {
  token: secret('CONSOLE_TOKEN', {
    make: () => randomBytes(32).toString('base64url'),
    valid: (raw) => (raw.length < 16 ? 'must be at least 16 characters' : undefined),
    meaning: 'The token for the operator’s pages of the console. Empty: they are disabled.',
  }),
  url: address('CONSOLE_URL', {
    meaning: 'The public URL of the console. Requests for another host are rejected. Not set: its own address.',
  }),
  agentUrl: address('AGENT_PUBLIC_URL', {
    meaning: 'Where browsers reach the agent service, if this is not `AGENT_URL`, which the console’s server calls.',
  }),
  mediaUrl: address('MEDIA_PUBLIC_URL', {
    meaning: 'Where browsers reach the media service, if this is not `MEDIA_URL`, which the console’s server calls.',
  }),
  traceUrl: setting(
    'CONSOLE_TRACE_URL',
    {
      meaning:
        'The page of a trace, with `{traceId}` where its id belongs: `https://jaeger.example.com/trace/{traceId}`. Not set: no links.',
    },
    (raw) => {
      if (!raw.includes('{traceId}')) throw new Error('must contain {traceId}');
      return parseAddress(raw);
    },
  ),
  operators: list('OPERATOR_EMAILS', {
    default: [],
    meaning: 'Email addresses, comma-separated, whose accounts at the identity provider are operators of the console.',
  }),
  claim: claimSetting(
    'OPERATOR_CLAIM',
    'A claim of access tokens whose holders are operators: `app_metadata.role=operator`. A list must contain the value. `user_metadata` is refused, because users write it.',
  ),
  readerClaim: claimSetting(
    'OPERATOR_READER_CLAIM',
    'The same for operators who change nothing: `app_metadata.role=operator_reader`.',
  ),
  readers: list('OPERATOR_READER_EMAILS', {
    default: [],
    meaning: 'Email addresses, comma-separated, whose accounts see the operator’s pages and change nothing.',
  }),
} as const;
