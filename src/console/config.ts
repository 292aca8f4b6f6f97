import { randomBytes } from 'node:crypto';
import { address, list, parseAddress, secret, setting } from '#platform/config.ts';
import { claimSetting } from './operators/roles.ts';

/** Settings of the console (docs/specification/system.md#engines; docs/console.md). */
export const consoleSettings = {
  token: secret('CONSOLE_TOKEN', {
    make: () => randomBytes(32).toString('base64url'),
    valid: (raw) => (raw.length < 16 ? 'must be at least 16 characters' : undefined),
    meaning: 'The token for the operator pages of the console. Empty: they are disabled.',
  }),
  url: address('CONSOLE_URL', {
    meaning: 'The public URL of the console. Requests for another host are rejected. Not set: its local URL.',
  }),
  agentUrl: address('AGENT_PUBLIC_URL', {
    meaning:
      'The URL of the agent service for browsers, if it differs from `AGENT_URL`, which the console’s server calls.',
  }),
  mediaUrl: address('MEDIA_PUBLIC_URL', {
    meaning:
      'The URL of the media service for browsers, if it differs from `MEDIA_URL`, which the console’s server calls.',
  }),
  memoryUrl: address('MEMORY_PUBLIC_URL', {
    meaning:
      'The URL of the memory service for browsers, if it differs from `MEMORY_URL`, which the console’s server calls.',
  }),
  traceUrl: setting(
    'CONSOLE_TRACE_URL',
    {
      meaning:
        'The page of a trace, with `{traceId}` as the placeholder of its id: `https://jaeger.example.com/trace/{traceId}`. Not set: no links.',
    },
    (raw) => {
      if (!raw.includes('{traceId}')) throw new Error('must contain {traceId}');
      return parseAddress(raw);
    },
  ),
  cmsEditUrl: address('CMS_EDIT_URL', {
    meaning:
      'The page of the CMS where editors change content; the Content page links to it. `{document}` is replaced by `announcements`, `home-cards-v2` or `trending`. Not set: no links.',
  }),
  operators: list('OPERATOR_EMAILS', {
    default: [],
    meaning: 'Email addresses, comma-separated, whose accounts at the identity provider are operators of the console.',
  }),
  claim: claimSetting(
    'OPERATOR_CLAIM',
    'A claim of the access tokens of operators: `app_metadata.role=operator`. If the claim is a list, it must contain the value. `user_metadata` is rejected, because users can edit it.',
  ),
  readerClaim: claimSetting(
    'OPERATOR_READER_CLAIM',
    'The same for operators with read-only access: `app_metadata.role=operator_reader`.',
  ),
  readers: list('OPERATOR_READER_EMAILS', {
    default: [],
    meaning: 'Email addresses, comma-separated, whose accounts have read-only access to the operator pages.',
  }),
} as const;
