import { createHmac } from 'node:crypto';
import { setting, type Values } from '#platform/config.ts';
import { type WebhookEventType, webhookEventTypes } from './events.ts';

/** docs/specification/webhooks.md#settings. */
export const webhookSettings = {
  url: setting(
    'WEBHOOK_URL',
    {
      secret: true,
      meaning:
        'The http(s) URL that receives events. Not set: no webhooks. In production, its host must resolve to public IP addresses.',
    },
    parseUrl,
  ),
  secrets: setting(
    'WEBHOOK_SECRET',
    {
      secret: true,
      default: [],
      defaultText: 'not set',
      meaning:
        'Signs webhooks according to the Standard Webhooks specification: `whsec_` and 24 to 64 bytes in base64. Required with `WEBHOOK_URL`. To rotate it, list the new and the old secret, separated by commas. Requests then have both signatures.',
    },
    parseSecrets,
  ),
  events: setting(
    'WEBHOOK_EVENTS',
    {
      default: webhookEventTypes,
      defaultText: 'all',
      meaning: `The types to send, separated by commas. Types: ${webhookEventTypes.map((type) => `\`${type}\``).join(', ')}.`,
    },
    parseEvents,
  ),
} as const;

export type WebhookSettings = Values<typeof webhookSettings>;

function parseUrl(raw: string): string {
  const url = URL.parse(raw);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http(s) URL');
  if (url.username !== '' || url.password !== '') throw new Error('must not contain credentials');
  return raw;
}

function parseSecrets(raw: string): readonly string[] {
  const secrets = partsOf(raw);
  for (const secret of secrets) keyOfSecret(secret);
  return secrets;
}

function parseEvents(raw: string): readonly WebhookEventType[] {
  return partsOf(raw).map((name) => {
    const type = webhookEventTypes.find((known) => known === name);
    if (type === undefined) throw new Error(`must list event types only; unknown: ${name}`);
    return type;
  });
}

function partsOf(raw: string): readonly string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

// Signatures of the Standard Webhooks specification, version 1 (symmetric).

const prefix = 'whsec_';
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Throws a plain Error when the text is not a secret of 24 to 64 bytes. */
export function keyOfSecret(secret: string): Buffer {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const key = base64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.alloc(0);
  if (key.length < 24 || key.length > 64) throw new Error('must be `whsec_` and 24 to 64 bytes in base64');
  return key;
}

export interface SignedMessage {
  readonly id: string;
  /** Unix seconds. */
  readonly timestampS: number;
  readonly body: string;
}

/** Returns the value of `webhook-signature`: one signature for each secret, separated by spaces. */
export function signMessage({ id, timestampS, body }: SignedMessage, secrets: readonly string[]): string {
  const content = `${id}.${timestampS}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', keyOfSecret(secret)).update(content).digest('base64')}`)
    .join(' ');
}
