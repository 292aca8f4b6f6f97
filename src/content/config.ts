import { address, flag, setting } from '#platform/config.ts';
import { keyOfSecret } from './webhooksignature.ts';

/** docs/specification/content.md. */
export const contentSettings = {
  userUrl: pageAddress('SITEMAP_USER_URL', 'users'),
  feedUrl: pageAddress('SITEMAP_FEED_URL', 'feeds'),
  publicUrl: address('CONTENT_PUBLIC_URL'),
  hasShareSitemap: flag('SITEMAP_GALLERY', { default: false }),
  resendWebhookSecret: setting('RESEND_WEBHOOK_SECRET', parseWebhookSecret, { secret: true }),
} as const;

function parseWebhookSecret(raw: string): string {
  // Anyone can sign with an empty key.
  if (keyOfSecret(raw).length === 0) throw new Error('must be `whsec_` and a key in base64');
  return raw;
}

function pageAddress(variable: string, folder: string) {
  const declaration = { default: `http://localhost:3000/${folder}/{id}`, requiredInProduction: true };
  return setting(variable, parsePageAddress, declaration);
}

function parsePageAddress(raw: string): string {
  const isPage = raw.includes('{id}') && /^https?:$/.test(URL.parse(raw)?.protocol ?? '');
  if (!isPage) throw new Error('must be an http or https URL that contains {id}');
  return raw;
}
