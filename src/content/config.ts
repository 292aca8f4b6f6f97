import { address, flag, setting } from '#platform/config.ts';
import { keyOfSecret } from './webhooksignature.ts';

/** docs/specification/content.md. */
export const contentSettings = {
  userUrl: pageAddress('SITEMAP_USER_URL', 'users', 'The URL of a user’s page in XML sitemaps; `{id}` is replaced.'),
  feedUrl: pageAddress('SITEMAP_FEED_URL', 'feeds', 'The URL of a feed’s page in XML sitemaps; `{id}` is replaced.'),
  publicUrl: address('CONTENT_PUBLIC_URL', {
    defaultText: 'the host of the request',
    meaning:
      'The public URL of the content service. The URLs in `/sitemap.xml` begin with it, and the console’s pages call it. Not set: these pages call `CONTENT_URL`.',
  }),
  hasShareSitemap: flag('SITEMAP_GALLERY', {
    default: false,
    meaning: '`true`: a sitemap lists the shares whose owners let search engines find them.',
  }),
  resendWebhookSecret: setting(
    'RESEND_WEBHOOK_SECRET',
    {
      secret: true,
      meaning: 'The signing secret (`whsec_…`) of the mail provider’s webhook, which calls `POST /webhooks/resend`.',
    },
    parseWebhookSecret,
  ),
} as const;

function parseWebhookSecret(raw: string): string {
  // Anyone can sign with an empty key.
  if (keyOfSecret(raw).length === 0) throw new Error('must be `whsec_` and a key in base64');
  return raw;
}

function pageAddress(variable: string, folder: string, meaning: string) {
  const declaration = { default: `http://localhost:3000/${folder}/{id}`, requiredInProduction: true, meaning };
  return setting(variable, declaration, parsePageAddress);
}

function parsePageAddress(raw: string): string {
  const isPage = raw.includes('{id}') && /^https?:$/.test(URL.parse(raw)?.protocol ?? '');
  if (!isPage) throw new Error('must be an http or https URL that contains {id}');
  return raw;
}
