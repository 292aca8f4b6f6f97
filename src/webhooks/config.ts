import { createHmac } from 'node:crypto';
import { setting, splitList, type Values } from '#platform/config.ts';
import { type WebhookEventType, webhookEventTypes } from './events.ts';

/** docs/specification/webhooks.md#settings. */
export const webhookSettings = {
  url: setting('WEBHOOK_URL', parseUrl, { secret: true }),
  secrets: setting('WEBHOOK_SECRET', parseSecrets, { secret: true, default: [] }),
  events: {
    ...setting('WEBHOOK_EVENTS', parseEvents, { default: webhookEventTypes }),
    choices: webhookEventTypes,
  },
} as const;

export type WebhookSettings = Values<typeof webhookSettings>;

function parseUrl(raw: string): string {
  const url = URL.parse(raw);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http(s) URL');
  if (url.username !== '' || url.password !== '') throw new Error('must not contain credentials');
  return raw;
}

function parseSecrets(raw: string): readonly string[] {
  const secrets = splitList(raw);
  for (const secret of secrets) keyOfSecret(secret);
  return secrets;
}

function parseEvents(raw: string): readonly WebhookEventType[] {
  return splitList(raw).map((name) => {
    const type = webhookEventTypes.find((known) => known === name);
    if (type === undefined) throw new Error(`must list event types only; unknown: ${name}`);
    return type;
  });
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
